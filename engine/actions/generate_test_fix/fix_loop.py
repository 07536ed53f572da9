"""The loop itself: tests written without sight of the code judge it, and one repair answers their failures."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from stet_ls.engine.actions.action import JobPrompt
from stet_ls.engine.actions.generate_test_fix import suite_evidence
from stet_ls.engine.actions.generate_test_fix.candidate_trial import CandidateTrial, run, tests_of
from stet_ls.engine.actions.generate_test_fix.loop_plan import LoopPlan, plan_for
from stet_ls.engine.actions.generate_test_fix.repair import Repairer
from stet_ls.engine.actions.generate_test_fix.suite_writer import GeneratedSuite, rewrite, write
from stet_ls.engine.actions.rewriting.rewrite import FittedReply
from stet_ls.engine.api.events import JudgeFinished, Stage
from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.diagnosis.diagnosis import Cause, Diagnosis, normalized
from stet_ls.engine.diagnosis.failure_signs import sides
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges.attachments import without_secrets
from stet_ls.engine.judges.case import NamedJudge
from stet_ls.engine.loop import Proposal, Reader
from stet_ls.engine.self_consistency import is_proven


async def generate_test_fix(
    job: Job,
    about: JobPrompt,
    read: Reader[FittedReply],
    judges: Sequence[NamedJudge],
    first: Proposal[FittedReply],
    size: int,
) -> Proposal[FittedReply]:
    """The better of `first` and its repair, with the results of tests that were written from the specification.

    Returns `first` unchanged if a trusted judge already decided for it (examples are too few for that) or against it,
    or if nothing can be run. Raises no errors of a model: what a fault or the budget prevents is listed in the job's
    warnings.
    """
    settled = first.refuted_by is not None or not first.offerable or is_proven(job, first)
    if not job.request.budget.is_long or settled or not job.settings.checks.validation:
        if job.request.budget.is_long:
            job.usage.no_tests = "a judge decided without them" if settled else "the setting `checks.validation` is off"
        return first
    with job.stage("plan"):
        runtime = await job.runtime(first.draft.case.after.text)
        plan = await asyncio.to_thread(plan_for, job, about, first.draft.case, runtime)
    none = plan if isinstance(plan, str) else job.call_limit_reason()
    if isinstance(plan, str) or none:
        return _without(job, first, none)
    suite = await write(job, plan)
    if isinstance(suite, str):
        return _without(job, first, suite)
    return await _Loop(job, plan, Repairer(job, about, read, judges, size), suite).run(first)


def _without(job: Job, first: Proposal[FittedReply], why: str) -> Proposal[FittedReply]:
    job.usage.no_tests = why
    job.usage.warn(f"No tests were written from the specification: {why}")
    return first


@dataclass
class _Loop:
    """State kept between rounds. `excluded` are the tests that no longer count, each with the reason.

    A failure that survives its fix gets the other cause: `insisted` are those of rewritten tests that fail alike,
    `survived` those of code that was repaired. `rewritten` are the tests that were changed for that.
    """

    job: Job
    plan: LoopPlan
    repairer: Repairer
    suite: GeneratedSuite
    excluded: dict[str, str] = field(default_factory=dict)
    insisted: frozenset[str] = frozenset()
    survived: frozenset[str] = frozenset()
    rewritten: tuple[str, ...] = ()

    async def run(self, first: Proposal[FittedReply]) -> Proposal[FittedReply]:
        """At most one new set of tests, a repair (two if the diagnosis was ignored), and a question to the tests."""
        found = await self._tried(first)
        # If most of the tests are wrong, they need a repair, not the code.
        if not found.problem and len(self.excluded) > len(self.suite.tests) - len(self.excluded):
            self.insisted = frozenset(map(_alike, found.of(Cause.TEST)))
            found = await self._with_other_tests(first, found)
        best, found = await self._repaired(first, found)
        found = await self._reconsidered(best, found)
        if found.passed:
            found = await self._steady(found)
        return self._with_evidence(best, found)

    async def _tried(self, proposal: Proposal[FittedReply]) -> CandidateTrial:
        """A run and its diagnoses; a test that prevented the others from running is excluded, and they run again."""
        text = proposal.draft.case.after.text
        while True:
            with self.job.stage("run", f"{len(self.suite.tests) - len(self.excluded)} tests"):
                found = await run(self.job, self.plan, self.suite, text, self.excluded)
            found = replace(found, diagnoses=tuple(map(self._of_other_class, found.diagnoses)))
            self.job.on_event(Stage("diagnosis", str(found)))
            before = len(self.excluded)
            for each in found.of(Cause.TEST):
                tests = tests_of([each]) or set(self.suite.tests)  # the file could not be read at all
                self.excluded.update({test: each.sentence for test in tests if test not in self.excluded})
            unrun = len(self.suite.tests) - len(self.excluded) - len(found.passed | tests_of(found.diagnoses))
            if len(self.excluded) == before or not unrun or len(self.excluded) == len(self.suite.tests):
                return found

    async def _with_other_tests(self, first: Proposal[FittedReply], found: CandidateTrial) -> CandidateTrial:
        if why := self.job.call_limit_reason():
            self.job.usage.warn(f"Wrong tests not replaced: {why}")
            return found
        suite = await rewrite(self.job, self.plan, self.suite, found.of(Cause.TEST))
        if isinstance(suite, str):
            self.job.usage.warn(f"Wrong tests not replaced: {suite}")
            return found
        self.suite, self.excluded = suite, {}
        return await self._tried(first)

    async def _repaired(
        self, first: Proposal[FittedReply], found: CandidateTrial
    ) -> tuple[Proposal[FittedReply], CandidateTrial]:
        """The better of the candidate and its repair, with its run."""
        wrong = self.repairer.repairable(first, found)
        if not wrong:
            return first, found
        if why := self.job.call_limit_reason():
            self.job.usage.warn(f"No repair after the model's own tests failed: {why}")
            return first, found
        repaired = await self.repairer.repair(first, wrong)
        if isinstance(repaired, str):
            self.job.usage.warn(repaired)
            return first, found
        if repaired is first:  # shown the failure, the model wrote the same code again
            return first, replace(found, diagnoses=tuple(map(_kept_by_model, found.diagnoses)))
        case, count = repaired.draft.case, self.plan.loop_language.count
        if lost := count(case.before.text).lost(count(case.after.text)):  # of the document's own tests
            self.job.usage.warn(f"Repair rejected: it leaves {lost}")
            return first, found
        again = await self._tried(repaired)
        self.survived = frozenset(each.symptom.signature for each in again.of(*_OF_CODE)) & frozenset(
            each.symptom.signature for each in found.of(*_OF_CODE)
        )
        return (repaired, again) if len(again.passed) > len(found.passed) else (first, _but(found, again))

    def _of_other_class(self, each: Diagnosis) -> Diagnosis:
        """The diagnosis; a mistake of tests that was made again when they were rewritten may be the code's."""
        if each.cause is not Cause.TEST or _alike(each) not in self.insisted:
            return each
        return replace(each, cause=Cause.UNDETERMINED, sentence=f"rewritten tests say so too: {each.sentence}")

    async def _reconsidered(self, best: Proposal[FittedReply], found: CandidateTrial) -> CandidateTrial:
        """The trial, once those who wrote the tests were asked about failures that a repair of the code left alone."""
        repeated = tuple(each for each in found.of(*_OF_CODE) if each.symptom.signature in self.survived)
        if not repeated or self.job.call_limit_reason():
            return found
        asked = [replace(each, sentence=_QUESTION.format(why=each.sentence)) for each in repeated]
        suite = await rewrite(self.job, self.plan, self.suite, asked)
        if isinstance(suite, str) or suite.code.split() == self.suite.code.split():
            return found
        before = self.suite, self.excluded
        self.suite, self.excluded = suite, {}
        again = await self._tried(best)
        if len(again.passed) > len(found.passed):
            self.rewritten = tuple(sorted(tests_of(repeated)))
            return again
        self.suite, self.excluded = before
        return found

    async def _steady(self, found: CandidateTrial) -> CandidateTrial:
        """The trial without the tests that pass by chance."""
        with self.job.stage("run", f"{len(found.passed)} tests, twice more"):
            good = await found.steady()
        for test in sorted(found.passed - good):
            self.excluded[test] = "its result varies between runs"
        return replace(found, passed=good)

    def _with_evidence(self, best: Proposal[FittedReply], found: CandidateTrial) -> Proposal[FittedReply]:
        """The candidate with the evidence of its tests, which replaces "no tests were run"."""
        self.job.usage.no_tests = "" if found.passed else "none of the tests that were written passes"
        item = without_secrets(
            suite_evidence.evidence(self.plan, self.suite, found, self.excluded, self.rewritten), self.repairer.secrets
        )
        self.job.on_event(JudgeFinished(item))
        kept = tuple(e for e in best.evidence if e.check is not Check.TESTS or e.verdict is not Ruling.SKIPPED)
        content = best.draft.content
        if found.passed and content.reply.tests is None:
            content = replace(content, reply=replace(content.reply, tests=self.suite.code))
        return replace(best, draft=replace(best.draft, content=content), evidence=(*kept, item))


