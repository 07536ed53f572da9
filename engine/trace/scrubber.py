"""Removes secrets from everything in a record, while the rest stays as the engine saw it.

A placeholder in the text would change its columns, and a reply that quotes it would be refused. So a word of the same
length, which is not a secret, replaces each secret, and a replayed job hides that word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stet_ls.engine.privacy.redact import redact, restore
from stet_ls.validators.source import Span

_PLACEHOLDER = re.compile(r"STET_SECRET_\d+")
_UNKEPT = "(not kept: contains a secret that cannot be removed)"
_DEEPEST = 12


class Scrubber:
    """The secrets of one job: `known` ones by placeholder, `values` in any form; `config`: values have no quotes."""

    def __init__(self, known: Mapping[str, str], values: Sequence[str], *, config: bool) -> None:
        self._secrets = {name: value for name, value in known.items() if _PLACEHOLDER.fullmatch(name)}
        self._prompted = frozenset(self._secrets)
        self._values = tuple(values)
        self._config = config
        self._home = str(Path.home())
        self.whole = True

    @property
    def stand_ins(self) -> dict[str, str]:
        """The word in place of each secret, by its placeholder in prompts."""
        return {name: _stand_in(name, value) for name, value in self._secrets.items()}

    def text(self, text: str) -> str:
        """A text of the user or a tool, without secrets; `whole` is False once a text cannot be kept."""
        return restore(self._redacted(text), self.stand_ins)

    def document(self, text: str, *spans: Span) -> tuple[str, list[Span]]:
        """The document, and the new spans of its places (in bytes). A place within a secret moves to its end."""
        redacted = self._redacted(text)
        moved = _Moves(redacted, self._secrets, self.stand_ins)
        return restore(redacted, self.stand_ins), [Span(moved.to(span.start), moved.to(span.end)) for span in spans]

    def sent(self, text: str) -> str:
        """A text to or from a model: placeholders of the prompt become what they replaced, without secrets."""
        own = {name: word for name, word in self.stand_ins.items() if name not in self._prompted}
        redacted = self._redacted(text)
        own |= {name: word for name, word in self.stand_ins.items() if name not in self._prompted}
        return restore(redacted, own)

    def path(self, path: Path | str) -> str:
        """A path without the name of the user's home."""
        text = str(path)
        below = text == self._home or text.startswith(self._home.rstrip("/\\") + "/")
        return self.text(f"~{text[len(self._home) :]}" if below and len(self._home) > 1 else text)

    def anything(self, value: Any, how: Callable[[str], str] | None = None, depth: int = 0) -> Any:
        """JSON data with `how` (default: `text`) applied to each string, keys included."""
        how = how or self.text
        if isinstance(value, str):
            return how(value)
        if depth > _DEEPEST:
            return None
        if isinstance(value, Mapping):
            return {how(str(key)): self.anything(each, how, depth + 1) for key, each in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.anything(each, how, depth + 1) for each in value]
        return value if value is None or isinstance(value, (bool, int, float)) else how(str(value))

    def everywhere(self, value: Any) -> Any:
        """JSON data scanned again, now that all secrets are known: early parts may hold a secret found later."""
        words = {
            secret: _stand_in(name, secret)
            for name, secret in sorted(self._secrets.items(), key=lambda item: -len(item[1]))
            if len(secret) >= _EVERYWHERE
        }
        return _replaced(value, words)

    def _redacted(self, text: str) -> str:
        if len(text) < _SHORTEST:
            return text
        redacted = redact(text, self._secrets, values=self._values, config=self._config)
        self._secrets = dict(redacted.secrets)
        if redacted.left:
            self.whole = False
            return _UNKEPT
        return redacted.text


_SHORTEST = 4
"""Shorter texts are never taken for a secret."""


_EVERYWHERE = 8
"""From this length on a value is replaced wherever it occurs."""


def _replaced(value: Any, words: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for secret, word in words.items():
            value = value.replace(secret, word)
        return value
    if isinstance(value, dict):
        return {_replaced(key, words): _replaced(each, words) for key, each in value.items()}
    return [_replaced(each, words) for each in value] if isinstance(value, list) else value


def _stand_in(name: str, value: str) -> str:
    """A word as long as the secret, with the same line breaks; longer only if the secret is shorter than any name."""
    word = f"redacted{name.rpartition('_')[2]}"
    first, *others = value.split("\n")
    return "\n".join([word.ljust(len(first), "x"), *("x" * len(line) for line in others)])


class _Moves:
    """Maps offsets of a text to those after its secrets were replaced."""

    def __init__(self, redacted: str, secrets: Mapping[str, str], stand_ins: Mapping[str, str]) -> None:
        self._pieces: list[tuple[int, int]] = []  # bytes before and after, of texts and secrets by turns
        at = 0
        for match in _PLACEHOLDER.finditer(redacted):
            if (value := secrets.get(match.group())) is None:
                continue
            plain = _size(redacted[at : match.start()])
            self._pieces += [(plain, plain), (_size(value), _size(stand_ins[match.group()]))]
            at = match.end()

    def to(self, offset: int) -> int:
        """The new position of `offset`."""
        before = after = 0
        for index, (old, new) in enumerate(self._pieces):
            is_secret = index % 2
            if offset < before + old or (offset == before + old and not is_secret):
                return after + (new if is_secret and offset > before else offset - before)
            before, after = before + old, after + new
        return after + offset - before


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
