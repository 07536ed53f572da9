"""What a docstring and the names of parameters say of arguments: what is excluded, and what values look like."""
