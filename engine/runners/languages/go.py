"""Go's tests by `go test -json`, with an added last test in each package that proves it finished."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from stet_ls.engine.runners import box_steps, expected_tests, toolchain
from stet_ls.engine.runners.box_steps import BoxStep
from stet_ls.engine.runners.languages.compiler_output import build_errors
from stet_ls.engine.runners.plan import SuiteOwner, TestPlan
from stet_ls.engine.runners.report import CaseFailure, CaseOutcome, CaseResult, Phase
from stet_ls.engine.runners.report_channel import Event, token
from stet_ls.engine.runners.reporter_events import ReporterEvents, frame_at
from stet_ls.engine.sandbox.spec import COMPILE, RunSpec

_SECONDS = 55.0
_ERROR = re.compile(r"^(?:vet: )?(?P<path>[^\s:]+\.go):(?P<line>\d+):(?:(?P<column>\d+):)? (?P<what>.*)$", re.MULTILINE)
_PLACE = re.compile(r"^\s+(?P<path>[^\s:]+\.go):(?P<line>\d+): ?(?P<what>.*)$")
_OUTCOMES = {"pass": CaseOutcome.PASSED, "fail": CaseOutcome.FAILED, "skip": CaseOutcome.SKIPPED}
_MIB = 1 << 20
LIMITS = replace(COMPILE, processes=256, scratch=512 * _MIB, scratch_files=20_000)
"""The limits of a run."""


class Go:
    """`go test`, offline: only the module cache is available. The build cache exists only in the sandbox."""

    name = "go"
    install = "go (https://go.dev/dl)"

    def fits(self, plan: TestPlan) -> bool:
        """True: this is the only runner."""
        return True

    def prepare(self, plan: TestPlan, nonce: str) -> RunSpec:
        """Runs the packages of the plan's tests, or all."""
        program = toolchain.find("go", install=self.install)
        modules = Path(os.environ.get("GOMODCACHE") or Path(os.environ.get("GOPATH") or Path.home() / "go") / "pkg/mod")
        last = f"TestStet{token(nonce)}"
        packages = sorted({_package(test) for test in plan.tests}) or ["./..."]
        pattern = _pattern(plan, last)
        argv = (str(program.path), "test", "-json", "-count=1", "-vet=off", *pattern, *packages)
        cover = ("-cover",) if plan.coverage else ()
        return box_steps.spec(
            nonce,
            [BoxStep("test", (*argv[:2], *cover, *argv[2:]), _SECONDS)],
            files={**_module(plan), **dict(_last_tests(plan, last))},
            binds=(*program.binds, *toolchain.cache(modules)),
            env={
                "GOPROXY": "off",
                "GOTOOLCHAIN": "local",
                "GOFLAGS": "",
                "GOTELEMETRY": "off",
                "GOCACHE": "@TMP@/go-build",
                "GOMODCACHE": str(modules),
            },
            limits=LIMITS,
        )

    def read(self, plan: TestPlan, events: Sequence[Event], nonce: str) -> ReporterEvents:
        """Reads Go's own events; a package without an event for its last test did not finish."""
        steps = box_steps.outputs(events)
        found = box_steps.ended(events, steps)
        step = steps.get("test")
        if step is None:
            return found
        rows = list(_rows(step.out))
        paths = _paths(plan)
        cases: dict[str, _Case] = {}
        for row in rows:
            if name := str(row.get("Test", "")):
                folder = _folder(str(row.get("Package", "")), plan)
                top = name.partition("/")[0]
                identifier = f"{paths.get((folder, top), folder)}::{name}"
                cases.setdefault(identifier, _Case(folder)).take(row)
        ends = {identifier for identifier in cases if token(nonce) in identifier}
        ended = [cases.pop(identifier).outcome is CaseOutcome.PASSED for identifier in sorted(ends)]
        found.finished = found.finished and all(ended) and len(ended) == len({_package(test) for test in plan.tests})
        found.cases = [case.close(identifier, plan) for identifier, case in cases.items() if case.outcome]
        found.running = tuple(identifier for identifier, case in cases.items() if not case.outcome)
        plain = [line for line in step.out if not line.startswith("{")]
        plain += [str(row.get("Output", "")).rstrip("\n") for row in rows if "Test" not in row]
        step.out = plain
        if step.code and not cases and not found.stopped:
            found.collection += build_errors(plan.tests[0] if plan.tests else ".", step, plan, _ERROR)
        return found


