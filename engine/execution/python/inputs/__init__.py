"""What a unit of Python is called with."""
