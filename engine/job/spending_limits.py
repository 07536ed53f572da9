"""Spending limits, for one job and for all jobs of a day. Checked before each call, so that no call exceeds them."""

from __future__ import annotations

from dataclasses import dataclass

from stet_ls.engine.errors import LimitError
from stet_ls.engine.job.ledger import LedgerFile
from stet_ls.engine.settings.schema import Spending


@dataclass(frozen=True, slots=True)
class Spend:
    """Tokens sent and received, and what they cost in the currency of the providers' prices."""

    tokens: int = 0
    cost: float = 0.0

    def plus(self, other: Spend) -> Spend:
        """Both together."""
        return Spend(self.tokens + other.tokens, self.cost + other.cost)


class SpendingLimiter:
    """One user's limits, and what running jobs have spent of them; ended jobs of all servers are in the ledger."""

    def __init__(self, limits: Spending, ledger: LedgerFile) -> None:
        self._limits = limits
        self._ledger = ledger
        self._running: dict[str, Spend] = {}
        self._ended_today = Spend()

    def reserve(self, job: str, spent: Spend, call: Spend) -> None:
        """Lets a job that `spent` so much make a `call` of at most that. Raises LimitError. Reads the ledger."""
        if self._limits.daily_tokens or self._limits.daily_cost:
            today = self._ledger.today()
            self._ended_today = Spend(today.tokens, today.cost)
        self.renew(job, spent, call)

    def renew(self, job: str, spent: Spend, call: Spend) -> None:
        """Reserves again within a call whose last request failed, by the ledger as last read."""
        limits = self._limits
        planned = spent.plus(call)
        if limits.job_cost and planned.cost > limits.job_cost:
            raise LimitError(
                f"This job's next call may cost {call.cost:.4g} and {limits.job_cost - spent.cost:.4g} is left of "
                f"{limits.job_cost:g}. Raise spending.job_cost, or ask for less."
            )
        if limits.daily_tokens or limits.daily_cost:
            before = self._today(without=job).plus(spent)
            _hold("daily_tokens", limits.daily_tokens, before.tokens, call.tokens)
            _hold("daily_cost", limits.daily_cost, before.cost, call.cost)
        self._running[job] = planned

    def settle(self, job: str, spent: Spend) -> None:
        """The call has ended: the job spent so much in total."""
        self._running[job] = spent

    def close(self, job: str) -> None:
        """The job has ended, and is in the ledger."""
        self._ended_today = self._ended_today.plus(self._running.pop(job, Spend()))

    def _today(self, *, without: str) -> Spend:
        sum_ = self._ended_today
        for job, spent in self._running.items():
            if job != without:
                sum_ = sum_.plus(spent)
        return sum_


def _hold(key: str, limit: float, before: float, call: float) -> None:
    if limit and before + call > limit:
        raise LimitError(
            f"Today's limit of {limit:,g} (spending.{key}) holds: the next call may take {call:,.6g} and "
            f"{max(limit - before, 0):,.6g} is left. Raise it, or wait until tomorrow (UTC)."
        )
