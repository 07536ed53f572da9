"""Progress and results of a batch, for a person and for a program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.errors import StetError
from stet_ls.engine.plurals import plural
from stet_ls.server.cli.terminal import render
from stet_ls.server.cli.terminal.status import StatusLine, bar, print_status


class TargetState(StrEnum):
    """What became of one target."""

    WRITTEN = "written"
    OFFERED = "offered"
    """There is an edit; nothing was written."""
    ANSWERED = "answered"
    """A success without an edit, such as an explanation."""
    NOTHING_TO_DO = "unneeded"
    REFUSED = "refused"
    REFUTED = "refuted"
    RISKY = "risky"
    """No check ran the edit, or it adds a risk, that `--accept-risk` does not name, so it was not written."""
    FAILED = "failed"
    """An error; the only state of a target that ended which `--resume` runs again."""


GOOD = frozenset({TargetState.WRITTEN, TargetState.OFFERED, TargetState.ANSWERED, TargetState.NOTHING_TO_DO})


@dataclass(frozen=True, slots=True)
class TargetResult:
    """The result of one target; `error` is set if it failed."""

    target: str
    state: TargetState
    seconds: float
    answer: Answer | None = None
    error: StetError | None = None

    @property
    def message(self) -> str:
        """One sentence."""
        return str(self.error) if self.error else self.answer.message if self.answer else ""

    @property
    def calls(self) -> int:
        """The model calls of its job; 0 if it failed, since an error does not carry them."""
        return self.answer.metadata.calls if self.answer else 0

    @property
    def tokens(self) -> int:
        """The tokens of those calls."""
        return self.answer.metadata.tokens.prompt + self.answer.metadata.tokens.completion if self.answer else 0

    def to_json(self) -> dict[str, Any]:
        """The line of `--json`."""
        return {
            "target": self.target,
            "state": self.state.value,
            "seconds": round(self.seconds, 3),
            "error": str(self.error) if self.error else "",
            "answer": self.answer.to_json() if self.answer else None,
        }


class BatchProgress:
    """A bar on a terminal; a line for each finished target elsewhere."""

    def __init__(self, total: int) -> None:
        self._line = StatusLine()
        self._total, self._done = total, 0
        self.running: dict[str, None] = {}
        """The targets whose jobs run now."""

    def started(self, target: str) -> None:
        """A job began."""
        self.running[target] = None
        self._draw()

    def finished(self, result: TargetResult) -> None:
        """A job ended. Leaves no line, so that its result can be printed."""
        self._done += 1
        self.running.pop(result.target, None)
        self._line.clear()
        if not self._line.is_shown:
            sentence = result.message.partition("\n")[0]
            print_status(f"[{self._done}/{self._total}] {result.target}: {result.state}: {sentence}")

    def clear(self) -> None:
        """Removes the bar."""
        self._line.clear()

    def _draw(self) -> None:
        names = ", ".join(self.running)
        self._line.show(f"{bar(self._done, self._total)} {self._done}/{self._total} {names[:_NAMES]}")


_NAMES = 40


def summary(results: Sequence[TargetResult], left: Sequence[str], before: int, shard: str, seconds: float) -> Any:
    """The totals as JSON; the last line of `--json`."""
    return {
        "targets": len(results) + len(left) + before,
        "states": dict(sorted(Counter(result.state.value for result in results).items())),
        "finished_before": before,
        "not_run": list(left),
        "calls": sum(result.calls for result in results),
        "tokens": sum(result.tokens for result in results),
        "seconds": round(seconds, 3),
        "shard": shard,
    }


def table(results: Sequence[TargetResult], left: Sequence[str]) -> list[str]:
    """A row for each target, sorted, and the targets that did not run."""
    rows = [("target", "result", "calls", "tokens", "seconds", "")]
    for each in sorted(results, key=lambda result: result.target):
        numbers = (str(each.calls), str(each.tokens), f"{each.seconds:.1f}")
        rows.append((each.target, each.state.value, *numbers, each.message.partition("\n")[0]))
    rows += [(target, "not run", "", "", "", "") for target in sorted(left)]
    return list(render.table(rows))


def totals(total: Any) -> str:
    """The totals as one line."""
    states = ", ".join(f"{count} {state}" for state, count in total["states"].items())
    parts = [states or "nothing to do"]
    if total["finished_before"]:
        parts.append(f"{total['finished_before']} finished before")
    if total["not_run"]:
        parts.append(f"{len(total['not_run'])} not run")
    spent = f"{plural(total['calls'], 'model call')}, {plural(total['tokens'], 'token')}, {total['seconds']:.1f} s"
    return f"{plural(total['targets'], 'target')}: {', '.join(parts)}; {spent}"
