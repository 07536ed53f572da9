"""Adds new code to existing code: new definitions are inserted, repeated ones are kept or replaced in their place.

A model that is asked for one more function replies with it alone, with it and other changed code, with the class
around it, or with the whole file. In each case nothing that exists is removed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from stet_ls.engine.api.request import Target, TargetKind
from stet_ls.engine.reply.fitting.extract import without
from stet_ls.engine.reply.fitting.fit import Fitted, fit_code
from stet_ls.engine.reply.fitting.imports import merge_imports
from stet_ls.engine.reply.fitting.keep_comments import keep_comments
from stet_ls.engine.reply.fitting.keep_documentation import keep_documentation
from stet_ls.engine.reply.fitting.spacing import line_end_at, lines_of
from stet_ls.engine.reply.indent import margin_of
from stet_ls.engine.reply.languages.language_table import for_language as reply_language
from stet_ls.engine.reply.parsing.snippet import Snippet
from stet_ls.validators.languages import for_language
from stet_ls.validators.source import Source, Span, Splice
from stet_ls.validators.structure import Symbol, Unit, imports, outline, units
from stet_ls.validators.structure.member_locations import below, member_end

_SELF = re.compile(r"\(\s*(?:self|cls|&(?:'\w+ )?(?:mut )?self|mut self)\b")
_METHOD_MARKS = re.compile(
    r"^\s*@(?:static|class)method\b|^\s*@(?:cached_)?property\b|^\s*@\w+\.setter\b", re.MULTILINE
)
_SORT = re.compile(r"\b(struct|enum|union|trait|impl|interface|record|class|fn|func|def|type)\b")
PARTLY = 'The reply contains only a part of "{}".'


@dataclass
class _Merged:
    """A reply's definitions, sorted: spans of the document with their new text, and code to be inserted."""

    replaced: list[tuple[Unit, str]] = field(default_factory=list)
    members: list[tuple[Unit, str]] = field(default_factory=list)
    known: list[Span] = field(default_factory=list)
    splices: list[Splice] = field(default_factory=list)
    problem: str = ""


def add_code(
    code: str,
    *,
    source: Source,
    target: Target,
    language: str,
    replaces: Span | None = None,
    released: Callable[[str], bool] = lambda name: False,
) -> Fitted:
    """The edit that adds code. It replaces the target only if nothing is lost that `released` does not permit."""
    snippet = Snippet(code.strip("\n"), language)
    if _is_kept(source, target, snippet, released):
        return fit_code(code, source=source, target=target, language=language, replaces=replaces)
    if _holds_all(source, snippet):
        whole = Target(TargetKind.DOCUMENT, source.whole)
        return fit_code(code, source=source, target=whole, language=language)
    if snippet.state != "ok" or not snippet.units:
        return fit_code(code, source=source, target=_place(source, target), language=language, replaces=replaces)
    merged = _merge(snippet, source, language)
    if merged.problem:
        return Fitted(problem=merged.problem)
    return _fitted(snippet, merged, source, _place(source, target), language, replaces)


def _is_kept(source: Source, target: Target, snippet: Snippet, released: Callable[[str], bool]) -> bool:
    """Whether the code may replace the target: it has the target's definitions, or they are unknown."""
    if target.kind is TargetKind.INSERTION:
        return not source.text.strip()
    if snippet.state == "broken":
        return True  # the syntax judge reports it
    if target.kind is TargetKind.UNIT and target.name:
        return snippet.defines(target.name) or released(target.name) or not snippet.units
    own = {symbol.name for symbol in _tops(outline(source, snippet.language)) if target.span.contains(symbol.span)}
    given = {symbol.name for symbol in outline(snippet.source, snippet.language)}
    missing = {name for name in own if name not in given and not released(name)}
    return not missing or not own & given


def _tops(symbols: tuple[Symbol, ...]) -> Iterator[Symbol]:
    return (symbol for symbol in symbols if "." not in symbol.qualified)


def _holds_all(source: Source, snippet: Snippet) -> bool:
    """True if the code is the whole document with added lines only, in any language."""
    lines = [line.strip() for line in source.text.splitlines() if line.strip()]
    given = iter([line.strip() for line in snippet.text.splitlines() if line.strip()])
    return len(lines) > 1 and all(line in given for line in lines)


