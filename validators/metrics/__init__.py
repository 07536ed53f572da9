"""Numbers about a text: complexity, style, coverage, repeated and dead code, security. Each says where it comes from.

Pure functions of a text and of files that they are given; a model has no part in any of them.
"""
