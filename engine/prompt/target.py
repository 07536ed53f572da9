"""Finds the target: the part of a document that a job is about."""

from __future__ import annotations

import re

from stet_ls.engine.api.request import Request, Selection, Target, TargetKind
from stet_ls.engine.errors import UsageError
from stet_ls.engine.prompt.instruction_intent import GenerateIntent, intent_of, is_addition
from stet_ls.engine.prompt.stet_comments import Comment, comment_above, comment_words, stet_comments
from stet_ls.engine.prompt.tokens import estimate
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure import Unit, is_stub, unit_at, units, widen
from stet_ls.validators.structure.literals import passages
from stet_ls.validators.structure.member_locations import below, indent_at, member_end

_MEMBERS = re.compile(
    r"\b(?:methods?|propert(?:y|ies)|getters?|setters?|constructors?|fields?|attributes?|overloads?|members?)\b", re.I
)
"""Words for members of a class."""
_DEFINES = re.compile(
    rf"{_MEMBERS.pattern}|\b(?:functions?|class(?:es)?|helpers?|structs?|enums?|interfaces?|tests?)\b", re.I
)
"""Words for top-level definitions."""


def resolve_target(request: Request, *, limit_tokens: int | None = None) -> Target:
    """The target of a request, widened to whole units.

    A selection takes the smallest unit that holds it, else the top-level statements that it touches, or the document
    if it covers all of it; a position takes its unit; without either, the target is the whole document. An ordinary
    comment directly above a unit means that unit, except for an action that `inserts`.

    A `stet:` comment with the instruction determines the target: inside or directly above a unit it means that unit,
    alone at top level or among the members of a class it means its own position. Without a unit the target
    of an action that `inserts` is an insertion: the span is a position at column 0 of a line, and the new lines go
    before that line (at the end of a text without a final line end: after its last line).

    Generate inserts unless its instruction says to change existing code (`intent_of`), or that code is a stub: after
    the function or method, into the class if the cursor is between its members, at the end of the class that the
    instruction names for a method, else after the selected statements or at the end of the document.

    A target of more than `limit_tokens` is narrowed to the selected lines, or to the comment's position. Raises
    UsageError with its size if it cannot be narrowed, and for a blank document if the action `needs_code`. A
    selection outside the text is clamped.
    """
    if request.spec.needs_code and not request.source.text.strip():
        raise UsageError(f"the document is empty, so there is nothing to {request.action}; generate writes into it")
    selection = selected_span(request)
    if not request.instruction.strip() and (comment := comment_for(request)) is not None:
        target = _of_comment(request, comment, selection)
    elif _adds(request, selection):
        target = _addition(request, selection)
    elif selection is None:
        target = Target(TargetKind.DOCUMENT, request.source.whole)
    elif selection.is_position:
        target = _of_position(request, selection.span)
    else:
        target = _of_range(request, selection.span)
    return _within(limit_tokens, request, target)


def meant_units(request: Request) -> frozenset[str]:
    """The units at the selection, which an instruction to generate may mean; none if it clearly asks for more code."""
    selection = selected_span(request)
    if selection is None or is_addition(request.instruction):
        return frozenset()
    if request.source.slice(selection.span).strip() == request.source.text.strip():
        return frozenset()
    if selection.span.empty:
        unit = unit_at(request.source, request.language, selection.span)
        return frozenset() if unit is None else frozenset({unit.name})
    return frozenset(one.name for one in units(request.source, request.language) if one.span.overlaps(selection.span))


def selected_span(request: Request) -> Selection | None:
    """The request's selection, clamped to the text; a selection of white space becomes a position."""
    if request.selection is None:
        return None
    size = len(request.source.data)
    span = Span(min(request.selection.span.start, size), min(request.selection.span.end, size))
    blank = not request.source.slice(span).strip()
    return Selection(Span(span.start, span.start) if blank else span)


def comment_for(request: Request) -> Comment | None:
    """The `stet:` comment that a request means: one in the selection, at the cursor, or above it in the same unit.

    At top level only blank lines may be between it and the cursor. Without a selection it is the document's only one.
    An action that does not insert reads only a comment in the selection, or on the cursor's line: the others are for
    generate.
    """
    comments = stet_comments(request.source, request.language)
    if not comments:
        return None
    selection = selected_span(request)
    if selection is None:
        return comments[0] if len(comments) == 1 and request.spec.inserts else None
    source, cursor = request.source, selection.span.start
    for comment in comments:
        if comment.span.overlaps(selection.span) or source.line_of(comment.span.start) == source.line_of(cursor):
            return comment
    if not request.spec.inserts:
        return None
    here = unit_at(source, request.language, Span(cursor, cursor))
    above = [comment for comment in comments if comment.span.end <= cursor]
    for comment in reversed(above):
        if here is not None and _home(request, comment) == here:
            return comment
        if not source.slice(Span(comment.span.end, source.starts[source.line_of(cursor)])).strip():
            return comment
    return None


