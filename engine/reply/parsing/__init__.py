"""Extracts the code from any reply."""
