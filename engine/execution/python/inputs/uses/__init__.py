"""How code uses its parameters, as a run with stand-ins shows it and as its text says it."""
