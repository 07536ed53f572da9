"""Inputs that a docstring excludes in words: violations show nothing about the code.

`The median of at least one number` is not called with none. Code that raises on purpose, or asserts, defines itself
what happens to such inputs; then they count.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.mutations import literal, text_of
from stet_ls.engine.execution.python.inputs.subject import known_module, subject_of

Breaks = Callable[[list[Any]], bool]
"""Whether the values of one call violate such words."""


def _numbers(values: list[Any]) -> Iterator[float]:
    for value in values:
        if isinstance(value, int | float):
            yield value
        elif isinstance(value, list | tuple):
            yield from _numbers(list(value))


def _groups(values: list[Any]) -> list[Any]:
    return [each for each in values if isinstance(each, list | tuple | str | dict | set)]


def _is_no_square(value: Any) -> bool:
    return isinstance(value, list) and any(not hasattr(row, "__len__") or len(row) != len(value) for row in value)


_WORDS: tuple[tuple[str, Breaks], ...] = (
    (r"at least (one|1|two|three)|there (is|are) (always )?at least|(is|are|be) not empty|non-?empty",
     lambda values: any(not each for each in _groups(values))),
    (r"(is|are|be) not negative|non-?negative", lambda values: any(each < 0 for each in _numbers(values))),
    (r"\bpositive\b", lambda values: any(each <= 0 for each in _numbers(values))),
    (r"(is|are|be) not zero|non-?zero", lambda values: any(each == 0 for each in _numbers(values))),
    (r"(of|have) (one|the same|equal) (length|size)|equally long",
     lambda values: len({len(each) for each in _groups(values)}) > 1 or any(map(_is_ragged, values))),
    (r"\bsquare matrix\b", lambda values: any(map(_is_no_square, values))),
    (r"none of (them|which) (is )?empty", lambda values: any("" in each for each in values if isinstance(each, list))),
)  # fmt: skip


_DECIDES = re.compile(
    r"(?i)\b(whether|if|true|false|checks?|tests?|verif(y|ies)|counts?|keeps?|filters?|removes?|drops?|selects?|finds?)\b"
    r"|^(returns? |gets? )?the (non-?negative|positive|non-?empty|non-?zero)\b|\?$"
)
"""A sentence with such a word says what the code decides or selects by."""
_SHAPED = re.compile(r"(?i)\b(one|the same|equal) (length|size)\b|\bequally long\b|\bsquare matrix\b")
_GROWN = re.compile(r" \* \d+\)\[:\d+\]$", re.MULTILINE)
"""An argument that was only made longer."""
_DISTINCT = re.compile(r"(?i)\ball (are )?different\b|\bwithout (doubles|duplicates)\b")
_SORTED = re.compile(r"(?i)\bsorted (list|array|sequence)\b")


def _is_ragged(value: Any) -> bool:
    return isinstance(value, list | tuple) and len({len(each) for each in value if isinstance(each, list | tuple)}) > 1


def within_contract(calls: tuple[Call, ...], text: str, unit: str) -> tuple[Call, ...]:
    """The calls of a unit without those that its docstring excludes; examples always stay."""
    module = known_module(text)
    subject = subject_of(module, unit) if module else None
    if subject is None or any(isinstance(each, ast.Raise | ast.Assert) for each in ast.walk(subject.node)):
        return calls
    told = conditions((ast.get_docstring(subject.node) or "").partition(">>>")[0])
    broken = exclusions(told)
    kept = [each for each in calls if each.origin == "example" or not _breaks(each, broken)]
    if _SHAPED.search(told):
        kept = [each for each in kept if not _GROWN.search(each.setup)]
    if not (_SORTED.search(told) or _DISTINCT.search(told)):
        return tuple(kept)
    return tuple(dict.fromkeys(each if each.origin == "example" else _in_order(each, told) for each in kept))


def exclusions(told: str) -> list[Breaks]:
    """What violates the conditions that a text states."""
    return [breaks for words, breaks in _WORDS if re.search(words, told, re.IGNORECASE)]


def conditions(docstring: str) -> str:
    """The sentences of a docstring that may state what callers guarantee.

    "Whether both have the same length" is what the code finds out, not what it is called with.
    """
    sentences = re.split(r"(?<=[.;!?])\s+", " ".join(docstring.split()))
    return " ".join(each for each in sentences if not _DECIDES.search(each))


def _in_order(call: Call, told: str) -> Call:
    """The call with its lists sorted, or without duplicates, as the docstring requires."""
    return replace(call, setup="\n".join(_line_in_order(line, call, told) for line in call.setup.splitlines()))


def _line_in_order(line: str, call: Call, told: str) -> str:
    name, _, text = line.partition(" = ")
    value = literal(text) if name in call.names else None
    if isinstance(value, list):
        with suppress(TypeError):
            value = list(dict.fromkeys(value)) if _DISTINCT.search(told) else value
            return f"{name} = {text_of(sorted(value) if _SORTED.search(told) else value)}"
    return line


def _breaks(call: Call, broken: list[Breaks]) -> bool:
    lines = (line.partition(" = ") for line in call.setup.splitlines())
    values = [value for name, _, text in lines if name in call.names and (value := literal(text)) is not None]
    return any(breaks(values) for breaks in broken)
