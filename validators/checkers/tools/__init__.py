"""The machine's own tools: one module a tool."""