def _place(source: Source, target: Target) -> Target:
    """The position for new code: the insertion itself, else below the target, which is not replaced."""
    if target.kind is TargetKind.INSERTION:
        return target
    at = source.line_span(source.line_of(target.span.end) + 1).start
    return Target(TargetKind.INSERTION, Span(at, at), indent=target.indent, selection=target.selection)


def _merge(snippet: Snippet, source: Source, language: str) -> _Merged:
    merged = _Merged()
    present = units(source, language)
    for unit in snippet.top_units:
        old = _same(unit, snippet.units, present, language)
        if old is None:
            continue
        merged.known.append(unit.span)
        if unit.kind == "class" and old.kind == "class":
            _merge_class(merged, snippet, unit, source, old, present)
        elif _words(snippet.text_of(unit.span)) != _words(source.slice(old.span)):
            merged.replaced.append((old, snippet.text_of(unit.span)))
    _merge_values(merged, snippet, source, language)
    return merged


def _same(unit: Unit, given: tuple[Unit, ...], present: tuple[Unit, ...], language: str) -> Unit | None:
    """The unit of the document that a unit of the reply replaces."""
    known = [one for one in present if one.qualified == unit.qualified and _sort(one) == _sort(unit)]
    alike = [one for one in known if _words(one.signature) == _words(unit.signature)]
    if alike:
        return alike[0]
    twins = sum(one.qualified == unit.qualified for one in given)
    if len(known) != 1 or twins > 1 or _sort(unit) == "impl":
        return None
    return None if for_language(language).overloads and unit.kind != "class" else known[0]


def _sort(unit: Unit) -> str:
    """The keyword of a definition, which distinguishes `struct A` from `impl A`."""
    word = _SORT.search(unit.signature)
    return "function" if unit.kind != "class" else "class" if word is None else word[1]


def _merge_class(
    merged: _Merged, snippet: Snippet, unit: Unit, source: Source, old: Unit, present: tuple[Unit, ...]
) -> None:
    """Replaces a class of the document if the reply's has all its members, else merges the members one by one."""
    if _words(snippet.text_of(unit.span)) == _words(source.slice(old.span)):
        return
    own = {one.name for one in _members(old, outline(source, snippet.language))}
    given = {one.name for one in _members(unit, outline(snippet.source, snippet.language))}
    if own <= given:
        merged.replaced.append((old, snippet.text_of(unit.span)))
        return
    rest = snippet.text_of(unit.span)
    for member in (one for one in snippet.units if _is_member_of(one, unit)):
        text = snippet.text_of(member.span)
        rest = rest.replace(text, "")
        same = [one for one in present if old.span.contains(one.span) and one.span != old.span]
        there = _same(member, snippet.units, tuple(same), snippet.language)
        if there is None:
            merged.members.append((old, text))
        elif _words(text) != _words(source.slice(there.span)):
            merged.replaced.append((there, text))
    lines = {line.strip() for line in source.slice(old.span).splitlines()}
    header = {line.strip() for line in unit.signature.splitlines()}
    unexplained = [line for line in rest.splitlines() if line.strip() and line.strip() not in lines | header]
    if [line for line in unexplained if not re.fullmatch(r"[\s{};.]*|.*\bclass\b.*|\s*(?:#|//|\.\.\.|/?\*).*", line)]:
        merged.problem = PARTLY.format(old.name)


def _members(unit: Unit, symbols: tuple[Symbol, ...]) -> list[Symbol]:
    return [
        one for one in symbols if one.qualified.rpartition(".")[0] == unit.qualified and unit.span.contains(one.span)
    ]


def _is_member_of(one: Unit, holder: Unit) -> bool:
    return one.qualified == f"{holder.qualified}.{one.name}" and holder.span.contains(one.span) and one != holder


