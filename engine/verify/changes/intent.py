"""What a change claims to be, and where it says so."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class IntentKind(StrEnum):
    """The kinds of changes, the strictest first."""

    DOCS = "docs"
    TEST = "test"
    REFACTOR = "refactor"
    PERF = "perf"
    FEATURE = "feature"
    FIX = "fix"
    UNKNOWN = "unknown"


_PREFIXES = {
    "docs": IntentKind.DOCS, "test": IntentKind.TEST, "tests": IntentKind.TEST, "refactor": IntentKind.REFACTOR,
    "style": IntentKind.REFACTOR, "perf": IntentKind.PERF, "feat": IntentKind.FEATURE, "fix": IntentKind.FIX,
    "feature": IntentKind.FEATURE,
}  # fmt: skip
"""Conventional Commits' types."""
_PREFIX = re.compile(r"([a-zA-Z]+)(?:\([^)]*\))?!?:\s")
_TRAILER = re.compile(r"^Stet-Intent:\s*(\w+)\s*$", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ChangeIntent:
    """A claim. `source`: "option", "trailer", "message" (a commit's prefix) or "none".

    Only a claim that someone stated can refute a change: a prefix is a habit, and half of all fixes hold more.
    """

    kind: IntentKind = IntentKind.UNKNOWN
    source: str = "none"

    @property
    def is_stated(self) -> bool:
        """Whether the author said so for Stet."""
        return self.source in ("option", "trailer")

    @property
    def keeps_behavior(self) -> bool:
        """Whether existing calls have to give the same results."""
        return self.kind in (IntentKind.REFACTOR, IntentKind.PERF, IntentKind.FEATURE)

    def __str__(self) -> str:
        return f"intent {self.kind}" + (f" ({self.source})" if self.source != "none" else "")


def intent_of(option: str, messages: Sequence[str]) -> ChangeIntent:
    """The intent: an option, else a trailer, else the prefix of the messages, the strictest of several."""
    if option:
        return ChangeIntent(IntentKind(option), "option")
    trailers = [_PREFIXES.get(name.lower()) for text in messages for name in _TRAILER.findall(text)]
    if kinds := [each for each in trailers if each is not None]:
        return ChangeIntent(_strictest(kinds), "trailer")
    heads = (_PREFIX.match(text) for text in messages)
    prefixes = [_PREFIXES.get(match[1].lower()) for match in heads if match]
    if kinds := [each for each in prefixes if each is not None]:
        return ChangeIntent(_strictest(kinds), "message")
    return ChangeIntent()


def _strictest(kinds: Sequence[IntentKind]) -> IntentKind:
    return min(kinds, key=list(IntentKind).index)
