"""Fits a reply's code into the document: position, margin, tabs, line ends, imports and helpers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from stet_ls.engine.api.request import Target, TargetKind
from stet_ls.engine.reply.fitting.extract import CodeParts, split_code
from stet_ls.engine.reply.fitting.imports import merge_imports
from stet_ls.engine.reply.fitting.spacing import gaps, line_end_at, lines_of
from stet_ls.engine.reply.indent import reindent, unit_of
from stet_ls.engine.reply.languages.language_table import for_language
from stet_ls.engine.reply.parsing.clean import clean
from stet_ls.engine.reply.parsing.reply_spec import NO_CODE
from stet_ls.validators.source import Source, Span, Splice
from stet_ls.validators.structure import units

_BOM = "\ufeff".encode()


@dataclass(frozen=True, slots=True)
class Fitted:
    """Splices that do not overlap, and the target's new text; or else `problem` is the reason, in a sentence."""

    splices: tuple[Splice, ...] = ()
    code: str = ""
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class _Document:
    """The formatting of the document at the target."""

    source: Source
    target: Target
    language: str
    end: str
    unit: str | None

    @property
    def gap(self) -> str:
        """The line feeds between two top-level definitions."""
        return "\n" * (for_language(self.language).blank_lines + 1)

    def written(self, code: str, indent: str) -> str:
        """Code at a margin with the document's indentation, still with line feeds."""
        return reindent(code.strip("\n"), self.language, base=indent, unit=self.unit)

    def ended(self, text: str) -> str:
        """The text with the document's line ends."""
        return text.replace("\n", self.end)


def fit_code(code: str, *, source: Source, target: Target, language: str, replaces: Span | None = None) -> Fitted:
    """The edit that replaces the target by `code`.

    A whole file is reduced to the requested unit; new helpers that it uses go above it, new imports into the import
    block. The margin, the unit of indentation, the line ends and the last line end are the document's; the contents
    of strings are not changed. `replaces` is the comment with the instruction: it is removed with its line.
    """
    code = "\n".join(line.rstrip() if not line.strip() else line for line in clean(code, language).split("\n"))
    if not code.strip():
        return Fitted(problem=NO_CODE)
    target = _after_mark(source, target)
    parts = split_code(code.strip("\n"), source=source, target=target, language=language)
    if isinstance(parts, str):
        return Fitted(problem=parts)
    document = _Document(
        source, target, language, line_end_at(source, target.span), unit_of(source, target.span, language)
    )
    if replaces is not None:
        parts = _without_echo(parts, source.slice(replaces))
    hole = None if replaces is None else lines_of(source, replaces)
    if target.kind is TargetKind.INSERTION:
        own, text = _insertion(document, parts, hole)
    else:
        own, text = _replacement(document, parts)
    splices = [own, *_beyond(document, parts)]
    if hole is not None and target.kind is not TargetKind.INSERTION and not target.span.contains(hole):
        hole = Span(
            hole.start,
            max(hole.start, min(hole.end, target.span.start)) if hole.start < target.span.start else hole.end,
        )
        if not hole.overlaps(target.span) and not hole.empty:
            splices.append(Splice(hole, ""))
    return Fitted(tuple(sorted(splices, key=lambda splice: splice.span)), text)


def _after_mark(source: Source, target: Target) -> Target:
    """The target without the document's byte order mark, which belongs to the file, not to its first line."""
    start, end = (max(at, len(_BOM)) for at in (target.span.start, target.span.end))
    return replace(target, span=Span(start, end)) if source.data.startswith(_BOM) else target


def _replacement(document: _Document, parts: CodeParts) -> tuple[Splice, str]:
    """The target's new text: helpers, a gap, the unit, and the old blank lines at the end."""
    target, source = document.target, document.source
    old = source.slice(target.span)
    pieces = [*parts.sibling_units]
    if not _is_nested(document):
        pieces = [*parts.above, *pieces]
    gap = "\n\n" if target.indent else document.gap
    text = gap.join(document.written(piece, target.indent) for piece in [*pieces, parts.code])
    if target.kind is TargetKind.DOCUMENT:
        tail = old[len(old.rstrip("\r\n")) :]
        text = document.ended(text) + (tail if old.strip() else tail or document.end)
    else:
        text = document.ended(text)
    return Splice(target.span, text), text


def _insertion(document: _Document, parts: CodeParts, hole: Span | None) -> tuple[Splice, str]:
    """New lines before the position's line, with the blank lines around them that are usual in the language."""
    source, target = document.source, document.target
    span = target.span
    if hole is not None and hole.start <= span.start <= hole.end:
        span = hole
    text = document.written(parts.code, target.indent) if parts.code.strip() else ""
    if not text:
        return Splice(span, ""), ""
    at_line_start = span.start == source.line_span(source.line_of(span.start)).start
    above, below = gaps(source, span, parts.code, document.language, target.indent)
    head = "\n" * (above + (0 if at_line_start else 1))
    ends_text = span.end >= len(source.data)
    tail = "" if ends_text and not at_line_start else "\n" * (below + 1)
    return Splice(span, document.ended(head + text + tail)), document.ended(text)


def _beyond(document: _Document, parts: CodeParts) -> list[Splice]:
    """Additions outside the target: imports, and for a nested target the top-level helpers."""
    source, target = document.source, document.target
    used_in = "\n".join([parts.code, *parts.sibling_units, *parts.above])
    start = _top(document)
    splices = merge_imports(
        parts.imports, used_in, source=source, language=document.language, before=start, end=document.end
    )
    if parts.above and target.kind is not TargetKind.INSERTION and _is_nested(document):
        text = "".join(document.written(piece, "") + document.gap for piece in parts.above)
        splices.append(Splice(Span(start, start), document.ended(text)))
    return [splice for splice in splices if splice.text]


def _is_nested(document: _Document) -> bool:
    return _top(document) != document.target.span.start


def _top(document: _Document) -> int:
    """The start of the top-level unit that holds the target; the target's own start if none does."""
    span = document.target.span
    if document.target.kind in (TargetKind.DOCUMENT, TargetKind.INSERTION):
        return span.start
    holding = [unit.span.start for unit in units(document.source, document.language) if unit.span.contains(span)]
    return min([span.start, *holding])


def _without_echo(parts: CodeParts, comment: str) -> CodeParts:
    """The parts without the comment with the instruction, if the model copied it."""
    asked = {line.strip() for line in comment.splitlines() if line.strip()}
    lines = [line for line in parts.code.split("\n") if line.strip() not in asked]
    return CodeParts("\n".join(lines) or parts.code, parts.sibling_units, parts.above, parts.imports)
