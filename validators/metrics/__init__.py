"""Numbers about a text: complexity, style, coverage, repeated and dead code, security. Each names its source.

Pure functions of a text and of given files; no model is involved.
"""
