"""Runs a unit of Python on inputs in the sandbox."""
