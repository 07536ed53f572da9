"""Restores comments that a reply dropped although their code is unchanged: small models often do that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stet_ls.validators.source import Source
from stet_ls.validators.structure.literals import fixed_lines, passages

_MARK = "stet:"
"""Instructions to Stet are removed once they are carried out."""
_Place = tuple[str, str]
"""The code of a line, and that of the previous line of code."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a text: its code and its comment, each without white space around it. `number` counts from 0."""

    number: int
    code: str
    comment: str


def keep_comments(code: str, old: str, language: str) -> str:
    """The code with the comments of the old text restored where the line of code is unchanged and has none now."""
    before, after = Source(old.replace("\r\n", "\n")), Source(code)
    present = [line for line in _lines(before, language) if line.code or line.comment]
    if not any(line.comment for line in present):
        return code
    now = _lines(after, language)
    known = {line.comment for line in now if line.comment}
    places = _places([line for line in now if line.code])
    texts = code.split("\n")
    fixed = fixed_lines(after, language)
    above: dict[int, list[str]] = {}
    for block, line, place in _blocks(present, _places([line for line in present if line.code])):
        at = places.get(place)
        if at is None or at.number in fixed:
            continue
        lost = [comment for comment in block if comment not in known]
        explained = at.number > 0 and bool(now[at.number - 1].comment) and not now[at.number - 1].code
        if block and len(lost) == len(block) and not explained:
            margin = texts[at.number][: len(texts[at.number]) - len(texts[at.number].lstrip())]
            above[at.number] = [margin + comment for comment in block]
        if line.comment and not at.comment and line.comment not in known:
            texts[at.number] = f"{texts[at.number].rstrip()}  {line.comment}"
    return "\n".join(text for number, line in enumerate(texts) for text in (*above.get(number, ()), line))


def _lines(source: Source, language: str) -> list[_Line]:
    """Every line of a text; each line of a multi-line comment is separate."""
    comments: dict[int, str] = {}
    for passage in passages(source, language):
        if passage.kind != "comment":
            continue
        text = source.slice(passage.span).rstrip("\n")
        first = source.line_of(passage.span.start)
        for number, part in enumerate(text.split("\n"), first):
            comments[number] = part.strip()
    found = []
    for number in range(source.line_count):
        text, comment = source.line_text(number).strip(), comments.get(number, "")
        whole = not comment or text.endswith(comment)
        found.append(_Line(number, text.removesuffix(comment).strip() if whole else text, comment if whole else ""))
    return found


def _places(lines: Sequence[_Line]) -> dict[_Place, _Line]:
    """The lines of code that are unique, alone or together with the previous one."""
    pairs = list(zip(["", *(line.code for line in lines)], lines, strict=False))
    alone = Counter(line.code for line in lines)
    together = Counter((line.code, before) for before, line in pairs)
    found: dict[_Place, _Line] = {}
    for before, line in pairs:
        if alone[line.code] == 1:
            found[line.code, ""] = line
        elif together[line.code, before] == 1 and before:
            found[line.code, before] = line
    return found


def _blocks(lines: Sequence[_Line], places: dict[_Place, _Line]) -> Iterator[tuple[list[str], _Line, _Place]]:
    """Each line of code in `places`, with the comments above it."""
    where = {line.number: place for place, line in places.items()}
    block: list[str] = []
    for line in lines:
        if not line.code:
            block.append(line.comment)
            continue
        if line.number in where and not any(_MARK in comment for comment in (*block, line.comment)):
            yield block, line, where[line.number]
        block = []
