"""The one edit that every editor's tests make: a function, the reply of a model, and what it becomes."""

from __future__ import annotations

BEFORE = """\
def sign(x):
    if x > 0:
        return 1
    elif x < 0:
        return -1
    else:
        return 0
"""
AFTER = """\
def sign(x):
    return (x > 0) - (x < 0)
"""
REPLY = f"PLAN: compare once.\nCODE:\n```python\n{AFTER}```\n"
