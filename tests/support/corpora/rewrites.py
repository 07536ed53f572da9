"""Rewrites of functions and classes, right ones and subtly wrong ones: what a refactoring does, and what it breaks.

They stand in text files. A unit begins with `== module unit`: one of the interpreter's own library, read where that is
installed, or, if a text follows, one of that text. Its rewrites are `++` (right), `+?` (right, of which no input can
show all that changed), `--` (wrong) or `-?` (wrong, which no input is known to show), each with the words that it puts
in place of others: old, `=>`, new, and `&&` before the next.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

RIGHT, UNPROVEN, WRONG, UNSEEN = "++", "+?", "--", "-?"
_NATIVE = ("from _bisect import *", "from _heapq import *")
"""Lines that put functions in another language in place of those above them."""


@dataclass(frozen=True)
class Rewrite:
    """A text, the unit of it that was rewritten, and the text after; None if this version's library has other words."""

    kind: str
    name: str
    unit: str
    before: str
    after: str | None


def rewrites(file: Path) -> dict[str, list[Rewrite]]:
    """The rewrites of a file by unit."""
    return dict(_units(file))


def kinds(file: Path, kind: str) -> dict[str, Rewrite]:
    """The rewrites of a file that are right, or wrong, by the names that say what decides."""
    return {each.name: each for _, found in _units(file) for each in found if each.kind == kind}


def _units(file: Path) -> Iterator[tuple[str, list[Rewrite]]]:
    for block in re.split(r"(?m)^== ", file.read_text(encoding="utf-8"))[1:]:
        head, _, rest = block.partition("\n")
        module, unit = head.split()
        own, *parts = re.split(r"(?m)^(\+[+?]|-[-?]) (.*)\n", rest)
        yield f"{module} {unit}", list(_read(own or _of_library(module), unit, parts))


def _of_library(module: str) -> str:
    text = inspect.getsource(importlib.import_module(module))
    for line in _NATIVE:
        text = text.replace(line, "pass")
    return text


def _read(before: str, unit: str, parts: list[str]) -> Iterator[Rewrite]:
    for kind, name, swaps in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        after: str | None = before
        for swap in swaps.split("\n&&\n"):
            old, new = re.split(r"(?m)\n=>(?:\n|\Z)", swap.removesuffix("\n"))
            after = after.replace(old, new) if after and after.count(old) == 1 else None
        yield Rewrite(kind, name, unit, before, after)
