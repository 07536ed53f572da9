"""Small edits of a syntax tree, as text: mutants that good tests detect, and repairs that the search tries."""
