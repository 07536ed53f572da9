"""Runs Jest and Vitest with a project's own configuration and version, and a reporter of Stet's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from stet_ls.engine.runners import box_steps, report_channel, toolchain
from stet_ls.engine.runners.box_steps import BoxStep
from stet_ls.engine.runners.languages.node import NODE, escaped, reported_events
from stet_ls.engine.runners.languages.script_calls import call_steps, found_calls, own_steps
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report_channel import FOLDER, Event
from stet_ls.engine.runners.reporter_events import ReporterEvents, case_results
from stet_ls.engine.runners.toolchain import MissingToolError
from stet_ls.engine.sandbox.spec import TESTS, Limits, RunSpec

_SECONDS = 28.0
_MIB = 1024 * 1024
LIMITS = Limits(seconds=TESTS.seconds, processes=256, scratch=256 * _MIB, scratch_files=20_000)


@dataclass(slots=True)
class Framework:
    """One of the two. `program` is the path in its package. `options` come before the files, with `@REPORTER@` and
    `@ROOT@` for places in the sandbox; `only` is the option that takes a pattern of names.
    """

    name: str
    program: str
    reporter: str
    options: tuple[str, ...]
    only: str
    install: str = "npm install, in the project: its package.json names it"

    def fits(self, plan: TestPlan) -> bool:
        """The first test's package names it, and that test is not written for Node's own runner."""
        text = plan.text(plan.tests[0]) if plan.tests else None
        return _names(plan, self.name) and "node:test" not in (text or "")

    def prepare(self, plan: TestPlan, nonce: str) -> RunSpec:
        """Runs the program nearest to the package, with the package's own configuration."""
        node = toolchain.find("node", install=NODE)
        reporter = f"{FOLDER}/{self.reporter}"
        program, *given = self._started(plan)
        options = [each.replace("@REPORTER@", f"./{reporter}") for each in given]
        names = "|".join(escaped(each.partition("::")[2].replace("::", " ")) for each in plan.select)
        only = (self.only, f"^(?:{names})$") if names else ()
        test = BoxStep("test", (str(node.path), program, *options, *only, *plan.tests), _SECONDS)
        # Stet's reporter removes itself before the first test; the run for calls needs none.
        calls = call_steps(plan, [replace(test, argv=(str(node.path), *self.command(plan), *only, *plan.tests))])
        return box_steps.spec(
            nonce,
            [test, *calls.steps],
            files={
                **calls.files,
                reporter: report_channel.inside(self.reporter).replace(
                    b"STET_TOKEN", report_channel.token(nonce).encode()
                ),
            },
            binds=node.binds,
            env={"NO_COLOR": "1", "CI": "1", "NODE_ENV": "test"},
            limits=replace(LIMITS, seconds=LIMITS.seconds + calls.seconds),
        )

    def command(self, plan: TestPlan) -> tuple[str, ...]:
        """What Node runs, before the test files, without a reporter. Raises MissingToolError."""
        return tuple(each for each in self._started(plan) if "@REPORTER@" not in each)

    def _started(self, plan: TestPlan) -> tuple[str, ...]:
        """The program nearest to the package, and its options."""
        folder = _package(plan)
        program = _installed(plan, folder, self.program)
        if program is None:
            raise MissingToolError(self.name, self.install)
        return program, *(each.replace("@ROOT@", str(folder)) for each in self.options)

    def read(self, plan: TestPlan, events: Sequence[Event], nonce: str) -> ReporterEvents:
        """Reads the reporter's events; if there are none, the program's last output."""
        steps = box_steps.outputs(events)
        step = steps.get("test", box_steps.BoxStepOutput())
        found = case_results(reported_events(step.side, report_channel.token(nonce)), plan)
        found.captured = found_calls(steps, plan)
        whole = box_steps.ended(events, own_steps(steps))
        found.stopped, found.absent = whole.stopped, whole.absent
        if not step.side and step.code:
            found.broken = next((line.strip() for line in (*step.err, *step.out) if "rror" in line), "no output")
        found.finished = found.finished and step.code is not None
        bad = any(case.failure for case in found.cases) or found.collection
        found.exit = 0 if bad else (step.code or 0)
        return found


VITEST = Framework(
    "vitest",
    "vitest/vitest.mjs",
    "vitest_reporter.mjs",
    ("run", "--reporter=@REPORTER@", "--root=@ROOT@", "--no-file-parallelism", "--coverage.enabled=false"),
    "--testNamePattern",
)
JEST = Framework(
    "jest",
    "jest/bin/jest.js",
    "jest_reporter.cjs",
    (
        "--reporters=@REPORTER@",
        "--rootDir=@ROOT@",
        "--runInBand",
        "--coverage=false",
        "--watchman=false",
        "--runTestsByPath",
    ),
    "--testNamePattern",
)


def _names(plan: TestPlan, name: str) -> bool:
    """True if a package.json at or above the first test requires a package of that name."""
    manifest = plan.text((_package(plan) / "package.json").as_posix())
    try:
        package = json.loads(manifest or "{}")
        tables = [package.get(each) or {} for each in ("dependencies", "devDependencies")]
        return any(name in table for table in tables) or name in str((package.get("scripts") or {}).get("test", ""))
    except (ValueError, AttributeError, TypeError):
        return False


def _package(plan: TestPlan) -> PurePosixPath:
    """The innermost folder with a package.json around the first test, relative to the working folder."""
    folders = PurePosixPath(plan.tests[0]).parents if plan.tests else ()
    return next((each for each in folders if plan.text((each / "package.json").as_posix())), PurePosixPath())


def _installed(plan: TestPlan, folder: PurePosixPath, program: str) -> str | None:
    """The program in the nearest `node_modules`, relative to the working folder."""
    root = plan.overlay.root if plan.overlay else Path()
    for each in (folder, *folder.parents) if plan.overlay else ():
        place = each / "node_modules" / program
        if (root / place).is_file():
            return place.as_posix()
    return None
