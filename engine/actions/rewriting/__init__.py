"""Shared code of the actions that replace the target."""
