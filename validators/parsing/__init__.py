"""Parsing a text to its tree."""
