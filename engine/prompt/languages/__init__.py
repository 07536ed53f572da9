"""Language support for prompts: a table, and one module per language with code."""
