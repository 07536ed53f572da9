"""Java's tests: a class with a main under assertions, or JUnit if the project has its console."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from stet_ls.engine.runners import box_steps, toolchain
from stet_ls.engine.runners.box_steps import BoxStep, BoxStepOutput
from stet_ls.engine.runners.languages.compiler_output import build_errors, died
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report import AssertComparison, CaseFailure, CaseOutcome, CaseResult, Phase
from stet_ls.engine.runners.report_channel import FOLDER, Event, inside, token
from stet_ls.engine.runners.reporter_events import ReporterEvents, frame_at
from stet_ls.engine.runners.toolchain import MissingToolError
from stet_ls.engine.sandbox.spec import COMPILE, RunSpec
from stet_ls.validators.project_files import matching

_JDK = "a JDK, 17 or later (apt install default-jdk)"
_SECONDS = 20.0
_CLASSES = "@TMP@/classes"
_JAR = "junit-platform-console-standalone*.jar"
_MIB = 1 << 20
LIMITS = replace(COMPILE, data=2048 * _MIB, processes=256)
"""The limits of a run."""


class Java:
    """A test is a class with a main, run with `-ea`. It has to return: System.exit(0) before its end does not pass."""

    name = "java"
    install = _JDK

    def fits(self, plan: TestPlan) -> bool:
        """Tests that do not name JUnit."""
        return not any("org.junit" in (plan.text(test) or "") for test in plan.tests)

    def prepare(self, plan: TestPlan, nonce: str) -> RunSpec:
        """One compilation, then one virtual machine for each test."""
        runs = [
            BoxStep(f"run {test}", (*_java(), "-cp", _CLASSES, "StetMain", _class(plan, test)), _SECONDS)
            for test in plan.tests
        ]
        return _spec(plan, nonce, "StetMain.java", (), runs)

    def read(self, plan: TestPlan, events: Sequence[Event], nonce: str) -> ReporterEvents:
        """A case for each file."""
        steps = box_steps.outputs(events)
        found = box_steps.ended(events, steps)
        found.known = plan.tests
        _built(found, steps.get("build"), plan)
        for test in plan.tests:
            if ran := steps.get(f"run {test}"):
                _main(found, test, ran, f"{token(nonce)} returned" in ran.side, plan)
        return found


class JUnit:
    """JUnit 5, by its launcher: the console's standalone jar has to be in the project, or among the plan's binds."""

    name = "junit"
    install = "junit-platform-console-standalone.jar in the project's lib folder"

    def fits(self, plan: TestPlan) -> bool:
        """Tests that name JUnit."""
        return True

    def prepare(self, plan: TestPlan, nonce: str) -> RunSpec:
        """One compilation and one virtual machine for all tests."""
        jar = _jar(plan)
        if jar is None:
            raise MissingToolError("the JUnit console", self.install)
        names = [_class(plan, test) for test in plan.tests]
        run = BoxStep("run", (*_java(), "-cp", f"{_CLASSES}:{jar}", "StetJUnit", *names), _SECONDS)
        return _spec(plan, nonce, "StetJUnit.java", ("-cp", str(jar)), [run])

    def read(self, plan: TestPlan, events: Sequence[Event], nonce: str) -> ReporterEvents:
        """Reads the listener's lines, which are separate from the output."""
        steps = box_steps.outputs(events)
        found = box_steps.ended(events, steps)
        _built(found, steps.get("build"), plan)
        ran = steps.get("run")
        if ran is not None:
            _listened(found, ran, token(nonce), plan)
        return found


def _java() -> tuple[str, ...]:
    return (str(toolchain.find("java", install=_JDK).path), "-ea", "-XX:TieredStopAtLevel=1", "-Xshare:auto")


def _spec(plan: TestPlan, nonce: str, main: str, options: Sequence[str], runs: Sequence[BoxStep]) -> RunSpec:
    javac = toolchain.find("javac", install=_JDK)
    own = f"{FOLDER}/{main}"
    sources = [path for path in plan.files if path.endswith(".java")]
    sources = list(dict.fromkeys([*sources, *plan.tests]))
    argv = (str(javac.path), "-g", "-nowarn", "-proc:none", "-d", _CLASSES, *options, own, *sources)
    first, *others = runs or [BoxStep("nothing", ("true",), _SECONDS)]
    hidden = BoxStep(first.name, first.argv, first.seconds, hide=(own,))
    return box_steps.spec(
        nonce,
        [BoxStep("build", argv, 40.0, needed=True), hidden, *others],
        files={own: inside(main).replace(b"STET_TOKEN", token(nonce).encode())},
        binds=javac.binds,
        env={},
        limits=LIMITS,
    )


def _class(plan: TestPlan, test: str) -> str:
    package = re.search(r"^\s*package\s+([\w.]+)\s*;", plan.text(test) or "", re.MULTILINE)
    name = PurePosixPath(test).stem
    return f"{package[1]}.{name}" if package else name


