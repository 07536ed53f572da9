"""Builds prompts: the target, the instruction, the context around it, and the order and form of the prompt.

This package reads the request and the project's files. It never runs anything, never talks to a model, and never
presents text of a document as an instruction. Secrets are replaced in everything it returns.
"""
