"""Why an input, or a difference on one, says nothing about the new code."""
