"""Inputs that Python and JavaScript share: what a source of them is, rows of arguments, mutations,
repeated calls, coverage-guided changes.

Inputs are made without importing or evaluating any user code.
"""
