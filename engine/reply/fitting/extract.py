"""Splits a reply's code into the requested unit, its helpers, and its imports."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from stet_ls.engine.api.request import Target, TargetKind
from stet_ls.engine.reply.languages.language_table import for_language as reply_language
from stet_ls.engine.reply.parsing.snippet import Snippet, last_name
from stet_ls.validators.languages import for_language
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure import Unit, imports, units, widen

_FILE_HEAD = re.compile(r"\A(?:\s*(?:package\s+[\w.]+;?[ \t]*|<\?php[ \t]*|#pragma once[ \t]*|#!.*)(?:\n|\Z))+")
_DEFINE = re.compile(r"\s*#\s*define\s+(\w+)")
_LAST_WORD = re.compile(r"(\w+)\W*$")


@dataclass(frozen=True, slots=True)
class CodeParts:
    """A reply in parts. `sibling_units` goes above the unit, at the unit's indentation; `above` to the top level."""

    code: str
    sibling_units: tuple[str, ...] = ()
    above: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Item:
    """A helper in a reply."""

    name: str
    text: str
    span: Span


def split_code(code: str, *, source: Source, target: Target, language: str) -> CodeParts | str:
    """The parts of `code` for this target, or a sentence that says what is missing."""
    snippet = Snippet(code, language)
    if target.kind is TargetKind.DOCUMENT or not source.text.strip() or snippet.state == "broken":
        return CodeParts(code)
    if target.kind is TargetKind.UNIT and target.name and snippet.units:
        return _unit(snippet, source, target)
    own_imports = any(span.overlaps(target.span) for span in imports(source, language) if not target.span.empty)
    spans = () if own_imports else _imports(snippet)
    rest = _FILE_HEAD.sub("", without(snippet, spans)).strip("\n")
    if target.kind is TargetKind.UNIT and not rest.strip():
        return CodeParts(code)
    return CodeParts(rest, imports=tuple(snippet.text_of(span) for span in spans))


def _unit(snippet: Snippet, source: Source, target: Target) -> CodeParts | str:
    present = units(source, snippet.language)
    unit = _requested_unit(snippet, target, present)
    if unit is None:
        return f'The reply does not define "{target.name}".'
    holder = _holder(snippet, unit)
    known = {one.name for one in present}
    sibling_units = [_item(snippet, one) for one in snippet.units if _holder(snippet, one) == holder] if holder else []
    above = [_item(snippet, one) for one in snippet.top_units if not one.span.overlaps(unit.span)]
    above += _loose(snippet, source)
    new = [item for item in (*sibling_units, *above) if item.name not in known and item.span != unit.span]
    kept = _used(snippet.text_of(unit.span), new)
    around = (one for one in present if one.span.contains(target.span) and one.span != target.span)
    nested = "." in target.name and any(around)
    text = snippet.text_of(unit.span)
    sides = {i.span for i in kept if i in sibling_units or (nested and _is_member(i, text, snippet.language))}
    top = nested or holder is None
    return CodeParts(
        text,
        sibling_units=tuple(i.text for i in kept if i.span in sides or not top),
        above=tuple(i.text for i in kept if i.span not in sides and top),
        imports=tuple(snippet.text_of(span) for span in _imports(snippet)),
    )


def _requested_unit(snippet: Snippet, target: Target, present: tuple[Unit, ...]) -> Unit | None:
    """The unit with the target's name; of several (overloads, a property's two halves) the one in its position."""
    name = last_name(target.name)
    named = [unit for unit in snippet.units if unit.name == name]
    exact = [unit for unit in named if unit.qualified == target.name] or named
    if len(exact) > 1:
        same = [unit for unit in present if unit.qualified == target.name]
        here = next((index for index, unit in enumerate(same) if target.span.contains(unit.span)), 0)
        signature = same[here].signature if same else ""
        alike = [unit for unit in exact if unit.signature == signature]
        return alike[0] if alike else exact[here] if len(exact) == len(same) else exact[-1]
    if exact:
        return exact[0]
    return snippet.top_units[0] if len(snippet.top_units) == 1 else None


def _holder(snippet: Snippet, unit: Unit) -> Unit | None:
    """The unit directly around another."""
    around = [one for one in snippet.units if one.span.contains(unit.span) and one.span != unit.span]
    return min(around, key=lambda one: one.span.end - one.span.start, default=None)


def _is_member(item: _Item, text: str, language: str) -> bool:
    """True if the unit uses the helper through its object, or if the language has functions only in classes."""
    return (
        for_language(language).classes_only
        or re.search(rf"\b(?:self|this|cls|Self)\s*(?:\.|->|::)\s*{item.name}\b", text) is not None
    )


def _item(snippet: Snippet, unit: Unit) -> _Item:
    return _Item(unit.name, snippet.text_of(unit.span), unit.span)


def _loose(snippet: Snippet, source: Source) -> list[_Item]:
    """The top-level statements outside units that assign to a name which the document does not define."""
    covered = _lines_of(snippet, [*_imports(snippet), *(unit.span for unit in snippet.top_units)])
    found: list[_Item] = []
    at = 0
    for line in range(snippet.source.line_count):
        here = snippet.source.line_span(line)
        text = snippet.source.slice(here)
        if here.start < at or not text.strip() or text[0].isspace() or line in covered:
            continue
        span = widen(snippet.source, snippet.language, here)
        at = span.end
        define = _DEFINE.match(text)
        name = define or _LAST_WORD.search(text.partition("=")[0].partition(":")[0] if "=" in text else "")
        if name and not re.search(rf"\b{name[1]}\b", source.text) and covered.isdisjoint(_lines_of(snippet, [span])):
            found.append(_Item(name[1], snippet.text_of(span), span))
    return found


def _lines_of(snippet: Snippet, spans: Iterable[Span]) -> set[int]:
    """The lines that the spans touch: a set, because a reply may hold thousands of units and of statements."""
    line_of = snippet.source.line_of
    return {line for span in spans for line in range(line_of(span.start), line_of(span.end) + 1)}


def _used(text: str, items: list[_Item]) -> list[_Item]:
    """The helpers that the unit needs, directly or indirectly, in the reply's order."""
    kept: list[_Item] = []
    rest = list(items)
    while needed := [item for item in rest if re.search(rf"\b{re.escape(item.name)}\b", text)]:
        kept += needed
        rest = [item for item in rest if item not in needed]
        text = "\n".join(item.text for item in needed)
    return sorted(dict.fromkeys(kept), key=lambda item: item.span)


def _imports(snippet: Snippet) -> tuple[Span, ...]:
    return imports(snippet.source, snippet.language) if reply_language(snippet.language).imports else ()


def without(snippet: Snippet, spans: tuple[Span, ...]) -> str:
    """The code without some statements and the line ends after them."""
    data = snippet.source.data
    pieces, at = [], 0
    for span in spans:
        pieces.append(data[at : span.start])
        at = max(at, span.end)
        while data[at : at + 1] in (b" ", b"\t", b";"):
            at += 1
        at += data[at : at + 1] == b"\n"
    return b"".join([*pieces, data[at:]]).decode("utf-8", "surrogatepass")
