"""The time of one job: what its settings allow, what a slow model gets in addition, what is left."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

from stet_ls.engine.api.budget import Budget
from stet_ls.engine.model.profiles.profiles import Profile

SLOW_LIMIT = 90.0
"""Seconds for all calls of a job on a slow model; the first call is always made."""
FIRST_CALL_LIMIT = 300.0
"""Seconds that the first call of a job may take on a model which is slow or not yet measured."""

JUDGING = 8.0
"""Minimum seconds for the judges of a candidate, model or not."""

_TO_FINISH = 10.0
"""Additional seconds in which a job may put its answer together before it is stopped."""

_SLOW = 40.0
"""Tokens per second below which a model's jobs get more time than the interactive deadline."""

_LEEWAY = 2.0
"""A call may take this many times as long as the measured speed predicts."""

_WRITING_SHARE = 0.6
"""Share of a slow model's time for writing the reply; the prompt has to be read first."""


@dataclass
class Deadline:
    """All in seconds. `allowed` is the setting; `waited` for a turn, a person or packages is not job time."""

    allowed: float
    budget: Budget
    profile: Profile
    started: float = field(default_factory=time.monotonic)
    waited: float = 0.0
    added: float = 0.0
    """For the steps of a task, each of which has its own deadline."""
    due: float | None = None
    """The moment (monotonic) at which the user wants a task to be done, waiting included; None for no limit."""

    @property
    def limit(self) -> float:
        """Seconds of work that the job may take."""
        allowed = self.allowed * 4 if self.budget in (Budget.THOROUGH, Budget.TASK) else self.allowed
        return max(allowed, SLOW_LIMIT) if self._is_slow else allowed

    @property
    def end(self) -> float:
        """Seconds of work after which a job is stopped in any stage: more than all of its stages may take together."""
        return self.limit + (FIRST_CALL_LIMIT if self._is_slow else 0.0) + JUDGING + _TO_FINISH + self.added

    def seconds(self) -> float:
        """Seconds since the job started."""
        return time.monotonic() - self.started

    def left(self) -> float:
        """Seconds of work that the job may still take."""
        left = self.limit - (self.seconds() - self.waited)
        return left if self.due is None else min(left, -self.late)

    @property
    def late(self) -> float:
        """Seconds since the task was due; negative before, and if it never is."""
        return -math.inf if self.due is None else time.monotonic() - self.due

    def of_call(self, prompt_tokens: int, reply_tokens: int, *, is_first: bool) -> float:
        """Seconds that a call may take. The first call of a slow model ignores the deadline."""
        left = max(self.left(), 1.0)
        if not is_first or not self._is_slow or self.due is not None:
            return left
        expected = self.profile.seconds_for(round(prompt_tokens * self.profile.token_factor), reply_tokens)
        return max(left, FIRST_CALL_LIMIT if expected is None else min(_LEEWAY * expected, FIRST_CALL_LIMIT))

    def reply_room(self, wanted: int, least: int) -> int:
        """Tokens from `least` to `wanted` for a reply that may be cut: what a slow model writes in its time."""
        rate = self.profile.tokens_per_second
        if rate is None or not self._is_slow:
            return wanted
        return max(least, min(wanted, int(rate * SLOW_LIMIT * _WRITING_SHARE) - self.profile.thought))

    @property
    def _is_slow(self) -> bool:
        return self.profile.tokens_per_second is None or self.profile.tokens_per_second < _SLOW