def _merge_values(merged: _Merged, snippet: Snippet, source: Source, language: str) -> None:
    """Merges top-level statements that the document has too; those with another value for a known name replace it."""
    present = {
        symbol.name: symbol for symbol in _tops(outline(source, language)) if symbol.kind in ("variable", "constant")
    }
    data = snippet.source.data
    for symbol in _tops(outline(snippet.source, language)):
        old = present.get(symbol.name)
        if old is None or symbol.kind not in ("variable", "constant"):
            continue
        merged.known.append(symbol.span)
        text = data[symbol.span.start : symbol.span.end].decode("utf-8", "surrogatepass")
        if _words(text) != _words(source.slice(old.span)):
            merged.splices.append(Splice(old.span, text))
    lines = {line.strip() for line in source.text.split("\n")}
    taken = [*merged.known, *(unit.span for unit in snippet.top_units)]
    for number in range(snippet.source.line_count):
        span = snippet.source.line_span(number)
        text = snippet.source.slice(span)
        if text.strip() and text.strip() in lines and not any(each.overlaps(span) for each in taken):
            merged.known.append(span)


def _fitted(
    snippet: Snippet, merged: _Merged, source: Source, target: Target, language: str, replaces: Span | None
) -> Fitted:
    spans = imports(snippet.source, language) if reply_language(language).imports else ()
    rest = without(snippet, tuple(sorted([*merged.known, *spans])))
    pieces: list[tuple[str, Target, Span | None]] = [
        (text, Target(TargetKind.UNIT, old.span, old.qualified, margin_of(source.slice(old.span))), None)
        for old, text in merged.replaced
    ]
    pieces += [(text, _member_target(source, old, language), None) for old, text in merged.members]
    if rest.strip():
        place = _settled(source, target, Snippet(rest, language))
        pieces.append((rest, place, replaces if place == target else None))
    splices, codes = [*merged.splices], []
    for text, place, comment in pieces:
        code = keep_documentation(text, source=source, target=place, language=language)
        code = keep_comments(code, source.slice(place.span), language)
        made = fit_code(code, source=source, target=place, language=language, replaces=comment)
        if made.problem is not None:
            return made
        splices += made.splices
        codes.append(made.code)
    if replaces is not None and not any(comment for _, _, comment in pieces):
        hole = lines_of(source, replaces)
        if not any(each.span.overlaps(hole) for each in splices):
            splices.append(Splice(hole, ""))
    first = min([target.span.start, *(place.span.start for _, place, _ in pieces)])
    statements = tuple(snippet.text_of(span) for span in spans)
    splices += merge_imports(
        statements, snippet.text, source=source, language=language, before=first, end=line_end_at(source, target.span)
    )
    texts: dict[Span, str] = {}  # insertions at one offset are combined: splices must not share an offset
    for splice in splices:
        texts[splice.span] = texts.get(splice.span, "") + splice.text
    return Fitted(tuple(Splice(span, texts[span]) for span in sorted(texts)), "\n\n".join(codes))


def _settled(source: Source, target: Target, rest: Snippet) -> Target:
    """The position for new definitions: members stay in the class around the target, others go outside of it."""
    language = rest.language
    tops = [unit for unit in units(source, language) if "." not in unit.qualified]
    around = [unit for unit in tops if unit.span.start < target.span.start <= below(source, unit)]
    if not rest.top_units:
        return target
    member = all(_is_member(unit, rest) for unit in rest.top_units)
    if target.indent and around and not member:
        outer = around[0]
        at = below(source, outer)
        return Target(TargetKind.INSERTION, Span(at, at), indent=margin_of(source.slice(outer.span)))
    classes = [unit for unit in tops if unit.kind == "class" and unit.body is not None]
    needs_class = for_language(language).classes_only or rest.top_units[0].kind == "method"
    if member and needs_class and not target.indent and classes:
        return _member_target(source, classes[-1], language)
    return target


def _is_member(unit: Unit, rest: Snippet) -> bool:
    if unit.kind == "class":
        return False
    text = rest.text_of(unit.span)
    marked = _SELF.search(unit.signature) or _METHOD_MARKS.search(text) or "Self" in unit.signature.split("->")[-1]
    return unit.kind == "method" or for_language(rest.language).overloads or bool(marked)


def _member_target(source: Source, unit: Unit, language: str) -> Target:
    at, indent = member_end(source, language, unit)
    return Target(TargetKind.INSERTION, Span(at, at), indent=indent)


def _words(text: str) -> list[str]:
    return text.split()
