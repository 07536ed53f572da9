"""Files placed into the sandbox: they import nothing but the standard library of Python 3.8 and later."""
