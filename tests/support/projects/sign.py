"""A function that can be said in one line."""

from __future__ import annotations

SIGN = """\
import os


def sign(x):
    $0if x > 0:
        return 1
    return -1


def other():
    return sign(2)
"""
SHORT = "def sign(x):\n    return 1 if x > 0 else -1"
