"""One reply as it arrives: its text, how it ended, and whether it is endless."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stet_ls.engine.model.chat import Finish, Usage

_LOOP_WINDOW, _LONGEST_PERIOD, _PROBE = 1200, 200, 40
"""Characters: a text whose last 1200 repeat with a period of 200 or less will not end. Real code repeats itself for
that long only in tables of numbers, and a table broken off is refused, not applied."""
_WORDS_WINDOW = 600
"""Characters: half of that is enough where words repeat, which tables of numbers and rulers do not hold."""
_SHORTER = 8
"""The least rounds of words in that window."""
_LEAST_NEW = 400
"""Bytes that a reply grows by, or a tenth of it, before its code is read again."""

_BYTES_PER_TOKEN = 8
"""Twice the mean of code: a server that has sent this many bytes for each token asked for ignores `max_tokens`."""

_FINISH: Mapping[str, Finish] = {
    **dict.fromkeys(("length", "max_tokens", "model_length"), "length"),
    **dict.fromkeys(
        (
            "content_filter", "sensitive", "safety", "error", "network_error", "insufficient_system_resource", "abort",
            "aborted", "cancelled", "canceled", "timeout",
        ),
        "cut",
    ),
}  # fmt: skip
"""Reasons that do not mean "done" (of OpenAI, Mistral, DeepSeek, Zhipu, OpenRouter, vLLM); all others do."""


@dataclass(slots=True)
class StreamReader:
    """The reply so far; times by `time.monotonic`, `pieces` as in `events.Requested`, `reason` the server's word.

    `overrun` is asked whether the text continues after its end.
    """

    started: float = field(default_factory=time.monotonic)
    first_at: float | None = None
    last_at: float | None = None
    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    pieces: list[tuple[float, int, int]] = field(default_factory=list)
    reason: str | None = None
    usage: Usage | None = None
    runaway: str = ""
    overrun: Callable[[str], bool] | None = None
    _bytes: int = 0
    _checked: int = 0
    _read: int = 0

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(self.texts)

    @property
    def reasoning(self) -> str:
        """The model's reasoning so far, if the server separates it."""
        return "".join(self.thoughts)

    @property
    def tokens(self) -> int:
        """The approximate number of tokens; servers send one per event."""
        return len(self.texts) + len(self.thoughts)

    @property
    def writing_seconds(self) -> float:
        """From the first token to the last."""
        return 0.0 if self.first_at is None or self.last_at is None else self.last_at - self.first_at

    @property
    def finish(self) -> Finish:
        """Its finish reason; without one the reply is incomplete."""
        if self.runaway or self.reason is None:
            return "cut"
        return _FINISH.get(self.reason, "stop")

    def take(self, chunk: Mapping[str, Any], *, max_tokens: int) -> bool:
        """Takes in one event, or a whole completion. True if it has text."""
        if isinstance(usage := chunk.get("usage"), Mapping):
            self.usage = _usage(usage)
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, Mapping):
            return False
        delta = choice.get("delta") or choice.get("message")
        reason = choice.get("finish_reason")
        self.reason = reason if isinstance(reason, str) and reason else self.reason
        if not isinstance(delta, Mapping):
            return False
        text = _string(delta.get("content"))
        thought = _string(delta.get("reasoning_content") or delta.get("reasoning"))
        if not (text or thought):
            return False
        self.last_at = time.monotonic()
        self.first_at = self.first_at or self.last_at
        self.pieces.append((round(self.last_at - self.started, 3), len(text), len(thought)))
        if text:
            self.texts.append(text)
        if thought:
            self.thoughts.append(thought)
        self._watch(text + thought, max_tokens)
        return True

    def _watch(self, new: str, max_tokens: int) -> None:
        self._bytes += len(new.encode("utf-8", "replace"))
        if self.reason is None and self._bytes > _BYTES_PER_TOKEN * max_tokens:
            self.runaway = f"it wrote far more than the limit of {max_tokens} tokens"
        elif self._bytes - self._checked >= _LONGEST_PERIOD:
            self._checked = self._bytes
            if repeats(_tail(self.texts if self.texts else self.thoughts, _LOOP_WINDOW)):
                self.runaway = "it repeats itself"
            elif self.overrun is not None and self._bytes - self._read >= max(_LEAST_NEW, self._read // 10):
                self._read = self._bytes
                if self.overrun(self.text):
                    self.runaway = "it continues after its code"


def repeats(tail: str) -> bool:
    """True if a text ends in one short piece over and over."""
    if tail.isspace():
        return len(tail) >= _LOOP_WINDOW
    words = tail[-_WORDS_WINDOW:]
    if len(words) == _WORDS_WINDOW and any(each.isalpha() for each in words):
        period = _period(words)
        if 0 < period <= _WORDS_WINDOW // _SHORTER:
            return True
    return len(tail) >= _LOOP_WINDOW and 0 < _period(tail) <= _LONGEST_PERIOD


def _period(text: str) -> int:
    """The length of the piece that a text consists of; 0 if there is none."""
    earlier = text.rfind(text[-_PROBE:], 0, -1)
    period = len(text) - _PROBE - earlier
    return period if earlier >= 0 and text[:-period] == text[period:] else 0


def _tail(pieces: list[str], length: int) -> str:
    """The last characters, without joining a long text at every event."""
    start, size = len(pieces), 0
    while start and size < length:
        start -= 1
        size += len(pieces[start])
    return "".join(pieces[start:])[-length:]


def _string(content: object) -> str:
    """A delta's text: a string, or a list of parts as some servers send it."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return ""


def _usage(usage: Mapping[str, Any]) -> Usage:
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else 0
    return Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")), _count(cached))


def _count(number: object) -> int:
    return number if isinstance(number, int) and number > 0 else 0
