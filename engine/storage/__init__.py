"""Where Stet keeps files: paths, private files, locks."""
