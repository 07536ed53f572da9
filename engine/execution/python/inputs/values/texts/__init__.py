"""Texts that the code takes apart: with its words, of its regular expressions, dates and times."""
