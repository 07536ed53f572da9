"""All secrets of a text, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from stet_ls.engine.privacy.secrets.entropy import is_nothing, is_token
from stet_ls.engine.privacy.secrets.issued_tokens import issued, words_of
from stet_ls.engine.privacy.secrets.named_secrets import named

_SMALL = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_QUOTED = re.compile(r"""["'`]([\w+/=.~-]{24,100})["'`]""")


@dataclass(frozen=True, slots=True, order=True)
class Secret:
    """A secret at a place of the text, in characters."""

    start: int
    end: int
    value: str = field(repr=False)
    kind: str


def find_secrets(text: str, *, config: bool = False) -> list[Secret]:
    """The secrets of a text, overlapping ones merged, in linear time. `config`: its values have no quotes."""
    lowered = text.lower() if text.isascii() else text.translate(_SMALL)
    words = words_of(text)
    vocabulary = "\n".join(words).translate(_SMALL)
    found = sorted([*issued(text, words), *named(text, lowered, vocabulary, config=config), *_drawn(text)])
    merged: list[tuple[int, int, str]] = []
    for start, end, kind in found:
        if merged and start < merged[-1][1]:
            first, last, known = merged[-1]
            merged[-1] = (first, max(last, end), known)
        else:
            merged.append((start, end, kind))
    return [Secret(start, end, text[start:end], kind) for start, end, kind in merged]


def _drawn(text: str) -> Iterator[tuple[int, int, str]]:
    """Literals that can only be keys."""
    for match in _QUOTED.finditer(text):
        if is_token(match[1]) and not is_nothing(match[1]):
            yield *match.span(1), "random value"
