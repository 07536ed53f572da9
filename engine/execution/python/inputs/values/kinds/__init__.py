"""Which kind of value a parameter takes, by its name, its uses and its description."""
