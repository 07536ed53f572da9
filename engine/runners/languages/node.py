"""Runs JavaScript tests by Node's own runner, and TypeScript tests after bundling by esbuild."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from stet_ls.engine.runners import box_steps, report_channel, toolchain
from stet_ls.engine.runners.box_steps import BoxStep
from stet_ls.engine.runners.languages.compiler_output import build_errors
from stet_ls.engine.runners.languages.script_calls import call_steps, found_calls, own_steps
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report_channel import FOLDER, Event
from stet_ls.engine.runners.reporter_events import ReporterEvents, case_results
from stet_ls.engine.runners.toolchain import BoxProgram
from stet_ls.engine.sandbox.spec import TESTS, Limits, RunSpec

_SECONDS = 25.0
NODE = "node 20 or later (https://nodejs.org)"
ESBUILD = "esbuild (npm install --save-dev esbuild, in the project)"
_LIMITS = Limits(seconds=TESTS.seconds, processes=256)


class Node:
    """`node --test`, with a reporter in the parent of the files' processes."""

    name = "node"
    install = NODE

    def fits(self, plan: TestPlan) -> bool:
        """True: this runner needs nothing of the project."""
        return True

    def prepare(self, plan: TestPlan, nonce: str) -> RunSpec:
        """Runs the plan's test files, or those that Node finds."""
        program = toolchain.find("node", install=self.install)
        return _spec(plan, nonce, program, (), plan.tests, {}, ())

    def read(self, plan: TestPlan, events: Sequence[Event], nonce: str) -> ReporterEvents:
        """Reads the reporter's events, which are separate from the output."""
        return _read(plan, events, nonce)


class TypeScript:
    """Node's runner, after esbuild has made one module of each test file; types are not checked."""

    name = "typescript"
    install = ESBUILD

    def fits(self, plan: TestPlan) -> bool:
        """True: this runner needs nothing of the project."""
        return True

    def prepare(self, plan: TestPlan, nonce: str) -> RunSpec:
        """Bundles into the run's own folder: packages are found from there as from the project."""
        node = toolchain.find("node", install=NODE)
        builder = esbuild(plan.overlay.root if plan.overlay else None)
        out = f"{FOLDER}/out"
        built = {test: f"{out}/{test.rpartition('.')[0]}.mjs" for test in plan.tests}
        argv = (
            *(str(builder.path), *plan.tests, "--bundle", "--platform=node", "--format=esm", "--packages=external"),
            *("--sourcemap=inline", "--outbase=.", f"--outdir={out}", "--out-extension:.js=.mjs", "--log-level=error"),
        )
        sources = {path: test for test, path in built.items()}
        build = BoxStep("build", argv, _SECONDS, needed=True)
        program = BoxProgram(node.path, (*node.binds, *builder.binds))
        return _spec(plan, nonce, program, (build,), tuple(built.values()), sources, ("--enable-source-maps",))

    def read(self, plan: TestPlan, events: Sequence[Event], nonce: str) -> ReporterEvents:
        """Reads esbuild's errors, or the reporter's events."""
        found = _read(plan, events, nonce)
        build = box_steps.outputs(events).get("build")
        if build is not None and build.code is not None and not build.well and not found.absent:
            found.collection += build_errors(plan.tests[0], _gnu(build), plan)
        return found


