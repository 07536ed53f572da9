"""Which part of a document a job is about."""

from __future__ import annotations

from stet_ls.engine.errors import UsageError
from stet_ls.engine.models import Request, Selection, Target, TargetKind
from stet_ls.engine.prompt.comments import Comment, bare, comment_above, stet_comments
from stet_ls.engine.prompt.tokens import estimate
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure import Unit, unit_at, units, widen

INSERTS = frozenset({"generate", "task"})
"""The actions that may add code where none stands; all others need something to work on."""
NEEDS_CODE = frozenset({"debug", "refactor", "optimize", "test", "explain"})
"""The actions that are refused for a document of white space: a model asked to explain nothing explains something."""


def resolve_target(request: Request, *, limit_tokens: int | None = None) -> Target:
    """The target of a request, widened to whole units.

    A selection takes the smallest unit that holds it, else the top-level statements that it touches, or the document if
    it is all of that; a position its unit; neither, the whole document. An ordinary comment directly above a unit means
    that unit, except to an action of `INSERTS`.

    A `stet:` comment that gives the instruction draws the target to itself: inside or directly above a unit it means
    that unit, alone at top level the place where it stands. An action of `INSERTS` without a unit inserts: the span is
    then a position at column 0 of a line, and the new lines go before that line (at the end of a text without a final
    line end: after its last line).

    A target of more than `limit_tokens` is narrowed to the selected lines, or to the comment's place; UsageError with
    its size if there is nothing to narrow it to, and for a blank document where the action is one of `NEEDS_CODE`. A
    selection outside the text is clamped.
    """
    if request.action in NEEDS_CODE and not request.source.text.strip():
        raise UsageError(f"the document is empty, so there is nothing to {request.action}; generate writes into it")
    selection = selected(request)
    if not request.instruction.strip() and (comment := comment_for(request)) is not None:
        target = _of_comment(request, comment, selection)
    elif selection is None:
        target = Target(TargetKind.DOCUMENT, request.source.whole)
    elif selection.is_position:
        target = _of_position(request, selection.span)
    else:
        target = _of_range(request, selection.span)
    return _within(limit_tokens, request, target)


def selected(request: Request) -> Selection | None:
    """The request's selection inside the text; one of white space alone is a mere position."""
    if request.selection is None:
        return None
    size = len(request.source.data)
    span = Span(min(request.selection.span.start, size), min(request.selection.span.end, size))
    blank = not request.source.slice(span).strip()
    return Selection(Span(span.start, span.start) if blank else span)


def comment_for(request: Request) -> Comment | None:
    """The `stet:` comment that a request means: one in the selection, at the cursor, or above it in the same unit.

    At top level nothing but blank lines may lie between it and the cursor. Without a selection it is the document's
    only one.
    """
    comments = stet_comments(request.source, request.language)
    if not comments:
        return None
    selection = selected(request)
    if selection is None:
        return comments[0] if len(comments) == 1 else None
    source, cursor = request.source, selection.span.start
    for comment in comments:
        if comment.span.overlaps(selection.span) or source.line_of(comment.span.start) == source.line_of(cursor):
            return comment
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
    """The unit that a place means: for what works on code that is there, a comment means what it stands above."""
    below = None if request.action in INSERTS else _commented(request, span)
    return below or unit_at(request.source, request.language, span)


def _commented(request: Request, span: Span) -> Unit | None:
    """The unit right under the comment in which a span lies."""
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
    if unit is not None:
        start = min(unit.span.start, comment.span.start)
        whole = Span(start, max(unit.span.end, comment.span.end))
        return Target(TargetKind.UNIT, whole, unit.qualified, indent_at(request.source, unit.span.start), span)
    if comment.alone and request.action in INSERTS:
        return _insertion(request, comment.span.start, span)
    return _statements(request, comment.span, span)


def _of_position(request: Request, span: Span) -> Target:
    unit = _unit_for(request, span)
    if unit is not None:
        return _unit_target(request, unit, span)
    line = request.source.line_of(span.start)
    blank = not request.source.line_text(line).strip()
    if request.action in INSERTS:
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
    if request.action in INSERTS and bare(source.slice(span), request.language):
        # An ordinary comment that was selected says what to write, and stays above what is written.
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
    indent = indent_at(request.source, request.source.starts[line])
    return Target(TargetKind.INSERTION, Span(at, at), indent=indent, selection=selection)


def indent_at(source: Source, start: int) -> str:
    """The white space at the beginning of the line that starts at a byte offset."""
    text = source.line_text(source.line_of(start))
    return text[: len(text) - len(text.lstrip(" \t"))]


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
    """The selected lines alone; without a selection, the place of a comment or of the cursor where code may go."""
    source = request.source
    if target.selection is not None and not target.selection.empty:
        trimmed = len(source.slice(target.selection).rstrip().encode())
        lines = (source.line_of(target.selection.start), source.line_of(target.selection.start + trimmed))
        span = Span(source.starts[lines[0]], source.line_span(lines[1]).end)
        return Target(TargetKind.STATEMENTS, span, indent=indent_at(source, span.start), selection=target.selection)
    if request.action not in INSERTS:
        return None
    comment = None if request.instruction.strip() else comment_for(request)
    if comment is not None and comment.alone:
        return _insertion(request, comment.span.start, target.selection)
    if target.selection is not None and not source.line_text(source.line_of(target.selection.start)).strip():
        return _insertion(request, source.starts[source.line_of(target.selection.start)], target.selection)
    return None
