"""Is the candidate any change at all, and was a stub filled?"""

from __future__ import annotations

import ast
import asyncio
from difflib import SequenceMatcher

from stet_ls.engine.judges.case import Case
from stet_ls.engine.models import Check, Evidence, Ruling
from stet_ls.validators import structure
from stet_ls.validators.metrics.tokens import tokens
from stet_ls.validators.rewritten import dumped
from stet_ls.validators.source import Source

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_FREE_OF_LAYOUT = frozenset({"javascript", "typescript", "go", "rust", "java", "csharp", "c", "cpp"})
_MOST_PAIRS = 1_000_000
"""Of lines that are compared to be counted: a tenth of a second."""


async def judge(case: Case) -> Evidence:
    """Fails a candidate that changes nothing but white space, or that leaves the stub it should have filled.

    A refactoring that nobody said more about, and any optimization, has to change more than layout and documentation.
    """
    return await asyncio.to_thread(_judge, case)


def _judge(case: Case) -> Evidence:
    old, new = _shape(case.before.text), _shape(case.after.text)
    if old == new:
        return Evidence(Check.NOOP, Ruling.FAIL, "the answer repeats the code unchanged", trusted=True)
    if case.action == "optimize" or (case.action == "refactor" and not case.instructed):
        codes = [_code(source, case.language) for source in (case.before, case.after)]
        if codes[0] is not None and codes[0] == codes[1]:
            detail = "only layout, comments or documentation changed, the code is the same"
            return Evidence(Check.NOOP, Ruling.FAIL, detail, trusted=True)
    if case.action == "generate" and case.unit:
        unit = next((u for u in structure.units(case.after, case.language) if u.qualified == case.unit), None)
        if unit is not None and structure.is_stub(case.after, case.language, unit):
            return Evidence(Check.NOOP, Ruling.FAIL, f"the body of `{case.unit}` is still a stub", trusted=True)
    count = _changed_lines(old, new)
    return Evidence(Check.NOOP, Ruling.PASS, f"{count} line{'' if count == 1 else 's'} changed", trusted=True)


def _code(source: Source, language: str) -> object:
    """What is compared of a text for which layout and comments do not matter; None if nobody can say."""
    if language == "python":
        try:
            tree = ast.parse(source.data)
            for node in ast.walk(tree):
                if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
                    del node.body[0]
            return dumped(tree)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    return tokens(source.data, language).words if language in _FREE_OF_LAYOUT else None


def _shape(text: str) -> list[str]:
    """The text as far as white space at line ends and blank lines do not matter."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def _changed_lines(before: list[str], after: list[str]) -> int:
    """The lines that differ, blank ones aside, of the longer side; of very many, those from the first to the last."""
    head = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if len(old) * len(new) > _MOST_PAIRS:
        return max(len(old), len(new))
    changes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return sum(max(end - start, stop - begin) for tag, start, end, begin, stop in changes if tag != "equal")
