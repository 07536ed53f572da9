"""What four runs of a test say about a change."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from stet_ls.engine.plurals import first_names, plural, verb
from stet_ls.engine.runners.report import CaseOutcome
from stet_ls.engine.verify.changes.intent import ChangeIntent, IntentKind
from stet_ls.engine.verify.project_tests.edited_tests import edit_of
from stet_ls.engine.verify.project_tests.runs_of_tests import TestRuns
from stet_ls.engine.verify.report import TestResult

_PASSED = CaseOutcome.PASSED.value
_FAILED = frozenset({CaseOutcome.FAILED.value, CaseOutcome.ERROR.value, CaseOutcome.NOT_RUN.value})
_SILENT = frozenset({CaseOutcome.SKIPPED.value, CaseOutcome.XFAILED.value, CaseOutcome.XPASSED.value})
_EQUAL = frozenset({IntentKind.REFACTOR, IntentKind.PERF})


def results(
    runs: TestRuns,
    edits: Mapping[str, str],
    intent: ChangeIntent,
    removed_units: Collection[str],
    renamed: Mapping[str, str],
) -> Iterator[TestResult]:
    """The tests that say something: edited ones, and those whose outcome differs. `removed_units` are product names,
    `renamed` are files of tests by their former paths.
    """
    ids = dict.fromkeys((*runs.old_on_old, *runs.new_on_new))
    functions = {each.partition("[")[0] for each, how in runs.new_on_new.items() if "[" in each and how == _PASSED}
    for each in ids:
        result = _result(each, runs, edit_of(each, edits), renamed)
        is_same = result.edit == "unchanged" and result.old_on_old == result.new_on_new
        if (is_same and result.old_on_new not in _FAILED) or each in runs.flaky:
            continue
        failure = runs.details.get(each, "")
        if result.old_on_old == _PASSED and result.new_on_new == "" and each.partition("[")[0] in functions:
            yield replace(result, detail="passed and no longer runs with these parameters", opens=True)
        else:
            yield _judged(result, intent, failure, removed_units)


def with_sole_expectations(rows: Sequence[TestResult], intent: ChangeIntent, *, is_shown: bool) -> Sequence[TestResult]:
    """The results; a fix that only changed expectations show is open. `is_shown`: an example shows it, too."""
    changed = {each.id for each in rows if each.old_on_new in _FAILED and each.new_on_new == _PASSED and each.detail}
    others = [each for each in rows if shows_fix(each) and each.id not in changed]
    if intent.kind is not IntentKind.FIX or others or is_shown:
        return rows
    return [replace(each, opens=True) if each.id in changed else each for each in rows]


def _result(name: str, runs: TestRuns, edit: str, renamed: Mapping[str, str]) -> TestResult:
    path, _, rest = name.partition("::")
    now = f"{renamed[path]}::{rest}" if path in renamed else name
    return TestResult(
        name, edit, runs.old_on_old.get(name, ""), runs.old_on_new.get(name, ""), runs.new_on_old.get(now, ""),
        runs.new_on_new.get(now, ""),
    )  # fmt: skip


def _judged(test: TestResult, intent: ChangeIntent, failure: str, removed: Collection[str]) -> TestResult:
    why = f": {failure}" if failure else ""
    if test.old_on_old != _PASSED:
        return test
    if test.new_on_new in _FAILED or (test.new_on_new == "" and test.edit == "unchanged"):
        what = "passed and fails now" if test.new_on_new in _FAILED else "passed and does not run now"
        return replace(test, detail=what + why, refutes=True)
    if test.old_on_new not in _FAILED:
        silent = test.new_on_new in _SILENT
        return replace(test, detail=f"passed and is {test.new_on_new} now", opens=True) if silent else test
    if test.new_on_new in _SILENT:
        what = f"is {test.new_on_new} now; as it was, it fails on the new code{why}"
        return replace(test, detail=what, refutes=not _names_any(failure, removed))
    # A fix may change what tests expect; elsewhere such a change proves nothing.
    opens = intent.kind is not IntentKind.FIX
    if test.new_on_new == "":
        if _names_any(failure, removed):
            return test
        what = f"was removed; it passed before and fails on the new code{why}"
        refutes = intent.is_stated and intent.kind is not IntentKind.FEATURE
        return replace(test, detail=what, refutes=refutes, opens=opens)
    how = "was edited; as it was, it fails" if test.edit != "unchanged" else "passes only with the new set-up of tests"
    where = " on the new code" if test.edit != "unchanged" else ""
    return replace(
        test, detail=f"{how}{where}{why}", refutes=intent.is_stated and intent.kind in _EQUAL, opens=opens
    )  # fmt: skip


def _names_any(failure: str, names: Collection[str]) -> bool:
    """Whether a test failed because what it tested is gone."""
    return any(f"'{each}'" in failure or f"`{each}`" in failure for each in names)


def notes(runs: TestRuns) -> Iterator[str]:
    """What a reader has to know of the runs besides their outcomes."""
    if runs.flaky:
        yield f"{plural(len(runs.flaky), 'flaky test')} ignored: {first_names(runs.flaky)}"
    if why := _failing_as_before(runs):
        yield why
    if runs.idle:
        yield f"{plural(len(runs.idle), 'test file')} left out: an earlier run executed nothing that changed"


def _failing_as_before(runs: TestRuns) -> str:
    """The tests that fail on both sides, with the first error; "" if there are none. They may need a service, a secret
    or a package.
    """
    known = [each for each, how in runs.new_on_new.items() if how in _FAILED and runs.old_on_old.get(each) in _FAILED]
    if not known:
        return ""
    first = known[0]
    why = f": {runs.details[first]}" if runs.details.get(first) else ""
    return f"{plural(len(known), 'test')} {verb('fail', len(known))} on both sides: {first.rpartition('::')[2]}{why}"


def shows_fix(test: TestResult) -> bool:
    """Whether a test fails on the old code and passes on the new one."""
    before = test.new_on_old or (test.old_on_old if test.edit == "unchanged" else "")
    return before in _FAILED and test.new_on_new == _PASSED
