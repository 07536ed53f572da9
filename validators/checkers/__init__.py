"""The machine's own tools: parsers, linters and formatters, one file per kind, and the tables that list them.

They read a buffer from standard input or from a private copy, and run nothing of a project.
"""
