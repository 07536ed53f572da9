"""How fast an endpoint reads and writes, measured on the calls it served."""

from __future__ import annotations

from dataclasses import dataclass

from stet_ls.engine.model.chat import Usage

_WEIGHT = 0.3
"""Of the newest call in the moving average."""

_LEAST_WRITTEN, _LEAST_READ = 8, 200
"""Tokens below which the network's latency, not the model, would be measured."""

_SAFETY_FACTOR = 3.0
"""The first token may take this many times as long as the measured speed predicts for the prompt."""

LOCAL_READING = 40.0
"""Prompt tokens per second of a 1.5B model on two old cores: assumed for a server on this machine before the first
measurement. It may also have to read its weights from disk first.
"""


@dataclass(slots=True)
class Speed:
    """Tokens per second of one endpoint; None where nothing was measured. `reading` may start with an assumption."""

    writing: float | None = None
    reading: float | None = None

    def first_token_limit(self, least: float, prompt_tokens: int) -> float:
        """Seconds after which a missing first token is a fault; `least` at least."""
        return least if self.reading is None else max(least, _SAFETY_FACTOR * prompt_tokens / self.reading)

    def learn(self, usage: Usage | None, *, first_token_seconds: float, writing_seconds: float) -> None:
        """Take in a call that was served; `writing_seconds` ran from its first token to its last."""
        if usage is None:
            return
        if usage.completion_tokens >= _LEAST_WRITTEN and writing_seconds > 0:
            rate = (usage.completion_tokens - 1) / writing_seconds
            self.writing = rate if self.writing is None else self.writing + _WEIGHT * (rate - self.writing)
        read = usage.prompt_tokens - usage.cached_tokens
        if read >= _LEAST_READ and first_token_seconds > 0:
            rate = read / first_token_seconds
            # Many servers hide what they had cached and so look fast; a slow call is always accurate.
            if self.reading is None or rate < self.reading:
                self.reading = rate
            else:
                self.reading += _WEIGHT * (rate - self.reading)
