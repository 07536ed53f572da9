"""Findings in a model's reply, in any form; each counts only if its quote is in the code, and as an opinion."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

MOST = 20
"""The most findings read from one reply; a model that lists more is stuck."""
_LONGEST = 600
_LEAST_QUOTE, _LEAST_PART = 4, 10
"""The fewest non-blank characters of a quoted line, and of a part of one: `}` or `lo=0` fit too many lines."""
_NEAR = 2
"""The most lines by which a model may miscount."""

KINDS: Mapping[str, str] = {
    "bug": "bug", "error": "bug", "defect": "bug", "correctness": "bug", "logic": "bug", "crash": "bug",
    "risk": "risk", "edge case": "risk", "robustness": "risk", "warning": "risk", "weak spot": "risk",
    "security": "security", "vulnerability": "security", "injection": "security",
    "speed": "speed", "performance": "speed", "efficiency": "speed", "memory": "speed",
    "clarity": "clarity", "style": "clarity", "readability": "clarity", "maintainability": "clarity",
    "documentation": "clarity", "naming": "clarity", "complexity": "clarity",
}  # fmt: skip
"""Names of kinds in replies, and Stet's names for them."""


@dataclass(frozen=True, slots=True)
class ModelFinding:
    """One finding of the model. `line` is the number that it gave (from 1), or None."""

    quote: str
    kind: str
    witness: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class LocatedFinding:
    """A finding whose quote is in `line` (from 0) of the document.

    Its claim was tried: `refuted` if it is false, `confirmed` if it is true; `said` is what the reply said before that.
    """

    line: int
    opinion: ModelFinding
    refuted: bool = False
    confirmed: bool = False
    said: ModelFinding | None = None


def read_opinions(text: str) -> tuple[ModelFinding, ...]:
    """The findings of a reply, each once, in its order; at most `MOST`. Never raises; linear in the text's length."""
    found = list(_from_json(text)) or list(_from_items(text, loose=False)) or list(_from_items(text, loose=True))
    seen: dict[tuple[str, str], ModelFinding] = {}
    for opinion in found:
        if opinion.quote.strip() and re.search(r"\w{2}", opinion.witness):
            seen.setdefault((_squeezed(opinion.quote), opinion.witness), opinion)
    return tuple(seen.values())[:MOST]


def place(opinions: Iterable[ModelFinding], lines: Sequence[tuple[int, str]]) -> tuple[list[LocatedFinding], int]:
    """The findings whose quotes are in the code, and the number of those dropped because theirs are not.

    `lines` are the lines that the model saw, with their numbers in the document (from 0). A quote has to be a line or
    a part of one, except for white space. If several lines match, the one with the given number is taken, or the
    nearest close enough; without one the finding is ambiguous and dropped.
    """
    squeezed = [(number, _squeezed(text)) for number, text in lines]
    first = lines[0][0] if lines else 0
    placed: dict[tuple[int, str], LocatedFinding] = {}
    dropped = 0
    for opinion in opinions:
        line = _line_of(opinion, squeezed, first)
        if line is None:
            dropped += 1
        else:
            placed.setdefault((line, opinion.kind), LocatedFinding(line, opinion))
    return sorted(placed.values(), key=lambda one: one.line), dropped


def _line_of(opinion: ModelFinding, lines: Sequence[tuple[int, str]], first: int) -> int | None:
    quote = _squeezed(opinion.quote)
    if len(quote) < _LEAST_QUOTE:
        return None
    there = [number for number, text in lines if text == quote]
    if not there and len(quote) >= _LEAST_PART:
        there = [number for number, text in lines if quote in text]
    if len(there) == 1:
        return there[0]
    if not there or opinion.line is None:
        return None
    # Models count from the file's first line or from the first that they were shown.
    named = (opinion.line - 1, first + opinion.line - 1)
    distance, nearest = min((min(abs(number - at) for at in named), number) for number in there)
    return nearest if distance <= _NEAR else None


def _squeezed(code: str) -> str:
    return "".join(code.split())


_QUOTES = ("quote", "code", "line_of_code", "snippet", "quoted_line", "text")
_WITNESSES = ("witness", "why", "reason", "explanation", "description", "message", "input", "problem", "issue")
_KINDS = ("kind", "type", "category", "severity")


def _from_json(text: str) -> Iterator[ModelFinding]:
    start = min((at for at in (text.find("["), text.find("{")) if at >= 0), default=-1)
    if start < 0 or text[:start].count("`") % 3:
        return
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return
    if isinstance(value, dict):
        value = next((inner for inner in value.values() if isinstance(inner, list)), [value])
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict) and (quote := _first(item, _QUOTES)):
            number = item.get("line", item.get("line_number"))
            yield ModelFinding(
                quote,
                _kind(_first(item, _KINDS)) or "risk",
                _words(_first(item, _WITNESSES)),
                number if isinstance(number, int) and not isinstance(number, bool) else None,
            )


def _first(item: Mapping[str, Any], keys: Iterable[str]) -> str:
    return next((str(item[key]) for key in keys if isinstance(item.get(key), str) and item[key].strip()), "")