def _jar(plan: TestPlan) -> Path | None:
    """JUnit's console; a project's own relative to the working folder, since some sandboxes show that elsewhere."""
    if plan.overlay:
        for folder in ("lib", "libs", "."):
            if found := list(matching(plan.overlay.root / folder, _JAR)):
                return found[-1].relative_to(plan.overlay.root)
    return next((bind for bind in plan.binds if bind.match(_JAR)), None)


def _built(found: ReporterEvents, build: BoxStepOutput | None, plan: TestPlan) -> None:
    if build is not None and build.code is not None and not build.well and not found.absent:
        found.collection += build_errors(plan.tests[0] if plan.tests else ".", build, plan)


_THROWN = re.compile(r"^Exception in thread \"\S+\" ([\w.$]+)(?:: (.*))?$", re.MULTILINE)
_FRAME = re.compile(r"^\s+at (?:[\w.]+/)?([\w.$<>]+)\(([\w$]+\.java):(\d+)\)$", re.MULTILINE)
_EXPECTED = re.compile(r"expected: <(.*)> but was: <(.*)>", re.DOTALL)


def _main(found: ReporterEvents, test: str, ran: BoxStepOutput, returned: bool, plan: TestPlan) -> None:
    out, text = "\n".join(ran.out)[-2000:], "\n".join(ran.err)
    if ran.code is None or ran.why or (ran.code == 0 and not returned):
        found.running = (*found.running, test)
        left = CaseFailure("ProcessDied", "the program ended with 0 before its main returned", Phase.CALL)
        failure = died(ran) if ran.why or ran.code != 0 else left
        found.cases.append(CaseResult(test, CaseOutcome.ERROR, ran.seconds, failure, out))
    elif ran.code == 0:
        found.cases.append(CaseResult(test, CaseOutcome.PASSED, ran.seconds, None, out))
    else:
        match = _THROWN.search(text)
        failure = _thrown(match[1], match[2] or "", text[match.end() :], plan) if match else died(ran)
        found.cases.append(CaseResult(test, CaseOutcome.FAILED, ran.seconds, failure, out))


def _thrown(kind: str, message: str, stack: str, plan: TestPlan) -> CaseFailure:
    frames = tuple(
        frame_at(_path(name, file, plan), int(line), name.rpartition(".")[2], plan)
        for name, file, line in reversed(_FRAME.findall(stack.partition("\nCaused by")[0]))
    )
    sides = _EXPECTED.search(message)
    comparison = AssertComparison("==", sides[2], sides[1]) if sides else None
    return CaseFailure(kind.rpartition(".")[2], message, Phase.CALL, comparison=comparison, frames=frames)


def _path(name: str, file: str, plan: TestPlan) -> str:
    """The path of a class' file: a stack shows only its name. A lone file may be outside its package's folder."""
    package = ".".join(name.split(".")[:-2])
    wanted = f"{package.replace('.', '/')}/{file}" if package else file
    called = [path for path in (*plan.files, *plan.tests) if PurePosixPath(path).name == file]
    known = [path for path in called if _class(plan, path).rpartition(".")[0] == package]
    if not known and plan.text(wanted) is not None:
        known = [wanted]
    return f"{plan.root}/{known[0]}" if known else f"<{wanted}>"


def _listened(found: ReporterEvents, ran: BoxStepOutput, word: str, plan: TestPlan) -> None:
    paths = {_class(plan, test): test for test in plan.tests}
    running: dict[str, None] = {}
    done = False
    for line in ran.side:
        own, *rest = line.split("\t")
        if own != word or not rest:
            continue
        done = done or rest[0] == "done"
        if len(rest) < 2:
            continue
        event, name, *more = rest
        kind, _, method = name.partition("::")
        identifier = f"{paths.get(kind.partition('$')[0], kind)}::{method}" if method else paths.get(kind, kind)
        if event == "start":
            running[identifier] = None
        else:
            running.pop(identifier, None)
            found.cases.append(_case(identifier, event, [_plain(each) for each in more], bool(method), plan))
    found.running = tuple(running)
    found.cases += [CaseResult(each, CaseOutcome.ERROR, 0.0, died(ran)) for each in running]
    found.finished = found.finished and done
    found.exit = ran.code or 0


def _case(identifier: str, event: str, more: Sequence[str], method: bool, plan: TestPlan) -> CaseResult:
    message, kind, stack = (*more, "", "", "")[:3]
    if event == "pass":
        return CaseResult(identifier, CaseOutcome.PASSED)
    if event == "skip":
        return CaseResult(identifier, CaseOutcome.SKIPPED, reason=message)
    failure = _thrown(kind, message, stack, plan)
    return CaseResult(identifier, CaseOutcome.FAILED if method else CaseOutcome.ERROR, 0.0, failure)


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: {"t": "\t", "n": "\n"}.get(match[1], match[1]), text)
