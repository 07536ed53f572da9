"""Runs of several steps in one box, a compiler and then its program: what is to be run, and what each step said."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stet_ls.engine.runners.report import SuiteOutcome
from stet_ls.engine.runners.report_channel import FOLDER, Event, placed
from stet_ls.engine.runners.reporter_events import ReporterEvents
from stet_ls.engine.sandbox.files import mounts
from stet_ls.engine.sandbox.spec import Limits, RunSpec


@dataclass(frozen=True, slots=True)
class BoxStep:
    """One command. After a `needed` one that failed no other runs. `seconds` are its own, as those of `Limits`.

    `hide` are files that are removed before it starts; `merge` puts what it writes to both streams in one order. In
    words and variables `@TMP@` stands for the box's folder for temporary files.
    """

    name: str
    argv: tuple[str, ...]
    seconds: float
    needed: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    hide: tuple[str, ...] = ()
    merge: bool = False


@dataclass(slots=True)
class StepOutput:
    """What came of a step: its lines per stream, and its end. `code` is negative for a signal, None if it never ended.

    `side` are the lines that it sent beside its output; `why` says by which limit it was stopped.
    """

    out: list[str] = field(default_factory=list)
    err: list[str] = field(default_factory=list)
    side: list[str] = field(default_factory=list)
    code: int | None = None
    why: str = ""
    seconds: float = 0.0

    @property
    def text(self) -> str:
        """Everything it printed."""
        return "\n".join([*self.out, *self.err])

    @property
    def well(self) -> bool:
        """True if it ended by itself, with 0."""
        return self.code == 0 and not self.why


def spec(
    nonce: str,
    steps: Sequence[BoxStep],
    *,
    files: Mapping[str, bytes],
    binds: Iterable[Path],
    env: Mapping[str, str],
    limits: Limits,
) -> RunSpec:
    """The run of `steps`, by the interpreter that Stet itself runs on, without its packages."""
    job = {
        "steps": [
            {
                "name": step.name,
                "argv": step.argv,
                "seconds": step.seconds,
                "needed": step.needed,
                "env": {**env, **step.env},
                "hide": step.hide,
                "merge": step.merge,
            }
            for step in steps
        ]
    }
    python = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    return RunSpec(
        (str(python), "-I", "-S", FOLDER),
        files={**placed("relay_main", nonce), f"{FOLDER}/job.json": json.dumps(job).encode(), **files},
        # Programs of the steps come first on the path, and nothing of the relay's: its folder holds a Python.
        binds=(*binds, *mounts.interpreter(python)),
        limits=limits,
    )


def said(events: Iterable[Event]) -> dict[str, StepOutput]:
    """Each step that said something or ended, by name."""
    steps: dict[str, StepOutput] = {}
    for event in events:
        step = steps.setdefault(str(event.get("step")), StepOutput())
        if event["event"] == "line":
            {"out": step.out, "err": step.err, "side": step.side}[str(event["stream"])].append(str(event["text"]))
        elif event["event"] == "exit":
            step.code, step.why = int(event["code"]), str(event["why"])
            step.seconds = float(event["seconds"])
    return steps


def ended(events: Sequence[Event], steps: Mapping[str, StepOutput]) -> ReporterEvents:
    """Findings with what is the same for all: whether the relay came to its end, what it could not start."""
    found = ReporterEvents(finished=any(event["event"] == "done" for event in events))
    for step in steps.values():
        if step.code == _NOT_FOUND and step.why:
            found.absent = step.why.partition(":")[0]
        elif step.why:
            found.stopped = SuiteOutcome.TIMEOUT if step.why == "timeout" else SuiteOutcome.LIMIT
    return found


_NOT_FOUND = 127
