"""What never leaves: ignored files, secrets, and the placeholders that stand for them."""
