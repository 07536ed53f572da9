"""Values for parameters of JavaScript: their kinds, by types or uses, draws of them, and their source text."""
