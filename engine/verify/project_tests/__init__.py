"""The project's tests on both trees: which of them run, what their outcomes say, what they still notice."""