def _home(request: Request, comment: Comment) -> Unit | None:
    """The unit that a comment is about: the one that starts on the next line, else the one around it."""
    source = request.source
    below = _starting(request, source.line_of(comment.span.end) + 1) if comment.alone else None
    return below or unit_at(source, request.language, comment.span)


def _starting(request: Request, line: int) -> Unit | None:
    """The outermost unit that starts on a line."""
    source = request.source
    return next((unit for unit in units(source, request.language) if source.line_of(unit.span.start) == line), None)


def _unit_for(request: Request, span: Span) -> Unit | None:
    """The unit of a span: for an action that works on existing code, a comment means the unit below it."""
    below = None if request.spec.inserts else _commented(request, span)
    return below or unit_at(request.source, request.language, span)


def _commented(request: Request, span: Span) -> Unit | None:
    """The unit right below the comment that contains a span."""
    source = request.source
    first, last = source.line_of(span.start), source.line_of(span.start + len(source.slice(span).rstrip().encode()))
    for unit in units(source, request.language):
        top = source.line_of(unit.span.start)
        if top > last:
            return unit if comment_above(source, request.language, top) <= first else None
    return None


def _of_comment(request: Request, comment: Comment, selection: Selection | None) -> Target:
    unit = _home(request, comment)
    span = selection.span if selection else None
    if unit is not None and not _stands_alone(request, comment, unit):
        start = min(unit.span.start, comment.span.start)
        whole = Span(start, max(unit.span.end, comment.span.end))
        return Target(TargetKind.UNIT, whole, unit.qualified, indent_at(request.source, unit.span.start), span)
    if comment.alone and request.spec.inserts:
        return _insertion(request, comment.span.start, span)
    return _statements(request, comment.span, span)


def _stands_alone(request: Request, comment: Comment, unit: Unit) -> bool:
    """True of a comment among the members of a class, or above a unit, that asks for an addition."""
    if not comment.alone or not request.spec.adds_code or intent_of(comment.text) is GenerateIntent.CHANGE:
        return False
    if unit.span.contains(comment.span):
        return unit.kind == "class"
    return _DEFINES.search(comment.text) is not None and unit.name not in re.findall(r"\w+", comment.text)


def _adds(request: Request, selection: Selection | None) -> bool:
    """Whether the request is for additional code, which leaves the selected code in place."""
    if not request.spec.adds_code or not request.instruction.strip() or not request.source.text.strip():
        return False
    if intent_of(request.instruction) is GenerateIntent.CHANGE:
        return False
    if selection is None:
        return True
    if selection.unit:  # a named unit is the target, unless a new definition is requested
        return _DEFINES.search(request.instruction) is not None
    source, language = request.source, request.language
    if not selection.is_position and comment_words(source.slice(selection.span), language):
        return False
    unit = unit_at(source, language, selection.span)
    return unit is None or unit.kind == "class" or not is_stub(source, language, unit)


def _addition(request: Request, selection: Selection | None) -> Target:
    """The insertion point for additional code, next to the selected code."""
    source, language = request.source, request.language
    span = None if selection is None else selection.span
    unit = None if span is None else _outside_functions(request, unit_at(source, language, span))
    whole = span is not None and not span.empty and source.slice(span).strip() == source.text.strip()
    named = _named_class(request, unit)
    if named is not None:
        return _member_place(request, named, span)
    if span is None or whole:
        return _insertion(request, len(source.data), span, source.line_count)
    if unit is None:
        line = source.line_of(span.start)
        if span.empty and not source.line_text(line).strip():
            return _insertion(request, source.starts[line], span, line)
        last = source.line_of(max(widen(source, language, span).end, span.end))
        return _insertion(request, source.line_span(last + 1).start, span, source.line_of(span.start))
    if unit.kind == "class" and (span.empty or not span.contains(_core(source, unit))):
        return _member_place(request, unit, span)
    return _insertion(request, below(source, unit), span, source.line_of(unit.span.start))


def _core(source: Source, unit: Unit) -> Span:
    """A unit without the white space before its first line."""
    return Span(unit.span.start + len(indent_at(source, unit.span.start)), unit.span.end)


