"""Judges that read the old and the new text, and run nothing of it."""
