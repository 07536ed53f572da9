"""Shared code of the actions that answer in words."""
