"""What tests that Stet wrote need to know of each language: a table, and one module per language with code."""
