"""Secrets identified by their place: after a name, a scheme or an option for a secret."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass

from stet_ls.engine.privacy.secrets.assignment_forms import (
    GIVES,
    LINE_START,
    OPTION,
    PAIRS,
    PIECE,
    PLACES,
    AssignmentForm,
    SecretLikelihood,
)
from stet_ls.engine.privacy.secrets.entropy import is_drawn, is_mixed, is_nothing
from stet_ls.engine.privacy.secrets.secret_names import NAMES, says_secret
from stet_ls.validators.source import occurrences

Found = tuple[int, int, str]

_LEAST_DRAWN = {"token": 8, "auth": 12, "cred": 8}
_LEAST_OTHER = 16
"""Least letters of a value after a name that is also used for other things."""
_MOST_PIECES = 40
_TAIL = re.compile(r"[\w-]{0,60}")
_IN_NAMES = string.ascii_letters + string.digits + "_.$/-"
_WORD_EDGES = " ;('\""
_LINE_BACK, _HEAD_BACK, _GIVES_BACK = 300, 60, 120


@dataclass(frozen=True, slots=True)
class _Name:
    """A name at `start` to `end` of the text, found by `part`; `sure`: it can only be that of a secret."""

    part: str
    start: int
    end: int
    sure: bool
    option: bool


def named(text: str, lowered: str, vocabulary: str, *, config: bool) -> Iterator[Found]:
    """Start, end and kind of each value that the name or form before it marks as a secret.

    `lowered` is the text in lower case, of the same length, `vocabulary` all of its distinct words. `config`: the text
    is configuration, where values have no quotes.
    """
    for part in (part for part in NAMES if part in vocabulary):
        for at in occurrences(lowered, part):
            yield from _behind(text, _name(text, part, at, config=config), at, config=config)
    for words, pattern in PAIRS:
        for word in (word for word in words if word.strip(_WORD_EDGES).partition(" ")[0] in vocabulary):
            for at in occurrences(lowered, word):
                if match := pattern.match(text, at):
                    yield from _pair(text, match)


def _name(text: str, part: str, at: int, *, config: bool) -> _Name:
    """The whole name around a matching part of it."""
    head = text[max(0, at - _HEAD_BACK) : at]
    tail = _TAIL.match(text, at + len(part))
    start = at - len(head) + len(head.rstrip(_IN_NAMES))
    end = tail.end() if tail else at + len(part)
    sure = says_secret(text[start:end], part, at - start, config=config)
    return _Name(part, start, end, sure, option=text.startswith("--", start))


def _behind(text: str, name: _Name, at: int, *, config: bool) -> Iterator[Found]:
    """The value after one name: the first form that matches with a possible secret."""
    if name.option and (option := OPTION.match(text, name.end)):
        if name.sure and not is_nothing(option["value"]):
            yield *option.span("value"), "secret"
        return
    line = max(text.rfind("\n", max(0, name.start - _LINE_BACK), name.start) + 1, name.start - _LINE_BACK, 0)
    start = LINE_START.match(text, line, at)
    in_config = start is not None and (config or (name.sure and bool(start["remark"])))
    for place in PLACES:
        if place.config and not in_config:
            continue
        found = place.pattern.match(text, name.end)
        if found is None or not _counts(found["value"], name, place, text[line : name.end]):
            continue
        yield *found.span("value"), "secret" if name.sure else "random value"
        if place.pieces:
            yield from _pieces(text, found.end())
        return


def _counts(value: str, name: _Name, place: AssignmentForm, before: str) -> bool:
    """True if a value in this place, after this name, is a secret. `before` is its line up to its end."""
    if name.sure and (place.trust is SecretLikelihood.SURE or GIVES.search(before[-_GIVES_BACK:])):
        return not is_nothing(value)
    if name.sure:
        return is_mixed(value)
    return len(value) >= _LEAST_DRAWN.get(name.part, _LEAST_OTHER) and is_mixed(value) and is_drawn(value)


def _pieces(text: str, at: int) -> Iterator[Found]:
    """The further literals of a concatenated value."""
    for _ in range(_MOST_PIECES):
        piece = PIECE.match(text, at)
        if piece is None:
            return
        yield *piece.span("value"), "secret"
        at = piece.end()


def _pair(text: str, match: re.Match[str]) -> Iterator[Found]:
    value = match["value"]
    if is_nothing(value):
        return
    start, end = match.span("value")
    if match[0].startswith("://"):
        yield start, end, "password in an address"
    elif (
        "scheme" not in match.re.groupindex  # a scheme's name is an ordinary word too
        or is_mixed(value)
        or "uthorization" in text[max(0, match.start() - 40) : match.start()]
    ):
        yield start, end, "secret"
