"""Language support for generated tests: a table, and one module per language with code."""
