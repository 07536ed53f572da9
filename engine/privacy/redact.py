"""Replaces apparent secrets by one placeholder per value and job, and restores them; no message has a value."""

from __future__ import annotations

import base64
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import quote

from stet_ls.engine.privacy.secrets.entropy import PLACEHOLDER
from stet_ls.engine.privacy.secrets.scan import Secret, find_secrets

_EVERYWHERE = 8
"""From this length on a known value is replaced anywhere in a text; a shorter one only as a whole literal."""
_AS_LITERAL = 4
_QUOTES = ('"', "'", "`")
_ROUNDS = 4
"""Rounds: the text left after removing a secret may look like another one."""


@dataclass(frozen=True, slots=True)
class Redaction:
    """A replacement: where (`line` from 0, None outside the document), what kind, by what."""

    line: int | None
    kind: str
    placeholder: str = ""


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text and its `secrets` by placeholder; those `left` could not be removed, so it is not sent."""

    text: str
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    redactions: tuple[Redaction, ...] = ()
    left: tuple[Redaction, ...] = ()


def redact(
    text: str,
    known: Mapping[str, str] = MappingProxyType({}),
    *,
    values: Iterable[str] = (),
    config: bool = False,
    public: str = "",
) -> Redacted:
    """`text` with a stable placeholder for each secret: one value, one placeholder, in order of appearance.

    `known` holds the placeholders of earlier texts; the same values get them again, and new numbers continue theirs. A
    number that the text itself uses is skipped, so that restoring cannot replace it. `values` are secrets in any form.
    `config`: the text is configuration, where values have no quotes. Text in `public`, which the model wrote itself, is
    never a secret because of its form.
    """
    secrets = dict(known)
    redactions: list[Redaction] = []
    taken = set(PLACEHOLDER.findall(text)) | set(known)
    listed = _forms(values)
    for round_ in range(_ROUNDS):
        hits = _hits(text, secrets, listed, config=config, public=public)
        if not hits:
            return Redacted(text, secrets, tuple(redactions))
        names = {value: name for name, value in secrets.items()}
        lines = _lines(restore(text, secrets) if round_ else text, text, hits, secrets)
        pieces: list[str] = []
        at = 0
        for hit, line in zip(hits, lines, strict=True):
            value = restore(hit.value, secrets)
            if value not in names:
                names[value] = _free(taken)
                secrets[names[value]] = value
            redactions.append(Redaction(line, hit.kind, names[value]))
            pieces += [text[at : hit.start], names[value]]
            at = hit.end
        text = "".join([*pieces, text[at:]])
    hits = _hits(text, secrets, listed, config=config, public=public)
    left = tuple(Redaction(text.count("\n", 0, hit.start), hit.kind) for hit in hits)
    return Redacted(text, secrets, tuple(redactions), left)


def restore(text: str, secrets: Mapping[str, str]) -> str:
    """`text` with the values of the placeholders in `secrets` restored; others are not changed."""
    return PLACEHOLDER.sub(lambda match: secrets.get(match.group(), match.group()), text)


def _free(taken: set[str]) -> str:
    number = 1 + sum(name.startswith("STET_SECRET_") for name in taken)
    while (name := f"STET_SECRET_{number}") in taken:
        number += 1
    taken.add(name)
    return name


def _lines(whole: str, text: str, hits: Sequence[Secret], secrets: Mapping[str, str]) -> list[int]:
    """The line of each hit in the original text."""
    lines: list[int] = []
    line = at = 0
    for hit in hits:
        before = text[at : hit.start]
        line += (before if whole is text else restore(before, secrets)).count("\n")
        lines.append(line)
        at = hit.start
    return lines


def _hits(
    text: str, secrets: Mapping[str, str], listed: Mapping[str, str], *, config: bool, public: str
) -> list[Secret]:
    """The secrets of a text in order, none of which overlap."""
    found = [_grown(text, leak) for leak in find_secrets(text, config=config) if not _is_placeholder(leak.value)]
    if public:
        found = [leak for leak in found if leak.value not in public]
    kinds = dict.fromkeys([*secrets.values(), *(leak.value for leak in found)], "repeated value") | dict(listed)
    covered = [(leak.start, leak.end) for leak in found]
    for leak in _repeats(text, kinds):
        after = bisect_left(covered, (leak.end,))
        if not after or covered[after - 1][1] <= leak.start:
            found.append(leak)
    hits: list[Secret] = []
    for leak in sorted(found, key=lambda leak: (leak.start, -leak.end)):
        if not hits or leak.start >= hits[-1].end:
            hits.append(leak)
    return hits


def _is_placeholder(value: str) -> bool:
    """True for a value that is almost only a placeholder: it was found because of its position."""
    return bool(PLACEHOLDER.search(value)) and len(PLACEHOLDER.sub("", value)) < _AS_LITERAL


def _grown(text: str, leak: Secret) -> Secret:
    """A secret extended by the digits after it: after a placeholder they would change its number."""
    end = leak.end
    while end < len(text) and text[end] in "0123456789":
        end += 1
    return Secret(leak.start, end, text[leak.start : end], leak.kind)


def _repeats(text: str, kinds: Mapping[str, str]) -> Iterator[Secret]:
    """The places of known values: anywhere if they are long enough to be unambiguous, else as whole literals."""
    for value, kind in kinds.items():
        if len(value) < _AS_LITERAL or PLACEHOLDER.search(value):
            continue
        at = text.find(value)
        while at >= 0:
            end = at + len(value)
            if len(value) >= _EVERYWHERE or (text[at - 1 : at] in _QUOTES and text[end : end + 1] in _QUOTES):
                yield _grown(text, Secret(at, end, value, kind))
            at = text.find(value, end)


def _forms(values: Iterable[str]) -> dict[str, str]:
    """Secret values, unchanged and as programs write them: in base64, in hex, in an address."""
    forms: dict[str, str] = {}
    for value in values:
        data = value.encode("utf-8", "surrogatepass")
        forms[value] = ".env value"
        if len(value) >= _EVERYWHERE:
            coded = base64.b64encode(data).decode()
            for form in (coded, coded.rstrip("="), data.hex(), quote(value, safe="", errors="replace")):
                forms.setdefault(form, ".env value, encoded")
    return forms
