"""The bundled model: its weights, where they come from, and the process that serves it."""
