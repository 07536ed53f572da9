"""What a model is shown beside the target, in the order in which it reads it, each piece with its worth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from stet_ls.engine.models import Diagnostic, Request, Target, TargetKind
from stet_ls.engine.prompt.target import indent_at
from stet_ls.engine.prompt.view import View, view
from stet_ls.validators.findings import Severity
from stet_ls.validators.languages import language
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure import Unit, calls, imports, units

_LINES_BEFORE, _LINES_AFTER = 15, 8
_MOST_CALLEES, _MOST_CALLERS, _MOST_SIBLINGS = 8, 2, 20
_LONGEST_MESSAGE = 600
_OTHERS = "Other code of the file:"
_CONSTRUCTORS = frozenset({"__init__", "constructor", "initialize", "new"})


class Worth(IntEnum):
    """What is kept when not everything fits; the lowest goes last."""

    PROBLEM = 0
    GIVEN = 1
    FRAME = 2
    SIGNATURE = 3
    DEFINITION = 4
    CALLER = 5


@dataclass(frozen=True, slots=True)
class Piece:
    """A titled piece of context. `name` is how `left_out` calls it, `code` says that it goes into a code block.

    Neighbours of one title share a block. `instead_of` names the piece that this one makes needless.
    """

    worth: Worth
    name: str
    title: str
    text: str
    code: bool = True
    instead_of: str = ""


def gather(request: Request, target: Target, shown: View, *, hidden: tuple[Span, ...] = ()) -> tuple[Piece, ...]:
    """Everything that might help with `target`, whose text is `shown`, in reading order, without `hidden` spans."""
    source = request.source
    pieces = [
        Piece(Worth.GIVEN, f"context {key!r}", f"Given by the user, {key}:", value, code=False)
        for key, value in request.context.items()
    ]
    if target.kind is not TargetKind.DOCUMENT:
        known = units(source, request.language)
        pieces += _imports(source, request.language, target)
        pieces += _around(request, target, known, hidden)
        pieces += _definitions(request, target, known)
    pieces += _problems(request, target, shown)
    return tuple(piece for piece in pieces if piece.text.strip())


def _imports(source: Source, language_id: str, target: Target) -> Iterator[Piece]:
    spans = [span for span in imports(source, language_id) if not span.overlaps(target.span)]
    text = "\n".join(_plain(source.slice(span)) for span in spans)
    yield Piece(Worth.FRAME, "imports", "The file already has these imports:", text)


def _around(request: Request, target: Target, known: tuple[Unit, ...], hidden: tuple[Span, ...]) -> Iterator[Piece]:
    """The class around a method; the lines around a place that is no unit."""
    source = request.source
    holders = [unit for unit in known if unit.span.contains(target.span) and unit.span != target.span]
    if target.kind is TargetKind.UNIT:
        if holder := next((unit for unit in reversed(holders) if unit.kind == "class"), None):
            head = _head(source, holder, known, target)
            yield Piece(Worth.FRAME, f"the head of {holder.name}", "It is a member of:", head)
        return
    for name, span in (("above", _above(source, target)), ("below", _below(source, target))):
        text = view(source, span, request.language, hidden=hidden).text.strip("\n")
        yield Piece(Worth.FRAME, f"the lines {name}", f"Lines {name} the place:", text)


def _above(source: Source, target: Target) -> Span:
    """The lines before a target; an empty span at the start of the text."""
    first = source.line_of(target.span.start)
    return Span(source.starts[max(0, first - _LINES_BEFORE)], max(target.span.start - 1, 0) if first else 0)


def _below(source: Source, target: Target) -> Span:
    last = source.line_of(target.span.end)
    start = target.span.start if target.span.empty else source.line_span(last + 1).start
    return Span(start, max(start, source.line_span(last + _LINES_AFTER).end))


def _head(source: Source, holder: Unit, known: tuple[Unit, ...], target: Target) -> str:
    """A class without its methods' bodies: what stands before the first, and the others' signatures."""
    members = [
        unit for unit in known if unit.span != holder.span and holder.span.contains(unit.span)
        and unit.qualified.count(".") == holder.qualified.count(".") + 1
    ]  # fmt: skip
    end = min((unit.span.start for unit in members), default=holder.span.end)
    head = _plain(source.slice(Span(holder.span.start, max(end, holder.span.start)))).rstrip().split("\n")[:20]
    pad = "    "
    others = [pad + unit.signature for unit in members if unit.span != target.span and unit.name not in _CONSTRUCTORS]
    return "\n".join([*head, *others[:_MOST_SIBLINGS]])


def _definitions(request: Request, target: Target, known: tuple[Unit, ...]) -> Iterator[Piece]:
    """What the target uses of its own file: signatures first, and bodies where there is room; then who calls it."""
    source, language_id = request.source, request.language
    unit = next((one for one in known if target.span.contains(one.span) and one.qualified == target.name), None)
    text = source.slice(target.span)
    near = target.span if unit is not None else Span(_above(source, target).start, _below(source, target).end)
    outside = [one for one in known if not one.span.overlaps(near)]
    if unit is None:
        words = _words(request, target)
    else:
        called = {re.split(r"\.|::|->", name)[-1] for name in calls(source, language_id, unit)}
        words = frozenset(called | {one.name for one in outside if one.kind == "class" and _mentions(text, one.name)})
    holder = target.name.rpartition(".")[0]
    used = [
        one for one in outside
        if one.name in words or (holder and one.name in _CONSTRUCTORS and one.qualified.rpartition(".")[0] == holder)
    ][:_MOST_CALLEES]  # fmt: skip
    for one in {one.qualified: one for one in used}.values():
        body = view(source, one.span, language_id, indent=indent_at(source, one.span.start)).text
        if one.name in _CONSTRUCTORS:
            yield Piece(Worth.SIGNATURE, one.qualified, _OTHERS, body)
            continue
        yield Piece(Worth.SIGNATURE, one.qualified, _OTHERS, _signature(one, language_id))
        yield Piece(Worth.DEFINITION, f"the body of {one.qualified}", _OTHERS, body, instead_of=one.qualified)
    if unit is not None and unit.kind != "class":
        pattern = re.compile(rf"\b{re.escape(unit.name)}\s*\(")
        callers = [one for one in outside if one.kind != "class" and pattern.search(source.slice(one.span))]
        for one in callers[:_MOST_CALLERS]:
            body = view(source, one.span, language_id, indent=indent_at(source, one.span.start)).text
            yield Piece(Worth.CALLER, f"the caller {one.qualified}", "It is called here:", body)


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def _words(request: Request, target: Target) -> frozenset[str]:
    """The words by which a target that is no unit may name others: its own, those above its place, and those said."""
    text = request.source.slice(target.span) or request.source.slice(_above(request.source, target))
    return frozenset(re.findall(r"\w+", f"{text} {request.instruction}"))


def _signature(unit: Unit, language_id: str) -> str:
    row = language(language_id)
    mark = (row.line_comment if row else None) or "//"
    return f"{unit.signature}  {mark} {unit.doc.splitlines()[0]}" if unit.doc else unit.signature


def _problems(request: Request, target: Target, shown: View) -> Iterator[Piece]:
    """For debug every diagnostic, for the rest those that overlap: a foreign one is hard to make a model ignore."""
    source = request.source
    lines = [
        f"- {_where(source, problem, shown)}{problem.severity}: {_message(problem)}"
        for problem in request.diagnostics
        if request.action == "debug" or (problem.span.overlaps(target.span) and problem.severity is not Severity.HINT)
    ]
    yield Piece(Worth.PROBLEM, "the reported problems", "Reported problems:", "\n".join(lines), code=False)


def _where(source: Source, problem: Diagnostic, shown: View) -> str:
    start = min(problem.span.start, len(source.data))
    line = source.line_of(start)
    number = shown.number(line)
    quoted = source.line_text(line).strip()
    place = f"line {number}" if number else "elsewhere"
    return f"{place}, `{quoted[:200]}`: " if quoted else f"{place}: "


def _message(problem: Diagnostic) -> str:
    origin = " ".join(filter(None, (problem.source, problem.code)))
    return " ".join(problem.message.split())[:_LONGEST_MESSAGE] + (f" ({origin})" if origin else "")


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
