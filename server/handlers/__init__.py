"""Request handlers: one file for each family of requests."""
