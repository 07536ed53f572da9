"""The results of the loop's tests for a candidate, as untrusted evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from stet_ls.engine.actions.generate_test_fix.candidate_trial import CandidateTrial, tests_of
from stet_ls.engine.actions.generate_test_fix.loop_plan import LoopPlan
from stet_ls.engine.actions.generate_test_fix.suite_writer import GeneratedSuite
from stet_ls.engine.api.evidence import Attachment, Check, Evidence, Ruling
from stet_ls.engine.diagnosis.diagnosis import Cause, Diagnosis
from stet_ls.engine.judges.project_tests.forgery_risks import unless_suspicious

_SHOWN = 2


def evidence(
    plan: LoopPlan,
    suite: GeneratedSuite,
    found: CandidateTrial,
    excluded: Mapping[str, str],
    rewritten: Sequence[str] = (),
) -> Evidence:
    """The results, never trusted: a pass if at least one test passes and no test that still counts fails.

    Tests that were `rewritten` after the code failed them twice may have been fitted to it: they pass nothing.
    """
    total, passed = len(suite.tests), len(found.passed - excluded.keys())
    left = tuple(each for each in found.diagnoses if not _is_excluded(each, excluded))
    detail = f"{passed} of {total} tests that the model wrote from the specification pass"
    parts = [detail if not found.problem else f"the {total} tests from the specification did not run: {found.problem}"]
    names = (f"`{each.symptom.test.rpartition('::')[2]}`" if each.symptom.test else each.symptom.file for each in left)
    parts += [
        f"{name}: {each.cause.value}: {each.sentence}" for name, each in islice(zip(names, left, strict=True), _SHOWN)
    ]
    if excluded:
        name, why = next(iter(excluded.items()))
        parts.append(f"{len(excluded)} discarded as wrong, `{name.rpartition('::')[2]}`: {why}")
    if rewritten:
        name = rewritten[0].rpartition("::")[2]
        parts.append(f"{len(rewritten)} changed after two versions of the code failed it, `{name}`")
    if found.lacking and any(each.cause is Cause.ENVIRONMENT for each in left):
        parts.append(found.lacking)
    attached = Attachment.of(plan.place.path.name, plan.language, suite.code)
    ruling = Ruling.PASS if passed and not left and not rewritten else Ruling.UNKNOWN
    if any(each.cause is Cause.LOGIC for each in left):
        ruling = Ruling.FAIL
    evidence = Evidence(Check.TESTS, ruling, "; ".join(parts), count=passed, attachments=(attached,))
    return unless_suspicious(evidence, sorted(found.report.signs))


def _is_excluded(each: Diagnosis, excluded: Mapping[str, str]) -> bool:
    tests = tests_of([each])
    return each.cause is Cause.TEST or (bool(tests) and tests <= excluded.keys())
