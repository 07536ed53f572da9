"""Linters that build or run a project's code, and so run in the sandbox: their findings count as a linter's."""
