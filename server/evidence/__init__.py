"""Evidence for a person: text, files, code lenses, reports."""
