"""Programs that run inside a sandbox."""
