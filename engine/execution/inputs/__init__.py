"""What inputs for Python and JavaScript share: sources, rows of arguments, mutations, repeats, coverage-guided changes.

Inputs are made without importing or evaluating any user code.
"""