_OF_CODE = (Cause.LOGIC, Cause.UNDETERMINED)
_QUESTION = "two versions of the code fail it ({why}). Keep it if the instruction says what it expects, else fix it"


def _alike(each: Diagnosis) -> str:
    """Equal for the same mistake in tests of other names."""
    return f"{each.kind} {each.symptom.failure.type} {normalized(each.symptom.failure.message)}"


def _but(found: CandidateTrial, again: CandidateTrial) -> CandidateTrial:
    """The trial of the kept candidate, with a note on each failure that its repair has too."""
    alike = {each.symptom.signature for each in again.of(Cause.UNDETERMINED)}
    return replace(
        found,
        diagnoses=tuple(
            replace(each, sentence=f"another reply also fails it: {each.sentence}")
            if each.cause is Cause.UNDETERMINED and each.symptom.signature in alike
            else each
            for each in found.diagnoses
        ),
    )


def _kept_by_model(each: Diagnosis) -> Diagnosis:
    """Notes that the model keeps its code when shown this failure. It still counts: asking twice is no new evidence."""
    if each.cause is not Cause.UNDETERMINED:
        return each
    compared = each.symptom.failure.comparison
    detail = f": {sides(compared)}" if compared is not None else ""
    return replace(each, sentence=f"shown this test, the model keeps its code{detail}")
