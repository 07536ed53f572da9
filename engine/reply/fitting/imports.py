"""Merges the imports that a reply needs into the document's import block."""

from __future__ import annotations

import re
from collections.abc import Mapping

from stet_ls.engine.reply.languages.import_form import Import
from stet_ls.engine.reply.languages.language_table import for_language
from stet_ls.validators.source import Source, Span, Splice
from stet_ls.validators.structure import imports
from stet_ls.validators.structure.literals import passages

_PROLOGUE = re.compile(
    r"package\s|#!\[|//!|#pragma once|#!|['\"]use (?:strict|client|server)['\"]|<\?php|# -\*-|# vim:|extern crate"
)


def merge_imports(
    statements: tuple[str, ...], used_in: str, *, source: Source, language: str, before: int, end: str
) -> list[Splice]:
    """The splices for new imports that `used_in` needs, above the target at `before`, with the line end `end`."""
    form = for_language(language).imports
    if not statements or form is None:
        return []
    present = list(imports(source, language))
    known = {one.key for one in form.imports(source.slice(span) for span in present)}
    new = [one for one in form.imports(statements) if one.key not in known and _is_needed(one, used_in, known)]
    if not new:
        return []
    block = _block(source, present, before)
    lines = form.statements(new)
    if not block:
        return [_below_head(source, language, lines, before, end)]
    within = form.into(source, block, new, end)
    return form.insert(source, block, lines, end) if within is None else within


def _is_needed(one: Import, used_in: str, known: set[tuple[str, ...]]) -> bool:
    package = one.key[0].rpartition(".")[0] + ".*"
    if one.key[0].startswith("import ") and (package,) in known:  # Java: the package is already imported
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


def _below_head(source: Source, language: str, lines: list[str], before: int, end: str) -> Splice:
    """The first imports of a document: below its head (a docstring, a license, a package clause), above all code."""
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
        if text.strip() and not is_head and (passage is None or not _comment_continues(source, head, last)):
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
    next_line = source.line_of(at)
    is_blank = at >= len(source.data) or not source.line_text(next_line).strip()
    return Splice(Span(at, at), (end if above else "") + text + ("" if is_blank else end))


def _comment_continues(source: Source, head: Mapping[int, object], line: int) -> bool:
    """True if comment lines continue down to a blank line: a license, not a comment on the code below."""
    while line + 1 < source.line_count and source.starts[line + 1] in head:
        line += 1
    return line + 1 < source.line_count and not source.line_text(line + 1).strip()
