"""Text -> findings, for every language: positions, grammars, structure, syntax results, linters.

This package does not know models, the network, the protocol or the engine. Broken code is a value here, never an
exception.
"""
