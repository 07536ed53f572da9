"""Finding what must not leave: values that are secrets by their own look, by their place, or by a `.env` file.

It never learns what is done about them, and nothing in it shows a value in a message, an error or a repr.
"""
