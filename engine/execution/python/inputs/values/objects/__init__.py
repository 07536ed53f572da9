"""Objects for parameters: chains and trees of them, and those that a class is given and calls."""
