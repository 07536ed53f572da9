"""Programs that run inside a box."""
