"""Does the new code behave as the old one? Both are run on the same inputs, and what they do is compared."""