def _spec(
    plan: TestPlan,
    nonce: str,
    node: BoxProgram,
    before: Sequence[BoxStep],
    tests: Sequence[str],
    sources: Mapping[str, str],
    options: Sequence[str],
) -> RunSpec:
    word = report_channel.token(nonce).encode()
    # What the tests' processes can read gives no access to the report.
    marker = report_channel.token(f"returned {nonce}").encode()
    names = {**sources, **{test: test for test in plan.tests}}
    reporter = report_channel.inside("reporter.mjs").replace(b"STET_TOKEN", word).replace(b"STET_MARKER", marker)
    cover = ("--experimental-test-coverage",) if plan.coverage else ()
    argv = (
        *(str(node.path), *options, f"--import=./{FOLDER}/returned.mjs", "--test", *cover),
        *(f"--test-reporter=./{FOLDER}/reporter.mjs", "--test-reporter-destination=stdout", *_only(plan), *tests),
    )
    steps = [*before, BoxStep("test", argv, _SECONDS)]
    # Stet's reporter removes itself before the first test; the run for calls needs none.
    plain = (str(node.path), *options, "--test", *_only(plan), *tests)
    calls = call_steps(plan, [*before, BoxStep("test", plain, _SECONDS)])
    return box_steps.spec(
        nonce,
        [*steps, *calls.steps],
        files={
            **calls.files,
            f"{FOLDER}/reporter.mjs": reporter.replace(b"STET_SOURCES", json.dumps(names).encode()),
            f"{FOLDER}/returned.mjs": report_channel.inside("returned.mjs").replace(b"STET_MARKER", marker),
        },
        binds=node.binds,
        env={"NO_COLOR": "1"},
        limits=replace(_LIMITS, seconds=_LIMITS.seconds + calls.seconds),
    )


def _only(plan: TestPlan) -> Iterator[str]:
    for identifier in plan.select:
        yield f"--test-name-pattern=^{escaped(identifier.rpartition('::')[2])}$"


def escaped(name: str) -> str:
    """A name as a pattern that matches only it."""
    return "".join(f"\\{letter}" if letter in r"\^$.*+?()[]{}|/" else letter for letter in name)


def _read(plan: TestPlan, events: Sequence[Event], nonce: str) -> ReporterEvents:
    steps = box_steps.outputs(events)
    step = steps.get("test", box_steps.BoxStepOutput())
    reported = list(reported_events(step.side, report_channel.token(nonce)))
    found = case_results(reported, plan)
    found.signs = frozenset(str(event.get("what")) for event in reported if event["event"] == "reached")
    # A file without tests for Node's runner passes by merely finishing: it has to assert something.
    found.cases = [case for case in found.cases if case.id not in plan.tests or _asserts(plan.text(case.id) or "")]
    found.captured = found_calls(steps, plan)
    whole = box_steps.ended(events, own_steps(steps))
    found.stopped, found.absent = whole.stopped, whole.absent
    found.finished = found.finished and step.code is not None
    # Node ends with 1 if a test failed; the test's own event reports that already.
    bad = any(case.failure for case in found.cases) or found.collection
    found.exit = 0 if bad else (step.code or 0)
    return found


def _asserts(text: str) -> bool:
    return re.search(r"\b(?:assert|throw|expect|ok|equal)\b", text) is not None


def reported_events(lines: Sequence[str], word: str) -> Iterator[dict[str, Any]]:
    """The events among lines that began with the run's word."""
    for line in lines:
        try:
            event = json.loads(line.removeprefix(f"{word} ")) if line.startswith(f"{word} ") else None
        except ValueError:
            continue
        if isinstance(event, dict) and isinstance(event.get("event"), str):
            yield event


def esbuild(root: Path | None) -> BoxProgram:
    """esbuild of a project's packages, else of the PATH. A package's program needs the packages next to it."""
    own = root / "node_modules/.bin/esbuild" if root else None
    if own is not None and own.exists():
        return BoxProgram(own)
    found = toolchain.find("esbuild", install=ESBUILD)
    parents = [folder for folder in found.path.resolve().parents if folder.name == "node_modules"]
    return BoxProgram(found.path, tuple(parents[-1:])) if parents else found


def _gnu(build: box_steps.BoxStepOutput) -> box_steps.BoxStepOutput:
    """esbuild's errors, `✘ [ERROR] what` and two lines below `file:line:column:`, in the format of other compilers."""
    lines: list[str] = []
    what = ""
    for line in [*build.out, *build.err]:
        if "[ERROR] " in line:
            what = line.partition("[ERROR] ")[2]
        elif what and line.strip().endswith(":") and line.strip().count(":") == 3:
            lines.append(f"{line.strip()} error: {what}")
            what = ""
    return box_steps.BoxStepOutput(
        out=lines or build.out, err=[] if lines else build.err, code=build.code, why=build.why
    )
