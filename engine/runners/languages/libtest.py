"""Rust's libtest, by its printed output: the stable toolchain has no other report. It captures what tests print."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from stet_ls.engine.runners.box_steps import BoxStepOutput
from stet_ls.engine.runners.languages.compiler_output import died
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report import AssertComparison, CaseFailure, CaseOutcome, CaseResult, Phase
from stet_ls.engine.runners.reporter_events import ReporterEvents, frame_at

_SOURCE = re.compile(r"^\s+(?:Running (?:unittests )?(\S+) \(.*\)|Doc-tests (\S+))$")
_NAMED = re.compile(r"^(.+): test$")
_BEGUN = re.compile(r"^test (.+?)(?: - should panic| - compile(?: fail)?)* \.\.\. ?(.*)$")
_ENDED = re.compile(r"(?:^|.*?)(ok|FAILED|ignored(?:, .*)?)$")
_SUMMARY = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored")
_PRINTED = re.compile(r"^---- (.+?) stdout ----$")
_PANIC = re.compile(r"panicked at (?:'(?P<old>.*)', )?(?P<path>[^\s:]+):(?P<line>\d+):\d+:?\n?(?P<new>(?:.*\n?)*)")
_SIDES = re.compile(r"^assertion `left (==|!=) right` failed(?:: (.*))?\n\s+left: (.*)\n\s*right: (.*)", re.MULTILINE)
_HERE = PurePosixPath()
_OUTCOMES = {"ok": CaseOutcome.PASSED, "FAILED": CaseOutcome.FAILED}


def listed(lines: Sequence[str], source: str, crate: PurePosixPath = _HERE) -> Iterator[str]:
    """The names in a listing, each prefixed with its source if cargo lists several harnesses (`source` not "").

    `crate` is the folder that cargo's names are relative to, itself relative to the working folder.
    """
    current = source
    for line in lines:
        if match := _SOURCE.match(line):
            current = _source(match, crate)
        elif match := _NAMED.match(line):
            yield f"{current}::{match[1]}" if current else match[1]


def read(
    found: ReporterEvents, ran: BoxStepOutput, plan: TestPlan, source: str, crate: PurePosixPath = _HERE, root: str = ""
) -> None:
    """Adds the cases of a run. It is finished only if each harness' summary matches the number of cases read.

    Sources are relative to `crate`, places in panics to the folder `root` (the working folder by default).
    """
    reader = _Reader(source, crate)
    for line in ran.out:
        reader.line(line)
    for name, outcome in reader.outcomes.items():
        text = "\n".join(reader.printed.get(name, ()))
        failure = _failure(text, plan, root or plan.root) if outcome is CaseOutcome.FAILED else None
        found.cases.append(CaseResult(name, outcome, 0.0, failure, text[-2000:]))
    if reader.running:
        found.running = (*found.running, reader.running)
        found.cases.append(CaseResult(reader.running, CaseOutcome.ERROR, 0.0, died(ran)))
    if ran.code is None or reader.open or not reader.counted or (ran.code == 0 and not reader.right):
        found.finished = False
    found.exit = found.exit or (ran.code if ran.code is not None else 1)


def _source(match: re.Match[str], crate: PurePosixPath) -> str:
    return str(crate / match[1]) if match[1] else match[2]


class _Reader:
    """The lines of one or several harnesses."""

    def __init__(self, source: str, crate: PurePosixPath) -> None:
        self._source, self._crate = source, crate
        self.outcomes: dict[str, CaseOutcome] = {}
        self.printed: dict[str, list[str]] = {}
        self.running = ""
        self.open = False
        self.counted = False
        self.right = True
        self._of: str | None = None
        self._since = 0

    def line(self, line: str) -> None:
        if match := _SOURCE.match(line):
            self._source, self._of = _source(match, self._crate), None
        elif re.match(r"^running \d+ tests?$", line):
            self.open, self._since = True, len(self.outcomes)
        elif match := _SUMMARY.match(line):
            self._count(match)
        elif match := _PRINTED.match(line):
            self._of = f"{self._source}::{match[1]}"
        elif self._of is not None and line in ("failures:", "successes:"):
            self._of = None
        elif self._of is not None:
            self.printed.setdefault(self._of, []).append(line)
        elif match := _BEGUN.match(line):
            self.running = f"{self._source}::{match[1]}"
            self._end(match[2])
        elif self.running:
            self._end(line)

    def _end(self, text: str) -> None:
        """The outcome after a name, unless something was printed in between that libtest does not capture."""
        match = _ENDED.match(text)
        if match is None:
            return
        outcome = _OUTCOMES.get(match[1], CaseOutcome.SKIPPED)
        if self.outcomes.get(self.running) is not CaseOutcome.FAILED:
            self.outcomes[self.running] = outcome
        self.running = ""

    def _count(self, match: re.Match[str]) -> None:
        read_here = list(self.outcomes.values())[self._since :]
        kinds = (CaseOutcome.PASSED, CaseOutcome.FAILED, CaseOutcome.SKIPPED)
        self.right = self.right and [read_here.count(kind) for kind in kinds] == [int(each) for each in match.groups()]
        self.open, self.counted = False, True


def _failure(text: str, plan: TestPlan, root: str) -> CaseFailure:
    match = _PANIC.search(text)
    if match is None:
        return CaseFailure("TestFailure", text.strip() or "it failed", Phase.CALL)
    message = (match["old"] or match["new"]).partition("\nnote: ")[0].strip()
    frame = frame_at(posixpath.normpath(posixpath.join(root, match["path"])), int(match["line"]), "", plan)
    sides = _SIDES.search(message)
    comparison = AssertComparison(sides[1], sides[3], sides[4]) if sides else None
    return CaseFailure("panic", message, Phase.CALL, comparison=comparison, frames=(frame,))
