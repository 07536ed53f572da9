"""The fields of a text for `str.format`."""

from __future__ import annotations

import string
from collections.abc import Iterator
from itertools import count

_PARSER = string.Formatter()


def numbered_fields(text: str) -> str | None:
    """The text with a number in each field, as `format` counts; None if it is not valid, or numbers some itself."""
    try:
        names = list(_names(text))
        if any(not _is_counted(each) for each in names if not each or each[0].isdigit() or each[0] in ".["):
            return None
        return _numbered(text, count())
    except ValueError:
        return None


def _is_counted(name: str) -> bool:
    return not name or name[0] in ".["


def _names(text: str) -> Iterator[str]:
    for _, name, within, _ in _PARSER.parse(text):
        if name is not None:
            yield name
            yield from _names(within or "")


def _numbered(text: str, numbers: Iterator[int]) -> str:
    """A field's own number comes before those of fields in its format."""
    parts = []
    for literal, name, within, conversion in _PARSER.parse(text):
        parts.append(literal.replace("{", "{{").replace("}", "}}"))
        if name is not None:
            field = f"{next(numbers)}{name}" if _is_counted(name) else name
            rest = f"!{conversion}" if conversion else ""
            inner = _numbered(within, numbers) if within else ""
            parts.append(f"{{{field}{rest}{':' + inner if inner else ''}}}")
    return "".join(parts)
