"""Recognizes two texts of a Python function as the same code in another form.

`canonical.py` writes a function in one form; each rule keeps what the function does for all inputs. It knows no judge,
and runs nothing.
"""
