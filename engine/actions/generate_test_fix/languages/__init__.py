"""What the loop needs to know of each language: one module a language."""
