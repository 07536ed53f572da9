"""Stet's files: paths, private files, locks."""
