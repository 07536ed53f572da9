"""Replaces values that look like secrets by placeholders, and puts them back into a reply.

A value is judged by where it stands and by what it looks like, never shown in a message, an error or a repr.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

_PLACEHOLDER = re.compile(r"STET_(?:SECRET|TOKEN)_\d+")

_REPLACED_EVERYWHERE = 8
"""From this length on a value found once is replaced wherever it stands: shorter ones are words of the language too."""


@dataclass(frozen=True, slots=True)
class Redaction:
    """That something was replaced: where (`line` from 0, None outside the document), what kind, by what."""

    line: int | None
    kind: str
    placeholder: str = ""


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets. `secrets` maps each placeholder to the value that it stands for."""

    text: str
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    redactions: tuple[Redaction, ...] = ()


@dataclass(frozen=True, slots=True)
class _Shape:
    """One look of a secret: the group "value" of `pattern` is the value; `random` asks that it look like chance."""

    kind: str
    pattern: re.Pattern[str]
    random: bool = False


@dataclass(frozen=True, slots=True, order=True)
class _Hit:
    """A value found at a place of the text, in characters."""

    start: int
    end: int
    value: str = field(repr=False)
    kind: str


# Names are found by their telling part alone: a leading `\w*` would make the search quadratic on one long word.
_SECRET_NAME = (
    r"(?i:passw(?:or)?d|passphrase|secret|(?:api|private|access)[_-]?key|(?:auth|access|refresh)[_-]?token|bearer)"
    r"[\w-]{0,40}"
)
_NEAR_NAME = r"(?i:key|token|auth|credential|salt|signature|webhook|dsn)[\w-]{0,40}"
_ASSIGNED = r"""["'\])]{0,2}[ \t]*(?::[ \t]*[A-Za-z_][\w.\[\]| ]{0,60}=|:=|=>|[:=])[ \t]*(?:[bruf@$]{1,2}(?=["']))?"""
_LITERAL = r"""(?P<quote>["'`])(?P<value>(?:(?!(?P=quote))[^\s\\]){%d,512})(?P=quote)"""

_SHAPES = (
    _Shape("JSON web token", re.compile(r"\b(?P<value>eyJ[\w-]{8,4000}\.eyJ[\w-]{8,4000}\.[\w-]{8,4000})")),
    _Shape(
        "access token",
        re.compile(
            r"(?<![\w-])(?P<value>gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|sk-[\w-]{20,}"
            r"|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[\w-]{30,}|xox[abeoprs]-[\w-]{10,}"
            r"|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{30,}|SG\.[\w-]{16,}\.[\w-]{16,}"
            r"|dop_v1_[0-9a-f]{32,}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32})"
        ),
    ),
    _Shape("password in an address", re.compile(r"://[^\s:/@\"']{1,64}:(?P<value>[^\s@/\"'{}$<]{3,128})@")),
    _Shape("secret", re.compile(_SECRET_NAME + _ASSIGNED + _LITERAL % 4)),
    _Shape(
        "secret", re.compile(_SECRET_NAME + r"[=:][ \t]*(?P<value>[\w+/.~!@#%^&*-]{8,512})[ \t]*$", re.M), random=True
    ),
    _Shape("random value", re.compile(_NEAR_NAME + _ASSIGNED + _LITERAL % 16), random=True),
)

_KEY_HEADER = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_FOOTER = re.compile(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = re.compile(r"(?:(?:\s|\\n)*[A-Za-z0-9+/=]{40,})+")

# What stands where a secret would, and is none: variables, templates and the words of examples.
_NO_SECRET = re.compile(
    r"(?i)^(?:\$\{?\w+\}?|%\(?\w+\)?s?|\{\{?[^}]*\}?\}|<[^>]*>|x{3,}|\*{3,}|\.{3,}|change[-_]?me|example|placeholder"
    r"|your[-_].*|none|null|true|false|password|passwd|secret|token|undefined|os\.environ.*|process\.env.*)$"
)


def redact(text: str, known: Mapping[str, str] = MappingProxyType({})) -> Redacted:
    """`text` with a stable placeholder for each secret: one value, one placeholder, in order of appearance.

    `known` holds the placeholders of a text that was read before; the same values get them again, and new numbers
    follow theirs. A number that the text itself uses is left out, so that restoring cannot hit it.
    """
    places = _hits(text)
    values = {place.value for place in places} | set(known.values())
    places = sorted([*places, *_repeats(text, values, places)])
    names = {value: name for name, value in known.items()}
    taken = set(_PLACEHOLDER.findall(text)) | set(known)
    number = 0
    for place in places:
        while place.value not in names:
            number += 1
            if (name := f"STET_SECRET_{number}") not in taken:
                names[place.value] = name
    pieces: list[str] = []
    at = 0
    for place in places:
        pieces += [text[at : place.start], names[place.value]]
        at = place.end
    redactions = tuple(Redaction(text.count("\n", 0, place.start), place.kind, names[place.value]) for place in places)
    return Redacted("".join([*pieces, text[at:]]), {name: value for value, name in names.items()}, redactions)


def restore(text: str, secrets: Mapping[str, str]) -> str:
    """`text` with the value again in place of each placeholder that `secrets` knows; others stay as they are."""
    return _PLACEHOLDER.sub(lambda match: secrets.get(match.group(), match.group()), text)


def _hits(text: str) -> list[_Hit]:
    """The secrets of a text in its order; where two shapes overlap, the one that begins first wins."""
    found = list(_private_keys(text))
    for shape in _SHAPES:
        for match in shape.pattern.finditer(text):
            value = match.group("value")
            if _PLACEHOLDER.fullmatch(value) or _NO_SECRET.match(value) or (shape.random and not _looks_random(value)):
                continue
            found.append(_hit(text, *match.span("value"), shape.kind))
    hits: list[_Hit] = []
    for hit in sorted(found):
        if not hits or hit.start >= hits[-1].end:
            hits.append(hit)
    return hits


def _hit(text: str, start: int, end: int, kind: str) -> _Hit:
    """A hit that takes the digits behind it along: behind a placeholder they would make another number of it."""
    while end < len(text) and text[end] in "0123456789":
        end += 1
    return _Hit(start, end, text[start:end], kind)


def _private_keys(text: str) -> Iterator[_Hit]:
    """Private keys from header to footer; one that was cut off, as far as its body goes."""
    for header in _KEY_HEADER.finditer(text):
        dashes = text.find("-----", header.end())
        footer = _KEY_FOOTER.match(text, dashes) if dashes >= 0 else None
        last = footer or _KEY_BODY.match(text, header.end())
        if last:
            yield _hit(text, header.start(), last.end(), "private key")


def _repeats(text: str, values: Iterable[str], hits: Sequence[_Hit]) -> Iterator[_Hit]:
    """Further places of values that are long enough to mean only themselves."""
    telling = sorted((value for value in values if len(value) >= _REPLACED_EVERYWHERE), key=len, reverse=True)
    if not telling:
        return
    starts = [hit.start for hit in hits]
    for match in re.finditer("|".join(map(re.escape, telling)), text):
        after = bisect_left(starts, match.end())
        if not after or hits[after - 1].end <= match.start():
            yield _hit(text, match.start(), match.end(), "repeated value")


def _looks_random(value: str) -> bool:
    """True for text of letters and digits whose characters are spread as only keys and hashes spread them."""
    if not (any(char.isdigit() for char in value) and any(char.isalpha() for char in value)):
        return False
    counts = Counter(value)
    entropy = -sum(count / len(value) * math.log2(count / len(value)) for count in counts.values())
    return entropy >= min(3.0, math.log2(len(value)) * 0.75)
