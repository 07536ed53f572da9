"""What the loop needs to know about each language: one module per language."""
