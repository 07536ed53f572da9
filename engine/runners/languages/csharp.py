"""C#'s tests by `dotnet test`, in a project with restored packages: nothing is fetched in the sandbox."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from stet_ls.engine.runners import box_steps, toolchain
from stet_ls.engine.runners.box_steps import BoxStep
from stet_ls.engine.runners.languages.compiler_output import build_errors, died
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report import CaseFailure, CaseOutcome, CaseResult, Phase
from stet_ls.engine.runners.report_channel import Event
from stet_ls.engine.runners.reporter_events import ReporterEvents
from stet_ls.engine.sandbox.spec import COMPILE, RunSpec

_SECONDS = 55.0
_CASE = re.compile(r"^  (Passed|Failed|Skipped) (\S.*?)(?: \[[^\]]*\])?$")
_TOTAL = re.compile(r"^(?:Passed|Failed)! +- Failed: +(\d+), Passed: +(\d+), Skipped: +(\d+)|^Total tests: (\d+)$")
_ERROR = re.compile(r"^\s*(?P<path>\S[^\n(]*)\((?P<line>\d+),(?P<column>\d+)\): error (?P<what>[^\[\n]*)", re.MULTILINE)
_OUTCOMES = {"Passed": CaseOutcome.PASSED, "Failed": CaseOutcome.FAILED, "Skipped": CaseOutcome.SKIPPED}
_MIB = 1 << 20
LIMITS = replace(COMPILE, data=2048 * _MIB, processes=256, scratch=256 * _MIB)
"""The limits of a run."""


class CSharp:
    """Reads the console logger's output; finished only if its count equals the number of cases read."""

    name = "dotnet"
    install = "the .NET SDK (its installer or your distribution)"

    def fits(self, plan: TestPlan) -> bool:
        """True: this is the only runner."""
        return True

    def prepare(self, plan: TestPlan, nonce: str) -> RunSpec:
        """Runs the project in the working folder."""
        dotnet = toolchain.find("dotnet", install=self.install)
        argv = (str(dotnet.path), "test", "--no-restore", "--nologo", "--logger", "console;verbosity=normal")
        env = {"DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_NOLOGO": "1", "DOTNET_CLI_HOME": "@TMP@"}
        return box_steps.spec(
            nonce, [BoxStep("test", argv, _SECONDS)], files={}, binds=dotnet.binds, env=env, limits=LIMITS
        )

    def read(self, plan: TestPlan, events: Sequence[Event], nonce: str) -> ReporterEvents:
        """A case for each line that reports one."""
        steps = box_steps.outputs(events)
        found = box_steps.ended(events, steps)
        ran = steps.get("test", box_steps.BoxStepOutput())
        total = -1
        for number, line in enumerate(ran.out):
            if match := _TOTAL.match(line):
                total = int(match[4]) if match[4] else sum(int(each) for each in match.groups()[:3])
            elif match := _CASE.match(line):
                outcome = _OUTCOMES[match[1]]
                failure = _failure(ran.out[number + 1 :]) if outcome is CaseOutcome.FAILED else None
                found.cases.append(CaseResult(match[2], outcome, 0.0, failure))
        if ran.code and not found.cases and not found.absent and not found.stopped:
            found.collection += build_errors(".", ran, plan, _ERROR)
        found.finished = found.finished and total == len(found.cases)
        found.exit = ran.code or 0
        return found


def _failure(lines: Sequence[str]) -> CaseFailure:
    text = [line.strip() for line in lines[:20]]
    message: list[str] = []
    for line in text[1:] if text[:1] == ["Error Message:"] else []:
        if line == "Stack Trace:":
            break
        message.append(line)
    return CaseFailure("TestFailure", "\n".join(message) or died(box_steps.BoxStepOutput(out=text)).message, Phase.CALL)
