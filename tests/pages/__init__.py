"""The pages of `docs/` that are generated from tables, and the messages that the prose linter reads."""
