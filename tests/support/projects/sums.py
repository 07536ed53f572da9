"""A sum with a misspelled name, and the reply that fixes it."""

from __future__ import annotations

BROKEN = '''\
def total(items):
    """The sum."""
    result = 0
    for item in items:
        result += item
    return resutl
'''
FIXED = BROKEN.replace("resutl", "result")


def reply(code: str) -> str:
    return f"PLAN: the name is misspelt\nCODE:\n```python\n{code}```\n"
