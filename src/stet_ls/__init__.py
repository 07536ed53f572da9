"""Stet: a language server whose AI edits are checked before they are offered."""

__version__ = "0.1.0"
