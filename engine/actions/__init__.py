"""One file per action: what it asks for, who judges it, and how its answer is put together.

This room never talks to an endpoint itself and never writes a file: it proposes.
"""
