"""Reads a model's reply: extracts code from replies of any form, then fits it into the document.

This package trusts nothing a reply says about itself: labels, fence tags and line numbers are hints. It never calls a
model, and all code that it returns comes from the reply or the document.
"""
