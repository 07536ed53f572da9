"""Remembered solutions: stored by a separate process, found by what they are for.

The journal is the truth; the table beside it can be made from it at any time. `memory_client` is the side of those who
ask; `store/` and all that it loads (the table, the vectors, the embedder) live in the worker process and nowhere else.
This room knows no model, no sandbox and no editor.
"""
