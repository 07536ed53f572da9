"""Evidence for the user: text, files, code lenses, reports."""
