"""Language support for reading replies: a table, and one module per language with code."""
