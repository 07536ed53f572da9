"""Judges a change of a project by any author, without a model.

A change becomes two trees, these become pairs of units, and the judges of `engine/judges/` run on each pair. Nothing
of the repository is executed outside of the sandbox, and nothing that was not run counts as `ok`. This package knows
no git command but those that read, no protocol and no command line.
"""