_BULLET = re.compile(r"[ \t]*(?:[-*+\u2022]|\d{1,3}[.)])[ \t]+")
_NUMBER = re.compile(r"\b(?:lines?|L)[ \t]*[:#]?[ \t]*(\d{1,7})\b", re.IGNORECASE)
_LABEL = re.compile(
    r"[ \t]*(?:[-*+][ \t]+)?\**(?P<name>code|line|quote|kind|type|category|why|witness|input|reason|when|fails?"
    r"|problem)\**[ \t]*:[ \t]*\**(?P<rest>.*)",
    re.IGNORECASE,
)
_SPAN = re.compile(r"(?P<ticks>`+)(?P<code>[^`\n]+)(?P=ticks)")
_FENCE = re.compile(r"(?P<lead>.{0,200}?)(?:`{3,}|~{3,})[\w+-]*[ \t]*")


@dataclass
class _Item:
    """One finding while its lines come in."""

    quote: str = ""
    kind: str = ""
    line: int | None = None
    words: str = ""
    indent: int = 0

    def done(self) -> ModelFinding:
        return ModelFinding(self.quote, self.kind or _kind(self.words[:80]) or "risk", _words(self.words), self.line)


def _from_items(text: str, *, loose: bool) -> Iterator[ModelFinding]:
    """Findings in lists, tables or labeled lines; if `loose`, also as sentences that quote a line."""
    item: _Item | None = None
    code: Literal["", "quoted", "shown", "around"] = ""  # the current fence holds a quote, more code, or the list
    above = ""
    for line in text.splitlines():
        fence = _FENCE.fullmatch(line)
        if fence is not None:
            head = fence["lead"] if fence["lead"].strip() else above
            if code:
                code = ""
            elif _BULLET.match(head) and not _SPAN.search(head):
                if item is not None:
                    yield item.done()
                item, code = _Item(line=_named(head), words=_BULLET.sub("", head, count=1)), "quoted"
                item.indent = len(head) - len(head.lstrip())
            else:
                code = "around" if item is None else "shown"
            continue
        if code in ("quoted", "shown"):
            if code == "quoted" and item is not None and line.strip():
                item.quote, code = line.strip(), "shown"
            continue
        indent = len(line) - len(line.lstrip())
        begun = None if item is not None and indent > item.indent else _begin(line, loose=loose)
        if item is not None and (begun is not None or (indent <= item.indent and _BULLET.match(line))):
            yield item.done()
            item = None
        if begun is not None:
            item = begun
            item.indent = indent
        elif item is not None and line.strip():
            _add(item, line)
        above = line if line.strip() else above
    if item is not None:
        yield item.done()


def _begin(line: str, *, loose: bool) -> _Item | None:
    """The finding that starts on a line, with a quote or with table cells."""
    label = _LABEL.match(line)
    if label and label["name"].lower() in ("code", "line", "quote"):
        code = _SPAN.search(label["rest"])
        if code is None and label["rest"].strip().isdecimal():
            return None
        return _Item(code["code"] if code else label["rest"].strip().strip("`"), line=_named(line))
    if label is not None:
        return None
    bare = _BULLET.sub("", line, count=1)
    cells = [cell.strip() for cell in re.split(r"[ \t]\|[ \t]", bare.strip().strip("|"))]
    if len(cells) >= 3:
        return _of_cells(cells)
    quote = _SPAN.search(line)
    if quote is None or not (loose or bare != line or line.lstrip("* ").startswith(("`", "Line ", "line "))):
        return None
    return _Item(quote["code"], line=_named(line[: quote.start()]), words=line[quote.end() :])


def _of_cells(cells: Sequence[str]) -> _Item | None:
    number = None
    if cells[0].lower().removeprefix("line").strip(" :#").isdecimal() and len(cells) > 3:
        number, cells = int(cells[0].lower().removeprefix("line").strip(" :#")[:7]), cells[1:]
    if set("".join(cells)) <= set("-: "):
        return None  # the ruler of a table
    # The quote may contain a bar: the kind is the first cell that is a known kind.
    at = next((i for i, cell in enumerate(cells) if i and cell.strip("`*_ ").lower() in KINDS), None)
    if at is None:
        return None
    code = _SPAN.fullmatch(cells[0])
    quote = code["code"] if code else " | ".join(cells[:at]).strip("`")
    return _Item(quote, _kind(cells[at]), number, " ".join(cells[at + 1 :]))


def _add(item: _Item, line: str) -> None:
    label = _LABEL.match(line)
    words = label["rest"] if label else line
    if label and label["name"].lower() in ("kind", "type", "category"):
        item.kind = item.kind or _kind(words)
    elif len(item.words) < _LONGEST:
        item.words = f"{item.words} {words}"


def _named(text: str) -> int | None:
    match = _NUMBER.search(text)
    return int(match[1]) if match else None


def _kind(words: str) -> str:
    lowered = words.lower()
    found = min(((lowered.find(name), name) for name in KINDS if name in lowered), default=None)
    return KINDS[found[1]] if found else ""


def _words(text: str) -> str:
    """The text after a quote as a sentence: without marks at its ends, cut to a maximum length."""
    words = " ".join(text.replace("**", "").split()).strip(" |:-\u2013\u2014")
    return words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "\u2026"
