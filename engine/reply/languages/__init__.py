"""What reading a reply has to know of each language: a table, and one module per language where there is code."""
