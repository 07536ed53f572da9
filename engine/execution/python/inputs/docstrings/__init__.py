"""What a docstring says, read without the code below it: types, conditions, and what these exclude."""
