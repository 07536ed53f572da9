"""How a model's token counts relate to our estimate, learned from what endpoints report."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from statistics import median

_KEPT, _ENOUGH = 15, 3
"""Ratios that are kept, and the minimum to use them. Their median ignores single wrong counts."""

_LEAST_COMPARED = 200
"""Tokens below which a chat template's own tokens weigh too much."""

_PLAUSIBLE = (0.5, 2.0)
"""No tokenizer is further from the estimate than this on text of a few hundred tokens."""

_CUT = 0.6
"""An endpoint that counts fewer than this share of the tokens cut the prompt, as Ollama does silently."""


class TokenCalibration:
    """The ratios of one model: counted by the endpoint, divided by estimated."""

    def __init__(self, ratios: Iterable[float] = ()) -> None:
        self._ratios: deque[float] = deque(ratios, maxlen=_KEPT)

    @property
    def ratios(self) -> tuple[float, ...]:
        """The newest ones, as they are stored."""
        return tuple(self._ratios)

    @property
    def factor(self) -> float:
        """The factor for an estimate; 1 until there are enough ratios."""
        return median(self._ratios) if len(self._ratios) >= _ENOUGH else 1.0

    def learn(self, estimated: int, counted: int) -> None:
        """Takes in one prompt. A truncated prompt or an implausible count is ignored."""
        if estimated < _LEAST_COMPARED or self.was_cut(estimated, counted):
            return
        ratio = counted / estimated
        if _PLAUSIBLE[0] <= ratio <= _PLAUSIBLE[1]:
            self._ratios.append(round(ratio, 3))

    def was_cut(self, estimated: int, counted: int) -> bool:
        """True if the endpoint read far less than was sent to it."""
        return estimated >= _LEAST_COMPARED and 0 < counted < _CUT * self.factor * estimated
