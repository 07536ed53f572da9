"""Gathers the context around the target, in reading order, each piece with its priority."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from stet_ls.engine.api.request import Request, Target, TargetKind
from stet_ls.engine.prompt.code_view import CodeView, view
from stet_ls.engine.prompt.context.cross_file import cross_file_items, pieces_of, with_comment
from stet_ls.engine.prompt.context.diagnostics import problems
from stet_ls.engine.prompt.context_items import ContextItem, Priority, RememberedItem
from stet_ls.engine.workspace.symbol_index import SymbolIndex
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure import Unit, calls, imports, units
from stet_ls.validators.structure.member_locations import indent_at

_LINES_BEFORE, _LINES_AFTER = 15, 8
_MOST_CALLEES, _MOST_CALLERS, _MOST_SIBLINGS = 8, 2, 20
_OTHERS = "Other code of the file:"
_CONSTRUCTORS = frozenset({"__init__", "constructor", "initialize", "new"})


@dataclass(frozen=True, slots=True)
class Gathered:
    """The pieces in reading order. `gaps` lists what could not be looked up."""

    pieces: tuple[ContextItem, ...]
    gaps: tuple[str, ...] = ()


def gather_context(
    request: Request,
    target: Target,
    shown: CodeView,
    *,
    hidden: tuple[Span, ...] = (),
    index: SymbolIndex | None = None,
    remembered: tuple[RememberedItem, ...] = (),
) -> Gathered:
    """All context for `target`, shown as `shown`, without `hidden` spans; what changes least comes first."""
    source = request.source
    pieces: list[ContextItem] = []
    gaps: tuple[str, ...] = ()
    known = units(source, request.language)
    if target.kind is not TargetKind.DOCUMENT:
        pieces += _imports(source, request.language, target)
        pieces += _around(request, target, known, hidden)
        pieces += _definitions(request, target, known)
    if index is not None:
        own = frozenset(one.name for one in known if "." not in one.qualified)
        used = cross_file_items(request, _near(request, target), _called(request, target, known), own, index)
        pieces += [piece for one in used.definitions for piece in pieces_of(one, request)]
        gaps = used.gaps
    pieces += [
        ContextItem(
            Priority.REMEMBERED,
            f"a remembered solution ({one.provenance})",
            f"It was solved like this before, {one.provenance}:",
            one.text,
            remembered=one,
        )
        for one in remembered
    ]
    pieces += [
        ContextItem(Priority.GIVEN, f"context {key!r}", f"Given by the user, {key}:", value, code=False)
        for key, value in request.context.items()
    ]
    pieces += problems(request, target, shown)
    return Gathered(tuple(piece for piece in pieces if piece.text.strip()), gaps)


def _near(request: Request, target: Target) -> str:
    """The text whose names may be explained: the target's, or the lines above the position of an insertion."""
    return request.source.slice(target.span) or request.source.slice(_above(request.source, target))


def _called(request: Request, target: Target, known: tuple[Unit, ...]) -> list[str]:
    """The names that the target calls: of a unit by its syntax tree, else the words before a bracket."""
    unit = next((one for one in known if target.span.contains(one.span) and one.qualified == target.name), None)
    if unit is not None:
        return list(calls(request.source, request.language, unit))
    return re.findall(r"[\w$]+(?=\s*\()", f"{_near(request, target)} {request.instruction}")


def _imports(source: Source, language_id: str, target: Target) -> Iterator[ContextItem]:
    spans = [span for span in imports(source, language_id) if not span.overlaps(target.span)]
    text = "\n".join(_plain(source.slice(span)) for span in spans)
    yield ContextItem(Priority.FRAME, "imports", "The file already has these imports:", text)


