"""The result of a test run: cases, failures with places, missing tests; enough to find the cause without a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from stet_ls.engine.runners.captured_calls import CapturedCalls
from stet_ls.engine.sandbox.spec import RunResult, RunStatus


class SuiteOutcome(StrEnum):
    """How a suite ended. Only GREEN is a success; the first that matches counts.

    NO_RUNNER: a program is missing (`install` says what). REFUSED: the isolation is too weak. TIMEOUT and LIMIT: the
    run was stopped (`run.status` names the limit). ERROR: a file could not be collected or built, or the runner
    itself failed. RED: a test failed. INCOMPLETE: the process died, or an expected test is not in the report.
    NOTHING_RAN: no test was run, or all were skipped.
    """

    GREEN = "green"
    RED = "red"
    ERROR = "error"
    NOTHING_RAN = "nothing_ran"
    INCOMPLETE = "incomplete"
    NO_RUNNER = "no_runner"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    LIMIT = "limit"


_NOT_RUN = frozenset({SuiteOutcome.NO_RUNNER, SuiteOutcome.REFUSED, SuiteOutcome.NOTHING_RAN})


class CaseOutcome(StrEnum):
    """How one test ended. ERROR: outside of the test itself (fixture, process). NOT_RUN: expected, never reported."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"
    NOT_RUN = "not_run"


class Phase(StrEnum):
    """The phase of a test in which it failed."""

    BUILD = "build"
    COLLECT = "collect"
    SETUP = "setup"
    CALL = "call"
    TEARDOWN = "teardown"


class FrameOrigin(StrEnum):
    """The owner of a frame: the code under test, the tests, or other code."""

    PROJECT = "project"
    TEST = "test"
    LIBRARY = "library"


@dataclass(frozen=True, slots=True)
class Frame:
    """A place in a traceback; the outermost frame comes first. `path` is relative to the working folder if within.

    `line` counts from 1; 0 is unknown. `locals` are (name, repr) and `code` is the text of the line: both are given
    only for the deepest of the user's frames.
    """

    path: str
    line: int
    function: str
    origin: FrameOrigin
    locals: tuple[tuple[str, str], ...] = ()
    code: str = ""


@dataclass(frozen=True, slots=True)
class AssertComparison:
    """The two sides of a failed assertion, as their reprs (cut to 500 characters)."""

    operator: str
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class CaseFailure:
    """Why something failed.

    `type` is the exception's name in its language (a panic is "panic", a compiler's error "CompileError");
    `mro` are the names of its base classes, outermost last. `module` is what a ModuleNotFoundError or ImportError
    did not find. `place` is the place of a syntax or compiler error: path, line, column from 1.
    """

    type: str
    message: str
    phase: Phase
    mro: tuple[str, ...] = ()
    comparison: AssertComparison | None = None
    frames: tuple[Frame, ...] = ()
    module: str = ""
    place: tuple[str, int, int] | None = None

    @property
    def own_frames(self) -> tuple[Frame, ...]:
        """The user's frames; all frames if none is the user's, as in a runner's own failure."""
        return tuple(frame for frame in self.frames if frame.origin is not FrameOrigin.LIBRARY) or self.frames

    @property
    def deepest(self) -> Frame | None:
        """The innermost of the user's frames: the code under test or a test."""
        return next((frame for frame in reversed(self.frames) if frame.origin is not FrameOrigin.LIBRARY), None)

    @property
    def summary(self) -> str:
        """Its message in one line; without one, as for a plain `assert` outside pytest, the line that failed."""
        if words := self.message.strip().partition("\n")[0]:
            return words
        at = self.deepest
        return "" if at is None else f"`{at.code}`" if at.code else f"{at.path}:{at.line}"


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One test. `seconds` is its own time; `stdout` the last part of what it printed; `reason` why it was skipped."""

    id: str
    outcome: CaseOutcome
    seconds: float = 0.0
    failure: CaseFailure | None = None
    stdout: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CollectionError:
    """A file whose tests could not be loaded: it does not parse, does not import, or does not compile."""

    path: str
    failure: CaseFailure


@dataclass(frozen=True, slots=True)
class RunCoverage:
    """Lines that ran, per file relative to the working folder. `why_not` says why there are none.

    `taken` and `untaken` are branches whose condition ran: its line and the line they lead to, 0 if that is unknown.
    """

    lines: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    missing: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    taken: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    untaken: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class TracedLines:
    """The lines of a file that ran: `ran` those of its functions in each test, and under "" those that ran outside of
    any; `loaded` its other lines.
    """

    ran: Mapping[str, frozenset[int]] = field(default_factory=dict)
    loaded: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class TestReport:
    """The report of a test run.

    `cases` hold every reported test, and unreported expected ones as NOT_RUN; `missing` are the ids of the latter.
    `running` are the tests that had begun and not ended when the process died. `run` describes the process and its
    isolation, and is None if nothing was run; `detail` is one sentence for the user; `install` is a remedy. `traced`
    has the lines that ran of each traced file, unless they were not fully measured. `signs` list tampering with the
    tests by the code, and control tests with a wrong outcome: signs that the text before did not show count against it.
    `captured` are the calls of each file whose calls were requested.
    """

    __test__: ClassVar[bool] = False

    runner: str
    outcome: SuiteOutcome
    run: RunResult | None = None
    cases: tuple[CaseResult, ...] = ()
    collection: tuple[CollectionError, ...] = ()
    missing: tuple[str, ...] = ()
    running: tuple[str, ...] = ()
    detail: str = ""
    install: str = ""
    seed: int = 0
    coverage: RunCoverage | None = None
    traced: Mapping[str, TracedLines] = field(default_factory=dict)
    signs: frozenset[str] = frozenset()
    captured: Mapping[str, CapturedCalls] = field(default_factory=dict)

    @property
    def green(self) -> bool:
        """True only if every expected test ran and none failed."""
        return self.outcome is SuiteOutcome.GREEN

    @property
    def passed(self) -> frozenset[str]:
        """The ids of the tests that passed."""
        return frozenset(each.id for each in self.cases if each.outcome is CaseOutcome.PASSED)

    @property
    def inconclusive(self) -> bool:
        """True if it says nothing about the code: no test could be run, or not to the end on a busy machine."""
        return self.starved or self.outcome in _NOT_RUN

    @property
    def starved(self) -> bool:
        """True if the machine was too busy to finish it, which says nothing about any test."""
        return self.run is not None and self.run.status is RunStatus.STARVED

    @property
    def why_not(self) -> str:
        """Why nothing was run, with the remedy."""
        return f"{self.detail or self.outcome}{f' ({self.install})' if self.install else ''}"

    def case(self, identifier: str) -> CaseResult | None:
        """The case of that id."""
        return next((case for case in self.cases if case.id == identifier), None)

    def failed(self) -> tuple[CaseResult, ...]:
        """The cases that failed or could not be run, without those that were never reached."""
        return tuple(case for case in self.cases if case.outcome in (CaseOutcome.FAILED, CaseOutcome.ERROR))
