"""The embedded model: its weights, their sources, and the process that serves it."""
