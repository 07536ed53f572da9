"""The machine's own tools: one module per tool."""
