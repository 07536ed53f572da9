"""What runs in the box, placed there as files: it imports nothing but the standard library, of Python 3.8 and later."""
