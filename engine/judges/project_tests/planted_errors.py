"""Plants errors in changed functions: a test that still passes never ran the change.

The error is placed at the start of a function, or of the innermost block that holds the whole change.

func Sum(xs []int) int {                 func Sum(xs []int) int {
    return 0                     =>          panic("…"); return 0
}                                        }
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stet_ls.engine.judges.project_tests.language_table import for_language
from stet_ls.validators.common_ends import common_ends
from stet_ls.validators.source import Source, Span, Splice
from stet_ls.validators.structure import units
from stet_ls.validators.structure.units import Unit, captures, tree_of

_BLOCKS = frozenset({"statement_block", "block", "compound_statement"})
_COMMENTS = frozenset({"comment", "line_comment", "block_comment"})
_CALLS_ANOTHER = re.compile(r"\{\s*(?:super|this)\s*\(")
"""A constructor in which no statement may precede the first one."""
_DEFINED = re.compile(r"\b([A-Za-z_$][\w$]*)(?=\s*(?::[^=;]*|\[[^\]]*\]\s*)?=(?!=))")
"""The name that a line outside of functions assigns a value."""


@dataclass(frozen=True, slots=True)
class PlantedError:
    """A changed unit, the bytes at which an error goes, and the error around the word; `text` is "" if none fits.

    `names` are those that lead to it.
    """

    number: int
    unit: str
    names: frozenset[str]
    span: Span | None = None
    text: str = ""

    def mark(self, word: str) -> str:
        """The message of its error."""
        return f"{word}-{self.number}-"


def plant_errors(before: Source, after: Source, language: str) -> tuple[PlantedError, ...]:
    """The functions that an edit adds or changes; if it changes none, one error for the code around them; () if nothing
    differs.
    """
    before, plain = (_without_comments(text, language) for text in (before, after))
    known = {each.qualified: each for each in _functions(before, language)}
    old = {name: _code(before, each) for name, each in known.items()}
    changed = [each for each in _functions(after, language) if old.get(each.qualified) != _code(plain, each)]
    if changed:
        blocks = (_block(before, known.get(each.qualified), plain, each, language) for each in changed)
        return tuple(
            _planted_error(number, after, each, block, language)
            for number, (each, block) in enumerate(zip(changed, blocks, strict=True))
        )
    first, second = (_around(text, language) for text in (before, plain))
    fresh = "\n".join(line for line in second if line not in first)
    return (PlantedError(0, "", frozenset(_DEFINED.findall(fresh))),) if second != first else ()


def with_errors(after: Source, errors: Sequence[PlantedError], word: str) -> Source:
    """The text with the errors in it."""
    made = [Splice(each.span, each.text.replace("{}", each.mark(word))) for each in errors if each.span is not None]
    return after.splice(made)


def _without_comments(source: Source, language: str) -> Source:
    """The source with blanks in place of comments, so that positions stay the same."""
    parsed = tree_of(source, language)
    if parsed is None:
        return source
    data = bytearray(source.data)
    for node in captures(parsed, _COMMENTS):
        data[node.start_byte : node.end_byte] = b" " * (node.end_byte - node.start_byte)
    return Source(data.decode("utf-8", "replace"))


def _functions(source: Source, language: str) -> Iterator[Unit]:
    """Functions and methods with a body that are not nested in another."""
    end = 0
    for each in sorted(units(source, language), key=lambda unit: (unit.span.start, -unit.span.end)):
        if each.kind != "class" and each.body is not None and each.body.start >= end:
            end = each.body.end
            yield each


def _code(source: Source, unit: Unit) -> tuple[str, list[str]]:
    return unit.signature, source.slice(unit.body).split() if unit.body else []


def _block(before: Source, old: Unit | None, after: Source, unit: Unit, language: str) -> Span | None:
    """The smallest block within a function that holds all differences; None if that is its body."""
    if old is None or old.signature != unit.signature or old.body is None or unit.body is None:
        return None
    first, second = before.slice(old.body).encode(), after.slice(unit.body).encode()
    ahead, behind = common_ends(first, second)
    start, end = unit.body.start + ahead, unit.body.end - behind
    parsed = tree_of(after, language)
    around = [
        Span(node.start_byte, node.end_byte)
        for node in (captures(parsed, _BLOCKS) if parsed is not None else ())
        if unit.body.start < node.start_byte < start and end < node.end_byte
    ]
    inner = [each for each in around if after.data[each.start : each.start + 1] == b"{"]
    return min(inner, key=lambda each: each.end - each.start, default=None)


def _planted_error(number: int, after: Source, unit: Unit, block: Span | None, language: str) -> PlantedError:
    names = frozenset((unit.name, *unit.qualified.split(".")[:-1])) if _is_special(unit) else frozenset((unit.name,))
    plain = PlantedError(number, unit.qualified, names)
    row, body = for_language(language), unit.body
    if not row.error or body is None:
        return plain
    error = row.error
    if block is not None:
        return PlantedError(number, unit.qualified, names, Span(block.start + 1, block.start + 1), f" {error}")
    text = after.slice(body)
    if text.startswith("{"):
        if _CALLS_ANOTHER.match(text) or (row.accessors and row.accessors.match(text)):
            return plain
        return PlantedError(number, unit.qualified, names, Span(body.start + 1, body.start + 1), f" {error}")
    if row.expression and text.startswith(row.arrow):
        return PlantedError(number, unit.qualified, names, body, row.expression)
    return plain


def _is_special(unit: Unit) -> bool:
    """Whether it runs when its class is used."""
    return unit.name in ("constructor", *unit.qualified.split(".")[:-1])


def _around(source: Source, language: str) -> list[str]:
    """The lines outside of functions, without blanks."""
    parts, at = [], 0
    for each in _functions(source, language):
        parts.append(source.data[at : each.span.start].decode("utf-8", "replace"))
        at = max(at, each.span.end)
    parts.append(source.data[at:].decode("utf-8", "replace"))
    return [" ".join(line.split()) for line in "\n".join(parts).splitlines() if line.strip()]
