"""Findings as diagnostics, live and from analyze."""