class _Case:
    """A test: its output so far, and its end."""

    def __init__(self, folder: str) -> None:
        self.outcome: CaseOutcome | None = None
        self.output: list[str] = []
        self.seconds = 0.0
        self._folder = folder

    def take(self, row: dict[str, Any]) -> None:
        action = str(row.get("Action"))
        if action == "output":
            self.output.append(str(row.get("Output", "")))
        # A line that looks like an end may be printed by the test: a failure is not withdrawn.
        elif action in _OUTCOMES and self.outcome is not CaseOutcome.FAILED:
            self.outcome = _OUTCOMES[action]
            self.seconds = float(row.get("Elapsed") or 0.0)

    def close(self, identifier: str, plan: TestPlan) -> CaseResult:
        assert self.outcome
        text = "".join(self.output)
        own = "".join(line for line in self.output if not line.lstrip().startswith(("=== ", "--- ")))
        failure = self._failure(text, own, plan) if self.outcome is CaseOutcome.FAILED else None
        return CaseResult(identifier, self.outcome, self.seconds, failure, own[-2000:])

    def _failure(self, text: str, own: str, plan: TestPlan) -> CaseFailure:
        def frame(path: str, line: str, function: str) -> Any:
            if not path.startswith("/"):
                path = str(PurePosixPath(plan.root, self._folder, path))
            return frame_at(path, int(line), function, plan)

        if panic := re.search(r"^panic: (.*?)(?: \[recovered\].*)?$", text, re.MULTILINE):
            stack = re.findall(r"^(\S+)\(.*\)\n\t(/\S+\.go):(\d+)", text, re.MULTILINE)
            frames = tuple(frame(path, line, function) for function, path, line in reversed(stack))
            return CaseFailure("panic", panic[1], Phase.CALL, frames=frames)
        places = [match for line in own.splitlines() if (match := _PLACE.match(line))]
        frames = tuple(frame(match["path"], match["line"], "") for match in places[-1:])
        return CaseFailure(
            "TestFailure", "\n".join(match["what"] for match in places) or own[-2000:], Phase.CALL, frames=frames
        )


def _rows(lines: Sequence[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            row = json.loads(line) if line.startswith("{") else None
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row


def _package(test: str) -> str:
    folder = str(PurePosixPath(test).parent)
    return "." if folder == "." else f"./{folder}"


def _pattern(plan: TestPlan, last: str) -> tuple[str, ...]:
    if not plan.select:
        return ()
    names = sorted({identifier.rpartition("::")[2].partition("/")[0] for identifier in plan.select})
    return ("-run", f"^({'|'.join([*map(re.escape, names), last])})$")


def _module(plan: TestPlan) -> dict[str, bytes]:
    """A module file for loose files without one."""
    if plan.suite is SuiteOwner.PROJECT or plan.text("go.mod") is not None:
        return {}
    return {"go.mod": b"module box\n"}


def _last_tests(plan: TestPlan, last: str) -> Iterator[tuple[str, bytes]]:
    """A test for each package that runs after the others: Go orders files by name."""
    for package in {_package(test) for test in plan.tests}:
        texts = [plan.text(test) or "" for test in plan.tests if _package(test) == package]
        clause = next(
            (match[1] for text in texts if (match := re.search(r"^package (\w+)", text, re.MULTILINE))), "box"
        )
        text = f'package {clause}\n\nimport "testing"\n\nfunc {last}(t *testing.T) {{}}\n'
        yield f"{package.removeprefix('./')}/zz_stet_run_test.go".removeprefix("./"), text.encode()


def _folder(package: str, plan: TestPlan) -> str:
    """The folder of a package, relative to the working folder."""
    module = re.search(r"^module (\S+)", plan.text("go.mod") or "module box", re.MULTILINE)
    name = module[1] if module else ""
    return "." if package == name else package.removeprefix(f"{name}/")


def _paths(plan: TestPlan) -> dict[tuple[str, str], str]:
    """The file of each test, by folder and name."""
    return {
        (str(PurePosixPath(path).parent), name): path
        for path in plan.tests
        for name in expected_tests.go(plan.text(path) or "")
    }
