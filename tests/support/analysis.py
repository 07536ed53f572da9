"""Reports of analyze, and a code that they are about."""

from __future__ import annotations

from stet_ls.engine.api.answer import CONFIRMED, OPINION, Answer
from stet_ls.validators.findings import Severity

MEANS = """\
import os


def mean(items):
    total = sum(items)
    return total / len(items)


def weigh(a, b):
    if a and b:
        x = 0
    else:
        x = 0
    return eval(x)
"""


def opinions(answer: Answer) -> list[tuple[int, str, Severity]]:
    own = sorted((f for f in answer.findings if f.source in (CONFIRMED, OPINION)), key=lambda f: f.span)
    return [(f.line + 1, f.message, f.severity) for f in own]


def section(answer: Answer, title: str) -> str:
    return answer.markdown.split(f"## {title}\n")[1].split("\n## ")[0]
