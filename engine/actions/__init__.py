"""One file per action: what it asks for, which judges check it, and how its answer is assembled.

This package never talks to an endpoint itself and never writes a file: it proposes.
"""
