"""Fits the code of a reply into the document."""
