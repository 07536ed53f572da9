"""The context that a prompt shows in addition to the target."""
