"""New tests under validation: the remaining ones, and the results of the others."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from stet_ls.engine.actions.generated_tests.insertion import insert_tests
from stet_ls.engine.actions.generated_tests.location import SuiteFile
from stet_ls.engine.actions.generated_tests.suite_plans import SuitePlan
from stet_ls.engine.actions.generated_tests.suite_split import SingleTest, tests_in, without
from stet_ls.engine.diagnosis.diagnosis import Cause, CodeFacts, Diagnosis
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.job.job import Job
from stet_ls.validators.source import Source


@dataclass(frozen=True, slots=True)
class SuspectTest:
    """A test that fails on the present code: a bug of the code, or a wrong expectation."""

    test: SingleTest
    sentence: str


@dataclass
class CandidateTests:
    """Generated tests while they are tried: what remains, and what was dropped."""

    job: Job
    """The job that writes them."""
    runtime: Runtime
    """What they run with."""
    place: SuiteFile
    """The test file that they belong in."""
    way: SuitePlan
    """How that file is run."""
    about: CodeFacts
    """What is known about the code under test, for the diagnosis of failures."""
    code: str
    """The remaining tests, without the rest of the file."""
    dropped: Counter[str] = field(default_factory=Counter)
    """Number of dropped tests by reason."""
    suspects: list[SuspectTest] = field(default_factory=list)
    """Tests that fail on the current code: shown to the user, not written to the file."""
    notes: list[str] = field(default_factory=list)
    """Sentences for the user."""

    @property
    def tests(self) -> tuple[SingleTest, ...]:
        """The remaining tests, each with its id and lines."""
        return tests_in(self.code)

    @property
    def ids(self) -> tuple[str, ...]:
        """Their ids after the file name."""
        return tuple(test.id for test in self.tests)

    def joined(self) -> Source:
        """The whole test file including them."""
        return insert_tests(self.place, self.code, self.job.request, self.job.tools)

    def drop(self, test: str, reason: str) -> None:
        """Removes a test and counts it under the reason."""
        if test in self.ids:
            self.dropped[reason] += 1
            self.code = without(self.code, {test})

    def suspect(self, test: str, sentence: str) -> None:
        """Removes a test, to show it separately."""
        found = next((each for each in self.tests if each.id == test), None)
        if found is not None:
            self.suspects.append(SuspectTest(found, sentence))
            self.code = without(self.code, {test})

    def judge(self, diagnosis: Diagnosis, test: str) -> None:
        """Drops a test that does not pass, or makes it a suspect, by the cause in its diagnosis."""
        if diagnosis.cause is Cause.TEST:
            self.drop(test, "wrong")
        elif diagnosis.cause is Cause.ENVIRONMENT:
            if diagnosis.sentence not in self.notes:
                self.notes.append(diagnosis.sentence)
            self.drop(test, "not run here")
        else:
            self.suspect(test, diagnosis.sentence)
