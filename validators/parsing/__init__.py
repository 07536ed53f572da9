"""From a text to its tree."""
