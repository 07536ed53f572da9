"""C and C++: each test file is a program and one case; a failed assertion aborts it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from stet_ls.engine.runners import box_steps, toolchain
from stet_ls.engine.runners.box_steps import BoxStep, BoxStepOutput
from stet_ls.engine.runners.languages.compiler_output import build_errors, died
from stet_ls.engine.runners.languages.crash_frames import address_step, with_frames
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report import CaseFailure, CaseOutcome, CaseResult, Phase
from stet_ls.engine.runners.report_channel import FOLDER, Event, inside, token
from stet_ls.engine.runners.reporter_events import ReporterEvents, frame_at
from stet_ls.engine.sandbox.spec import COMPILE, RunSpec

_COMPILERS = {"c": ("cc", "gcc", "clang"), "cpp": ("c++", "g++", "clang++")}
_SOURCES = {"c": (".c",), "cpp": (".cpp", ".cc", ".cxx", ".C")}
_TEST_SECONDS = 10.0
_BUILD_SECONDS = 40.0


class Native:
    """A compiler, and the program's exit. `main` has to return: exit(0) before its end does not pass."""

    def __init__(self, language: str) -> None:
        self.name = self._language = language
        self.install = "a C and C++ compiler (apt install build-essential)"

    def fits(self, plan: TestPlan) -> bool:
        """True: this is the only runner."""
        return True

    def prepare(self, plan: TestPlan, nonce: str) -> RunSpec:
        """Compiles and runs each test with the sources of the plan that it does not include itself."""
        compiler = toolchain.find(*_COMPILERS[self._language], install=self.install)
        returned = f"{FOLDER}/returned.c"
        source = inside("returned.c").replace(b"STET_TOKEN", token(nonce).encode())
        return box_steps.spec(
            nonce,
            list(self._steps(plan, str(compiler.path), returned)),
            files={returned: source},
            binds=compiler.binds,
            env={},
            limits=COMPILE,
        )

    def _steps(self, plan: TestPlan, compiler: str, returned: str) -> Iterator[BoxStep]:
        # All are compiled before the first runs: a test must not find the word that marks the end of another.
        for number, test in enumerate(plan.tests):
            # addr2line of binutils up to 2.40 confuses the files of DWARF 5.
            argv = (compiler, "-gdwarf-4", "-O0", "-I.", "-o", f"@TMP@/test{number}")
            sources = (test, *self._others(plan, test), "-x", "c", returned, "-x", "none")
            more = ("-Wl,--wrap=main", "-lm", "-pthread")
            yield BoxStep(f"build {test}", (*argv, *sources, *more), _BUILD_SECONDS)
        for number, test in enumerate(plan.tests):
            built, frames = f"@TMP@/test{number}", f"@TMP@/frames{number}"
            yield BoxStep(f"run {test}", (built,), _TEST_SECONDS, hide=(returned,), env={"STET_FRAMES": frames})
            if where := address_step(f"where {test}", built, frames):
                yield where

    def _others(self, plan: TestPlan, test: str) -> Iterator[str]:
        included = set(re.findall(r'#\s*include\s*"([^"]+)"', plan.text(test) or ""))
        for path in plan.files:
            if path in plan.tests or PurePosixPath(path).suffix not in _SOURCES[self._language]:
                continue
            if not any(PurePosixPath(each).name == PurePosixPath(path).name for each in included):
                yield path

    def read(self, plan: TestPlan, events: Sequence[Event], nonce: str) -> ReporterEvents:
        """A case for each test that was built; an error for each of the others."""
        steps = box_steps.outputs(events)
        found = box_steps.ended(events, steps)
        found.known = plan.tests
        for test in plan.tests:
            build, ran = steps.get(f"build {test}"), steps.get(f"run {test}")
            if build is not None and build.code is not None and not build.well:
                found.collection += build_errors(test, build, plan)
            elif ran is not None:
                _add(found, test, ran, steps.get(f"where {test}"), token(nonce), plan)
        # A program that failed to build cannot be started: its build error is reported already.
        found.absent = "" if found.collection else found.absent
        return found


def _add(
    found: ReporterEvents, test: str, ran: BoxStepOutput, where: BoxStepOutput | None, word: str, plan: TestPlan
) -> None:
    if ran.code is None:
        found.running = (*found.running, test)
        return
    returned = f"{word} returned" in ran.side
    out = "\n".join(ran.out)[-2000:]
    if ran.why:
        found.running = (*found.running, test)
        found.cases.append(CaseResult(test, CaseOutcome.ERROR, ran.seconds, died(ran), out))
    elif ran.code == 0 and returned:
        found.cases.append(CaseResult(test, CaseOutcome.PASSED, ran.seconds, None, out))
    elif ran.code == 0:
        failure = CaseFailure("ProcessDied", "the program ended with 0 before its main returned", Phase.CALL)
        found.cases.append(CaseResult(test, CaseOutcome.ERROR, ran.seconds, failure, out))
        found.running = (*found.running, test)
    else:
        found.cases.append(
            CaseResult(test, CaseOutcome.FAILED, ran.seconds, with_frames(_failure(ran, plan), ran, where, plan), out)
        )


_ASSERT = re.compile(r"^\S+: (\S+?):(\d+): (.*?): Assertion [`'](.*)' failed\.$", re.MULTILINE)
_THROWN = re.compile(r"terminate called after throwing an instance of '([^']+)'(?:\s+what\(\):\s+(.*))?")


def _failure(ran: BoxStepOutput, plan: TestPlan) -> CaseFailure:
    text = "\n".join(ran.err)
    if match := _ASSERT.search(text):
        path, line, function, condition = match.groups()
        frame = frame_at(f"{plan.root}/{path}" if not path.startswith("/") else path, int(line), function, plan)
        return CaseFailure("AssertionError", condition, Phase.CALL, frames=(frame,))
    if match := _THROWN.search(text):
        return CaseFailure(match[1], match[2] or "", Phase.CALL)
    return died(ran)
