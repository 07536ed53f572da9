"""`stet plan` and `stet tasks`."""