def _outside_functions(request: Request, unit: Unit | None) -> Unit | None:
    """The unit, or the outermost function or method around it: code next to that is visible to others."""
    if unit is None:
        return None
    around = [one for one in units(request.source, request.language) if one.span.contains(unit.span)]
    return next((one for one in around if one.kind != "class"), unit)


def _named_class(request: Request, unit: Unit | None) -> Unit | None:
    """The class to which the instruction adds a member; if it names none, the only class of the document."""
    if unit is not None or not _MEMBERS.search(request.instruction):
        return None
    classes = [one for one in units(request.source, request.language) if one.kind == "class" and one.body is not None]
    words = frozenset(re.findall(r"\w+", request.instruction))
    named = [one for one in classes if one.name in words]
    return named[-1] if named else classes[0] if len(classes) == 1 else None


def _member_place(request: Request, unit: Unit, span: Span | None) -> Target:
    """Where a new member goes into a class: the blank line at the cursor, else the end of the class."""
    source = request.source
    at, indent = member_end(source, request.language, unit)
    if span is not None and span.empty and unit.span.contains(span):
        line = source.line_of(span.start)
        inside = any(each.span.contains(span) for each in passages(source, request.language))
        if not source.line_text(line).strip() and not inside:
            at = source.starts[line]
    return Target(TargetKind.INSERTION, Span(at, at), indent=indent, selection=span)


def _of_position(request: Request, span: Span) -> Target:
    unit = _unit_for(request, span)
    if unit is not None:
        return _unit_target(request, unit, span)
    line = request.source.line_of(span.start)
    blank = not request.source.line_text(line).strip()
    if request.spec.inserts:
        return _insertion(request, request.source.line_span(line if blank else line + 1).start, span, line)
    if blank:
        return Target(TargetKind.DOCUMENT, request.source.whole, selection=span)
    return _of_range(request, span)


def _of_range(request: Request, span: Span) -> Target:
    source = request.source
    unit = _unit_for(request, span)
    if unit is not None:
        return _unit_target(request, unit, span)
    if source.slice(span).strip() == source.text.strip():
        return Target(TargetKind.DOCUMENT, source.whole, selection=span)
    if request.spec.inserts and comment_words(source.slice(span), request.language):
        # A selected ordinary comment is the instruction, and stays above the new code.
        return _insertion(request, source.line_span(source.line_of(span.end) + 1).start, span, source.line_of(span.end))
    return _statements(request, span, span)


def _statements(request: Request, span: Span, selection: Span | None) -> Target:
    whole = widen(request.source, request.language, span)
    return Target(TargetKind.STATEMENTS, whole, indent=indent_at(request.source, whole.start), selection=selection)


def _unit_target(request: Request, unit: Unit, selection: Span) -> Target:
    indent = indent_at(request.source, unit.span.start)
    return Target(TargetKind.UNIT, unit.span, unit.qualified, indent, selection)


def _insertion(request: Request, at: int, selection: Span | None, line: int | None = None) -> Target:
    line = request.source.line_of(at) if line is None else line
    indent = indent_at(request.source, request.source.starts[line]) if line < request.source.line_count else ""
    return Target(TargetKind.INSERTION, Span(at, at), indent=indent, selection=selection)


def _within(limit: int | None, request: Request, target: Target) -> Target:
    if limit is None:
        return target
    size = estimate(request.source.slice(target.span))
    if size <= limit:
        return target
    narrow = _narrowed(request, target)
    if narrow is not None and estimate(request.source.slice(narrow.span)) <= limit:
        return narrow
    what = target.name or ("the selection" if target.kind is TargetKind.STATEMENTS else "the document")
    raise UsageError(
        f"{what} is about {size:,} tokens and the model can take {limit:,} at once: select a smaller part of it"
    )


def _narrowed(request: Request, target: Target) -> Target | None:
    """The selected lines alone; without a selection, the position of a comment or cursor where code may be inserted."""
    source = request.source
    if target.selection is not None and not target.selection.empty:
        trimmed = len(source.slice(target.selection).rstrip().encode())
        lines = (source.line_of(target.selection.start), source.line_of(target.selection.start + trimmed))
        span = Span(source.starts[lines[0]], source.line_span(lines[1]).end)
        return Target(TargetKind.STATEMENTS, span, indent=indent_at(source, span.start), selection=target.selection)
    if not request.spec.inserts:
        return None
    comment = None if request.instruction.strip() else comment_for(request)
    if comment is not None and comment.alone:
        return _insertion(request, comment.span.start, target.selection)
    if target.selection is not None and not source.line_text(source.line_of(target.selection.start)).strip():
        return _insertion(request, source.starts[source.line_of(target.selection.start)], target.selection)
    return None
