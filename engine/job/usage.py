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
    """What a job spent until now."""

    calls: int = 0
    """Number of model calls, without replies from the cache."""
    prompt_tokens: int = 0
    """As the endpoint counts them; 0 if it reports none."""
    completion_tokens: int = 0
    """As the endpoint counts them; 0 if it reports none."""
    cached_tokens: int = 0
    """Prompt tokens that the endpoint had in its own cache."""
    cost: float | None = 0.0
    """In the currency of the providers' prices; None as soon as one call's price is unknown."""
    known_cost: float = 0.0
    """The same, without calls of unknown price."""
    uncounted: int = 0
    """Tokens of requests that no endpoint counted, see `events.UnmeteredUsage`."""
    stages: dict[str, float] = field(default_factory=dict)
    """Seconds per stage."""
    model: str = ""
    """Model of the last call, "" before the first."""
    endpoint: str = ""
    """Name of its endpoint."""
    warnings: list[str] = field(default_factory=list)
    """Sentences for the answer."""
    isolation: IsolationReport | None = None
    """The weakest sandbox in which code ran; None if none did."""
    review: Review | None = None
    """The review of the chosen candidate; None without one."""
    no_tests: str = ""
    """Why no tests were written for that candidate, "" if they were."""
    cached: int = 0
    """Number of replies from the cache."""
    in_flight: dict[int, Spend] = field(default_factory=dict)
    """The most that each current call can take: the steps of a task may call at the same time."""
    arms: dict[str, ArmUse] = field(default_factory=dict)
    """What each arm of a task did."""

    def warn(self, sentence: str) -> None:
        """Adds a warning of the answer, with its full stop."""
        self.warnings.append(f"{sentence.rstrip('.')}.")

    def add_call(self, completion: Completion) -> None:
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
