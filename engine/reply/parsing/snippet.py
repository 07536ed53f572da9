"""A piece of code in its language: whether it parses on its own, and which units it defines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from stet_ls.engine.reply.languages.language_table import HOST, for_language
from stet_ls.validators.parsing.grammars import NoGrammarError
from stet_ls.validators.parsing.parse import DeadlineError, parse
from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure import Unit, units

State = Literal["ok", "broken", "unknown"]

_DEEPEST = 500
"""The most levels of nesting of code that is read: a query's time grows with the depth, and it cannot be aborted."""
_CODE_MARK = re.compile(r"[(){}\[\]=;<>@#$]|:\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Snippet:
    """Code of a reply. The positions of `units` are those in `text`, without the class that was added around it."""

    text: str
    language: str

    @cached_property
    def source(self) -> Source:
        """The text as a source."""
        return Source(self.text)

    @cached_property
    def state(self) -> State:
        """The state: ok, broken, or unknown if there is no parser."""
        return self._read[0]

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """The units in document order, including nested ones."""
        return self._read[1]

    @cached_property
    def top_units(self) -> tuple[Unit, ...]:
        """The units that no other unit holds."""
        tops: list[Unit] = []
        for unit in self.units:
            if not tops or not tops[-1].span.contains(unit.span):
                tops.append(unit)
        return tuple(tops)

    @cached_property
    def is_prose(self) -> bool:
        """True for words in place of code: a copied placeholder, a refusal in a fence."""
        return (
            not for_language(self.language).plain_words and self.state == "broken" and not _CODE_MARK.search(self.text)
        )

    def defines(self, symbol: str) -> bool:
        """True if a unit of this (possibly qualified) name is defined here; without a parser, if the name occurs."""
        name = last_name(symbol)
        if any(unit.name == name for unit in self.units):
            return True
        if self.state == "ok" and self.units:
            return False
        return self.state != "ok" and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", self.text) is not None

    def text_of(self, span: Span) -> str:
        """The text of a span."""
        return self.source.slice(span)

    @cached_property
    def _read(self) -> tuple[State, tuple[Unit, ...]]:
        best: tuple[State, tuple[Unit, ...]] = ("unknown", ())
        row = for_language(self.language)
        for before, after in (("", ""),) if row.opening and row.opening in self.text else row.frames:
            source = Source(before + self.text + after)
            try:
                parsed = parse(source, self.language)
            except (NoGrammarError, DeadlineError):
                break
            if _is_too_deep(parsed):
                return "broken", ()
            broken = parsed.root.has_error
            found = _moved(units(source, self.language), len(before), len(self.source.data))
            if not broken:
                return "ok", found
            if best[0] == "unknown" or len(found) > len(best[1]):
                best = ("broken", found)
        return best


def last_name(symbol: str) -> str:
    """The last part of a qualified name."""
    return re.split(r"\.|::|#", symbol)[-1]


def _is_too_deep(parsed: Parsed) -> bool:
    cursor = parsed.tree.walk()
    while cursor.depth < _DEEPEST:
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return False
    return True


def _moved(found: tuple[Unit, ...], by: int, length: int) -> tuple[Unit, ...]:
    """The units of the framed text, at their positions in the text itself; the frame's own class is left out."""
    if not by:
        return found
    moved = []
    for unit in found:
        if unit.span.start < by or unit.span.end > by + length:
            continue
        body = None if unit.body is None else Span(unit.body.start - by, unit.body.end - by)
        name = unit.qualified.removeprefix(f"{HOST}.").removeprefix(f"{HOST}::")
        span = Span(unit.span.start - by, unit.span.end - by)
        moved.append(Unit(unit.kind, unit.name, name, span, body, unit.signature, unit.doc))
    return tuple(moved)