def _around(
    request: Request, target: Target, known: tuple[Unit, ...], hidden: tuple[Span, ...]
) -> Iterator[ContextItem]:
    """The class around a method; the lines around a target that is no unit."""
    source = request.source
    holders = [unit for unit in known if unit.span.contains(target.span) and unit.span != target.span]
    if target.kind is TargetKind.UNIT:
        if holder := next((unit for unit in reversed(holders) if unit.kind == "class"), None):
            head = _head(source, holder, known, target)
            yield ContextItem(Priority.FRAME, f"the head of {holder.name}", "It is a member of:", head)
        return
    for name, span in (("above", _above(source, target)), ("below", _below(source, target))):
        text = view(source, span, request.language, hidden=hidden).text.strip("\n")
        yield ContextItem(Priority.FRAME, f"the lines {name}", f"Lines {name} the place:", text)


def _above(source: Source, target: Target) -> Span:
    """The lines before a target; an empty span at the start of the text."""
    first = source.line_of(target.span.start)
    return Span(source.starts[max(0, first - _LINES_BEFORE)], max(target.span.start - 1, 0) if first else 0)


def _below(source: Source, target: Target) -> Span:
    last = source.line_of(target.span.end)
    start = target.span.start if target.span.empty else source.line_span(last + 1).start
    return Span(start, max(start, source.line_span(last + _LINES_AFTER).end))


def _head(source: Source, holder: Unit, known: tuple[Unit, ...], target: Target) -> str:
    """A class without its methods' bodies: the text before the first method, and the other methods' signatures."""
    members = [
        unit for unit in known if unit.span != holder.span and holder.span.contains(unit.span)
        and unit.qualified.count(".") == holder.qualified.count(".") + 1
    ]  # fmt: skip
    end = min((unit.span.start for unit in members), default=holder.span.end)
    head = _plain(source.slice(Span(holder.span.start, max(end, holder.span.start)))).rstrip().split("\n")[:20]
    pad = "    "
    others = [pad + unit.signature for unit in members if unit.span != target.span and unit.name not in _CONSTRUCTORS]
    return "\n".join([*head, *others[:_MOST_SIBLINGS]])


def _definitions(request: Request, target: Target, known: tuple[Unit, ...]) -> Iterator[ContextItem]:
    """The definitions that the target uses from its own file, signatures first, then bodies; then its callers."""
    source, language_id = request.source, request.language
    unit = next((one for one in known if target.span.contains(one.span) and one.qualified == target.name), None)
    text = source.slice(target.span)
    near = target.span if unit is not None else Span(_above(source, target).start, _below(source, target).end)
    outside = [one for one in known if not one.span.overlaps(near)]
    if unit is None:
        words = frozenset(re.findall(r"\w+", f"{_near(request, target)} {request.instruction}"))
    else:
        called = {re.split(r"\.|::|->", name)[-1] for name in calls(source, language_id, unit)}
        named = frozenset(re.findall(r"\w+", text))
        words = frozenset(called | {one.name for one in outside if one.kind == "class" and one.name in named})
    holder = target.name.rpartition(".")[0]
    used = [
        one for one in outside
        if one.name in words or (holder and one.name in _CONSTRUCTORS and one.qualified.rpartition(".")[0] == holder)
    ][:_MOST_CALLEES]  # fmt: skip
    for one in {one.qualified: one for one in used}.values():
        body = view(source, one.span, language_id, indent=indent_at(source, one.span.start)).text
        if one.name in _CONSTRUCTORS:
            yield ContextItem(Priority.SIGNATURE, one.qualified, _OTHERS, body)
            continue
        doc = one.doc.splitlines()[0] if one.doc else ""
        yield ContextItem(Priority.SIGNATURE, one.qualified, _OTHERS, with_comment(one.signature, doc, language_id))
        yield ContextItem(Priority.DEFINITION, f"the body of {one.qualified}", _OTHERS, body, instead_of=one.qualified)
    if unit is not None and unit.kind != "class":
        pattern = re.compile(rf"\b{re.escape(unit.name)}\s*\(")
        callers = [one for one in outside if one.kind != "class" and pattern.search(source.slice(one.span))]
        for one in callers[:_MOST_CALLERS]:
            body = view(source, one.span, language_id, indent=indent_at(source, one.span.start)).text
            yield ContextItem(Priority.CALLER, f"the caller {one.qualified}", "It is called here:", body)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
