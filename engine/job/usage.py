"""What one job used."""

from __future__ import annotations

from dataclasses import dataclass, field

from stet_ls.engine.api.review import Review
from stet_ls.engine.job.ledger import ArmUse
from stet_ls.engine.job.spending_limits import Spend
from stet_ls.engine.model.chat import Completion
from stet_ls.engine.sandbox.isolation import IsolationReport


@dataclass
class JobUsage:
    """What a job spent. Tokens are the endpoint's own count, or 0 if it reports none.

    `uncounted` are tokens of requests that no endpoint counted, see `events.UnmeteredUsage`. `cost` is in the currency
    of the providers' prices; None as soon as one call's price is unknown; `known_cost` skips such calls. `isolation` is
    the weakest sandbox in which code ran, None if none did. `review` is that of the chosen candidate,
    `no_tests` the reason why no tests were written for it. `cached` counts replies from the cache.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = 0.0
    known_cost: float = 0.0
    uncounted: int = 0
    stages: dict[str, float] = field(default_factory=dict)
    model: str = ""
    endpoint: str = ""
    warnings: list[str] = field(default_factory=list)
    isolation: IsolationReport | None = None
    review: Review | None = None
    no_tests: str = ""
    cached: int = 0
    in_flight: dict[int, Spend] = field(default_factory=dict)
    """The most that each current call can take: the steps of a task may call at the same time."""
    arms: dict[str, ArmUse] = field(default_factory=dict)
    """What each arm of a task did."""

    def warn(self, sentence: str) -> None:
        """Adds a warning of the answer, with its full stop."""
        self.warnings.append(f"{sentence.rstrip('.')}.")

    def book(self, completion: Completion) -> None:
        """Counts a call, or a reply from the cache."""
        if completion.cached:
            self.cached += 1
        else:
            self.calls += 1
        self.model, self.endpoint = completion.model, completion.endpoint
        self.warnings += [warning for warning in completion.warnings if warning not in self.warnings]
        self.cost = None if self.cost is None or completion.cost is None else self.cost + completion.cost
        self.known_cost += completion.cost or 0.0
        if completion.usage is not None:
            self.prompt_tokens += completion.usage.prompt_tokens
            self.completion_tokens += completion.usage.completion_tokens
            self.cached_tokens += completion.usage.cached_tokens
