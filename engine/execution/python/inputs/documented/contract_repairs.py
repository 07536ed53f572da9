"""Changes calls so that they keep what a docstring promises of inputs: sorted, unique, of one length."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.mutations import literal, text_of
from stet_ls.engine.execution.inputs.rows import UNSURE
from stet_ls.engine.execution.python.inputs.values.kinds.described_items import is_plural

SHAPED = re.compile(r"(?i)\brectangular\b|\b(one|the same|equal) (length|size)\b|\bequally long\b|\bsquare matrix\b")
_DISTINCT = re.compile(
    r"(?i)\ball (are )?different\b|\bwithout (doubles|duplicates)\b"
    r"|\b(holds?|has|have|contains?|with) no (doubles|duplicates)\b"
)
_SORTED = re.compile(
    r"(?i)\bsorted (lists?|arrays?|sequences?)\b"
    r"|(?<!result )\b(is|are) (already |always )?(sorted|in ascending order)\b(?! (by|in desc|desc))"
)
_UNIQUE = re.compile(
    r"(?i)\b(\w+?)s (?:(?:are|is) (?:all )?(?:unique|distinct|different)|(?:of \w+ )?differ)\b"
    r"|\bno (\w+) is \w+ twice\b"
)
"""`Ids are unique`, `ids of customers differ`: no two items have the same one."""
GROWN = re.compile(r" \* \d+\)\[:(\d+)\]$", re.MULTILINE)
"""An argument that was only made longer."""
CLOSED = re.compile(
    r"(?i)\b(?:every\w*|all|each)\b[^.;]*\b(?:is|are) (?:an? |also an? )?\w+ (?:itself|themselves|too|as well)\b"
)
"""`Everything needed is a target itself`: what the values of a dictionary name are its keys."""


def changes_for(docs: str) -> list[Callable[[Any], Any]]:
    """The changes that values need to keep what the conditions of a docstring promise."""
    changes = [change for words, change in _REPAIRS if words.search(docs)]
    changes += [_unique_pairs] * (_UNIQUE_IDS.search(docs) is not None)
    return changes + [_unique_by((each[1] or each[2]).lower()) for each in _UNIQUE.finditer(docs)]


def repaired(call: Call, changes: Sequence[Callable[[Any], Any]]) -> Call:
    """The call with its lists changed as the docstring requires: sorted, without duplicates, of one length."""
    if not changes:
        return call
    # Where a list is described, a text among guesses takes its place.
    is_guess, has_list = call.origin in UNSURE, any(" = [" in line for line in call.setup.splitlines())
    is_listed = sorted in changes or _without_doubles in changes
    made = {}
    for name, text in call.bindings().items():
        value = literal(text)
        if (grown := GROWN.search(text)) and text.startswith("(["):
            made[name] = _ordered(text, grown[1], changes)
        elif isinstance(value, list) or (isinstance(value, dict) and _closed in changes):
            new = value
            with suppress(TypeError):
                for change in changes:
                    new = change(new)
            made |= {} if new == value else {name: text_of(new)}
        elif isinstance(value, str) and is_guess and (is_plural(name) or not has_list) and is_listed:
            value = "".join(dict.fromkeys(value)) if _without_doubles in changes else value
            made[name] = repr("".join(sorted(value)) if sorted in changes else value)
    return call.with_bindings(made)


def _ordered(text: str, size: str, changes: Sequence[Callable[[Any], Any]]) -> str:
    """A list that was made longer by repeating it, as the docstring requires."""
    if _without_doubles in changes:
        return f"list(range({size}))"
    if _unique_pairs in changes and text.startswith("([("):
        return f"[(n, *each[1:]) for n, each in enumerate({text})]"
    return f"sorted({text})" if sorted in changes else text


def _without_doubles(value: list[Any]) -> list[Any]:
    return [each for at, each in enumerate(value) if each not in value[:at]]


def _unique_by(word: str) -> Callable[[Any], Any]:
    """Drops the dictionaries of a list whose value for a key, or for one that ends in it, an earlier one has."""

    def change(value: Any) -> Any:
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            return value
        found: dict[str, Any] = {}
        for each in value:
            key = next((key for key in each if isinstance(key, str) and key.lower().endswith(word)), None)
            found.setdefault(repr(each.get(key)), each)
        return list(found.values())

    return change


_UNIQUE_IDS = re.compile(r"(?i)\b(?:ids|keys|names|identifiers|numbers|codes) are unique\b")


def _unique_pairs(value: Any) -> Any:
    """Drops the tuples of a list whose first part an earlier one has: ids come first."""
    if not isinstance(value, list) or not all(isinstance(each, tuple) and each for each in value):
        return value
    found: dict[str, Any] = {}
    for each in value:
        found.setdefault(repr(each[0]), each)
    return list(found.values())


def _closed(value: Any) -> Any:
    """A dictionary whose lists hold keys of it alone; anything else as it is."""
    if not isinstance(value, dict):
        return value
    keys = list(value)

    def key_for(item: Any) -> Any:
        return item if item in value else keys[sum(map(ord, str(item))) % len(keys)]

    return {key: list(map(key_for, items)) if isinstance(items, list) else items for key, items in value.items()}


def _evened(rows: list[Any]) -> list[Any]:
    """Rows of the length of the first one."""
    if not all(isinstance(row, list) for row in rows) or not rows:
        return rows
    return [[*row, *rows[0]][: len(rows[0])] for row in rows]


def _squared(rows: list[Any]) -> list[Any]:
    """As many columns as rows."""
    if not all(isinstance(row, list) for row in rows):
        return rows
    return [[*row, *range(len(rows))][: len(rows)] for row in rows]


_REPAIRS: tuple[tuple[re.Pattern[str], Callable[[Any], Any]], ...] = (
    (_DISTINCT, _without_doubles),
    (_SORTED, sorted),
    (CLOSED, _closed),
    (re.compile(r"(?i)\b(the same|equal) length\b|\bequally long\b|\brectangular\b"), _evened),
    (re.compile(r"(?i)\bsquare matrix\b"), _squared),
)
