"""What is sent to a model: the target, the instruction, the context around it, and the order and form of the prompt.

This room reads the request and the project's files. It never runs anything, never talks to a model, and lets no text
of a document pass for an instruction. Whatever leaves it has had its secrets replaced.
"""
