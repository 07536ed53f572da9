"""What a prompt has to know of each language: a table, and one module per language where there is code."""
