"""Merging the imports that a reply needs into the document's import block."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from stet_ls.engine.reply.fitting.import_forms import Import, read, write
from stet_ls.validators.source import Source, Span, Splice
from stet_ls.validators.structure import imports
from stet_ls.validators.structure.literals import passages

_PROLOGUE = re.compile(
    r"package\s|#!\[|//!|#pragma once|#!|['\"]use (?:strict|client|server)['\"]|<\?php|# -\*-|# vim:|extern crate"
)


def merge(
    statements: tuple[str, ...], used_in: str, *, source: Source, language: str, before: int, end: str
) -> list[Splice]:
    """The splices that add what `statements` import, `used_in` needs and the document does not import yet.

    `before` is the offset of the target: the block is above it. `end` is the line end.
    """
    if not statements:
        return []
    present = list(imports(source, language))
    known = {one.key for one in read((source.slice(span) for span in present), language)}
    new = [one for one in read(statements, language) if one.key not in known and _is_needed(one, used_in, known)]
    if not new:
        return []
    block = _block(source, present, before)
    if language == "go" and block and source.slice(block[-1]).rstrip().endswith(")"):
        return _into_parentheses(source, block[-1], new, end)
    lines = write(new, language)
    if not block:
        return [_below_head(source, language, lines, before, end)]
    if language == "python":
        return _sorted_python(source, block, lines, end)
    return [_after(source, block[-1], "".join(f"{line}{end}" for line in lines), end)]


def _is_needed(one: Import, used_in: str, known: set[tuple[str, ...]]) -> bool:
    if (
        one.key[0].startswith("import ") and (one.key[0].rpartition(".")[0] + ".*",) in known
    ):  # Java: the package is there
        return False
    return not one.bound or re.search(rf"(?<![\w$]){re.escape(one.bound)}(?![\w$])", used_in) is not None


def _block(source: Source, present: list[Span], before: int) -> list[Span]:
    """The first run of imports at the margin, above the target, with nothing but comments and blank lines between."""
    block: list[Span] = []
    for span in present:
        indented = source.data[source.starts[source.line_of(span.start)] : span.start].strip(b"\xef\xbb\xbf")
        if span.end > before or indented:
            break
        if block and not _is_blank(source, Span(block[-1].end, span.start)):
            break
        block.append(span)
    return block


def _is_blank(source: Source, span: Span) -> bool:
    lines = source.slice(span).replace("\r", "\n").split("\n")
    return all(line.strip(" \t;") == "" or line.lstrip().startswith(("#", "//", "/*", "*")) for line in lines)


def _after(source: Source, span: Span, text: str, end: str) -> Splice:
    """The lines directly below a statement."""
    line = source.line_span(source.line_of(span.end), with_end=True)
    closed = source.data[line.start : line.end].endswith((b"\n", b"\r"))
    return Splice(Span(line.end, line.end), text if closed else end + text.removesuffix(end))


def _into_parentheses(source: Source, statement: Span, new: list[Import], end: str) -> list[Splice]:
    """Go: into the block, standard library before the rest, in the order that gofmt gives."""
    lines = range(source.line_of(statement.start) + 1, source.line_of(statement.end))
    splices = []
    for one in sorted(new, key=lambda one: one.key[1]):
        at = source.starts[source.line_of(statement.end)]
        for number in lines:
            present = [_go_order(each) for each in read([source.line_text(number)], "go")]
            if present and present[0][0] == _go_order(one)[0]:
                at = source.starts[number + (present[0] < _go_order(one))]
                if present[0] > _go_order(one):
                    break
        splices.append(Splice(Span(at, at), f"\t{one.text}{end}"))
    return splices


def _go_order(one: Import) -> tuple[bool, str]:
    path = one.key[1]
    return ("." in path.partition("/")[0], path)


def _below_head(source: Source, language: str, lines: list[str], before: int, end: str) -> Splice:
    """The first imports of a document: below its head (a docstring, a licence, a package clause), above all code."""
    at = 3 if source.data.startswith(b"\xef\xbb\xbf") else 0
    head = {passage.span.start: passage for passage in passages(source, language)}
    number = 0
    while number < source.line_count:
        line = source.line_span(number)
        start = max(line.start, at if number == 0 else 0)
        text = source.slice(Span(start, line.end))
        passage = head.get(start)
        last = source.line_of(passage.span.end) if passage is not None else number
        below = source.line_text(last + 1) if last + 1 < source.line_count else ""
        is_head = _PROLOGUE.match(text) or (passage is not None and (passage.kind == "doc" or not below.strip()))
        if text.strip() and not is_head and (passage is None or not _comment_goes_on(source, head, last)):
            break
        following = source.line_span(last, with_end=True).end
        if following > before:
            break
        at = following if text.strip() else at
        number = last + 1
    above = source.data[:at].strip(b"\xef\xbb\xbf")
    text = "".join(f"{line}{end}" for line in lines)
    if above and not above.endswith((b"\n", b"\r")):
        text = end + text
    gap_above = end if above else ""
    gap_below = "" if _next_line_blank(source, at) else end
    return Splice(Span(at, at), gap_above + text + gap_below)


def _comment_goes_on(source: Source, head: Mapping[int, object], line: int) -> bool:
    """True if comment lines follow each other down to a blank line: a licence, not a remark on the code below."""
    while line + 1 < source.line_count and source.starts[line + 1] in head:
        line += 1
    return line + 1 < source.line_count and not source.line_text(line + 1).strip()


def _next_line_blank(source: Source, at: int) -> bool:
    line = source.line_of(at)
    return at >= len(source.data) or not source.line_text(line).strip()


@dataclass(frozen=True, slots=True, order=True)
class _Rank:
    """Where isort and ruff put an import: `__future__`, the standard library, the rest, relative ones."""

    section: int
    is_from: bool
    module: str


def _sorted_python(source: Source, block: list[Span], lines: list[str], end: str) -> list[Splice]:
    """Each new import beside those of its section, a new section between blank lines."""
    present = [(span, _rank(source.slice(span))) for span in block]
    splices: list[Splice] = []
    for section in sorted({_rank(line).section for line in lines}):
        new = sorted((line for line in lines if _rank(line).section == section), key=_rank)
        same = [(span, rank) for span, rank in present if rank.section == section]
        lower = [span for span, rank in present if rank.section < section]
        if same:
            for line in new:
                below = [span for span, rank in same if rank <= _rank(line)]
                splices.append(
                    _after(source, below[-1], line + end, end) if below else _above(source, same[0][0], line + end)
                )
        elif lower:
            splices.append(_after(source, lower[-1], end + "".join(f"{line}{end}" for line in new), end))
        else:
            splices.append(_above(source, block[0], "".join(f"{line}{end}" for line in new) + end))
    return splices


def _above(source: Source, span: Span, text: str) -> Splice:
    at = source.starts[source.line_of(span.start)]
    if at == 0 and source.data.startswith(b"\xef\xbb\xbf"):
        at = 3
    return Splice(Span(at, at), text)


def _rank(statement: str) -> _Rank:
    words = statement.split()
    module = words[1].rstrip(",") if len(words) > 1 else ""
    root = module.partition(".")[0]
    if module == "__future__":
        section = 0
    elif module.startswith("."):
        section = 3
    else:
        section = 1 if root in sys.stdlib_module_names else 2
    return _Rank(section, words[:1] == ["from"], module.lower())
