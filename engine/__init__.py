"""Turns a Request into an Answer. Knows no editor and no protocol: every position is a byte offset."""
