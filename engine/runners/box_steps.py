"""Runs of several steps in one sandbox, such as a compiler and then its program: the steps, and their output."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from stet_ls.engine.runners.report import SuiteOutcome
from stet_ls.engine.runners.report_channel import FOLDER, Event, placed
from stet_ls.engine.runners.reporter_events import ReporterEvents
from stet_ls.engine.sandbox.files import mounts
from stet_ls.engine.sandbox.spec import Limits, RunSpec


@dataclass(frozen=True, slots=True)
class BoxStep:
    """One command. If a `needed` step fails, no later one runs. `seconds` is its own limit, as in `Limits`.

    `hide` are files that are removed before it starts; `merge` interleaves both of its output streams in order. In
    arguments and variables `@TMP@` stands for the sandbox's temporary folder.
    """

    name: str
    argv: tuple[str, ...]
    seconds: float
    needed: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    hide: tuple[str, ...] = ()
    merge: bool = False


@dataclass(slots=True)
class BoxStepOutput:
    """The output of a step: its lines per stream, and its end. `code` is negative for a signal, None if it never ended.

    `side` are the lines that it sent separately from its output; `why` names the limit that stopped it, `absent` the
    program that could not be started.
    """

    out: list[str] = field(default_factory=list)
    err: list[str] = field(default_factory=list)
    side: list[str] = field(default_factory=list)
    code: int | None = None
    why: str = ""
    absent: str = ""
    seconds: float = 0.0

    @property
    def text(self) -> str:
        """Everything it printed."""
        return "\n".join([*self.out, *self.err])

    @property
    def well(self) -> bool:
        """True if it ended by itself, with exit status 0."""
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
    job = {"steps": [asdict(step) | {"env": {**env, **step.env}} for step in steps]}
    python = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    return RunSpec(
        (str(python), "-I", "-S", FOLDER),
        files={**placed("relay_main", nonce), f"{FOLDER}/job.json": json.dumps(job).encode(), **files},
        # The steps' programs come first on the path, and the relay's folder is not on it: it holds a Python.
        binds=(*binds, *mounts.interpreter(python)),
        limits=limits,
    )


def outputs(events: Iterable[Event]) -> dict[str, BoxStepOutput]:
    """Each step that printed something or ended, by name."""
    steps: dict[str, BoxStepOutput] = {}
    for event in events:
        step = steps.setdefault(str(event.get("step")), BoxStepOutput())
        if event["event"] == "line":
            {"out": step.out, "err": step.err, "side": step.side}[str(event["stream"])].append(str(event["text"]))
        elif event["event"] == "exit":
            step.code, step.why, step.absent = int(event["code"]), str(event["why"]), str(event.get("absent", ""))
            step.seconds = float(event["seconds"])
    return steps


def ended(events: Sequence[Event], steps: Mapping[str, BoxStepOutput]) -> ReporterEvents:
    """The findings common to all runners: whether the relay finished, what it could not start."""
    found = ReporterEvents(finished=any(event["event"] == "done" for event in events))
    for step in steps.values():
        if step.absent:
            found.absent = step.absent
        elif step.why:
            found.stopped = SuiteOutcome.TIMEOUT if step.why == "timeout" else SuiteOutcome.LIMIT
    return found
