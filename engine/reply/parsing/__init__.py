"""Gets the code out of any reply."""
