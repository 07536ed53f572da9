"""Data that never leaves the machine: ignored files, secrets, and the placeholders that replace them."""
