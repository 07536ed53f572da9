"""Finds values that must not leave the machine: secrets by their form, by their place, or by a `.env` file.

It does not decide what to do about them, and never shows a value in a message, an error or a repr.
"""
