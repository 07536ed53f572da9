"""Text -> findings, for every language: positions, grammars, structure, syntax verdicts, linters.

This room never knows a model, a network, the protocol or the engine. Broken code is a value here, never an exception.
"""
