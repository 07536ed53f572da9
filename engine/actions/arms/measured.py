"""What the ledger knows of the arms: how often they succeeded, how long they took, and how they failed lately."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from stet_ls.engine.actions.arms.arm import Arm
from stet_ls.engine.api.arms import ArmHealth, ArmState
from stet_ls.engine.api.plan import STEP_KINDS
from stet_ls.engine.job.ledger import AT, ArmUse, JobEnd, LedgerEntry, LedgerFile, days_ago

_DAYS, _JOBS = 30, 500
"""How far back the record of an arm goes: reading more of a ledger takes longer than a step may wait."""
_FAILURES = 5
"""Failures in a row after which an arm counts as degraded."""
_REST = timedelta(minutes=10)
"""How long it does so after the last of them; then it gets another chance."""
_DONE = (JobEnd.OFFERED,)
_SLOW = 30.0
"""Seconds of a step at which an arm counts as half as fast as one that takes none."""


@dataclass(frozen=True, slots=True)
class ArmRecord:
    """What an arm did in the last days. `failing` steps failed in a row until now; `last` is when (UTC, ledger's form).

    One entry of the ledger holds the steps of a whole task: a row of failures ends with an entry that has a success.
    """

    use: ArmUse = field(default_factory=ArmUse)
    failing: int = 0
    last: str = ""

    def plus(self, use: ArmUse, at: str) -> ArmRecord:
        """The record with a later entry."""
        return ArmRecord(self.use.plus(use), 0 if use.done else self.failing + use.tried, at)

    @property
    def seconds(self) -> float | None:
        """The average seconds of a step; None before the first."""
        return self.use.seconds / self.use.tried if self.use.tried else None

    @property
    def success(self) -> float:
        """The chance that a step succeeds, by Laplace's rule: an arm without a record is worth one half."""
        return (self.use.done + 1) / (self.use.tried + 2)

    def health(self, moment: datetime) -> ArmHealth:
        """Degraded for some minutes after several failures in a row."""
        if self.failing < _FAILURES or moment - datetime.strptime(self.last, AT).replace(tzinfo=UTC) > _REST:
            return ArmHealth()
        return ArmHealth(ArmState.DEGRADED, f"{self.failing} failures in a row")

    def to_json(self) -> dict[str, Any]:
        """The record as in `stet.capabilities`."""
        seconds = None if self.seconds is None else round(self.seconds, 3)
        return {"tried": self.use.tried, "done": self.use.done, "failing": self.failing, "seconds": seconds}


def speed(record: ArmRecord, typical: float) -> float:
    """How fast an arm is, from 0 to 1: by its measured seconds a step, else by the `typical` ones that it declares."""
    return 1 / (1 + (typical if record.seconds is None else record.seconds) / _SLOW)


def worse(one: ArmHealth, other: ArmHealth) -> ArmHealth:
    """The worse of two states, with the reasons of both."""
    if ArmState.HEALTHY in (one.state, other.state):
        return other if one.state is ArmState.HEALTHY else one
    state = ArmState.DOWN if ArmState.DOWN in (one.state, other.state) else ArmState.DEGRADED
    return ArmHealth(state, f"{one.reason}; {other.reason}")


def measured_arms(ledger: LedgerFile, arms: Mapping[str, Arm]) -> dict[str, ArmRecord]:
    """The records of the arms: of steps of tasks, and of jobs that an arm would have done. Reads files."""
    records: dict[str, ArmRecord] = {}
    for entry in ledger.latest(_JOBS, since=days_ago(_DAYS)):
        for name, use in _uses(entry, arms):
            records[name] = records.get(name, ArmRecord()).plus(use, entry.at)
    return records


def _uses(entry: LedgerEntry, arms: Mapping[str, Arm]) -> Iterator[tuple[str, ArmUse]]:
    """The arms of an entry. A job that the user cancelled shows nothing about its arm."""
    for name, row in entry.arms.items():
        yield name, ArmUse(int(row.get("tried", 0)), int(row.get("done", 0)), float(row.get("seconds", 0.0)))
    kind = STEP_KINDS.get(entry.action)
    if entry.arms or kind is None or entry.ended == JobEnd.CANCELLED:
        return
    use = ArmUse(1, int(entry.ended in _DONE), entry.seconds)
    yield from ((name, use) for name, arm in arms.items() if arm.spec.capabilities[0] is kind.capability)
