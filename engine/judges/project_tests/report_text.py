"""Texts about the project's tests and their failures."""

from __future__ import annotations

from collections.abc import Collection

from stet_ls.engine.plurals import plural, verb
from stet_ls.engine.runners import report as reports
from stet_ls.engine.runners.report import TestReport

_MOST_TESTS = 3
_MOST_NAMES = 6


def passing_text(passing: int, fixed: int, still: int) -> str:
    """How many pass, how many of them failed before, and how many still fail."""
    detail = f"{plural(passing, 'test')} {verb('pass', passing)}"
    if fixed:
        detail += f", {fixed} of them failed before"
    return f"{detail}; {still} fail as before" if still else detail


def not_executed_text(tests: int, missed: Collection[str]) -> str:
    """That passing tests do not execute the change."""
    first, *others = missed or ("it",)
    more = f" or {plural(len(others), 'more changed part')}" if others else ""
    return f"{'it does not execute' if tests == 1 else 'none of them executes'} {first}{more}"


def first_failure_text(report: TestReport, wanted: Collection[str]) -> str:
    """The first failure in words, and how many there are."""
    for error in report.collection:
        return f"{error.path}: {failure_text(error.failure)}"
    failing = [each for each in report.failed() if each.id in wanted]
    if not failing:
        gone = f"{test_names(wanted)} did not run: " if wanted else ""
        return f"{gone}{report.detail or report.outcome}"
    first = failing[0]
    detail = f"{first.id.rpartition('::')[2]} fails: {failure_text(first.failure) if first.failure else first.outcome}"
    return detail if len(failing) == 1 else f"{detail} (and {len(failing) - 1} more)"


def failure_text(failure: reports.CaseFailure) -> str:
    """One failure in a line."""
    compared = failure.comparison
    if compared is not None:
        return f"{compared.left} {compared.operator} {compared.right} is false"
    return f"{failure.type}: {failure.summary}" if failure.summary else failure.type


def test_names(identifiers: Collection[str]) -> str:
    """The first few tests by their own names."""
    shown = ", ".join(sorted(each.rpartition("::")[2] for each in identifiers)[:_MOST_TESTS])
    return shown if len(identifiers) <= _MOST_TESTS else f"{shown} and {len(identifiers) - _MOST_TESTS} more"


def failure_place(failure: reports.CaseFailure) -> str:
    """The place of a failure, with the values of the names there."""
    frame = failure.deepest
    if frame is None:
        return ""
    held = ", ".join(f"{name} = {value}" for name, value in frame.locals[:_MOST_NAMES])
    return f" (in {frame.function}, {frame.path}:{frame.line}{f', with {held}' if held else ''})"


def failure_output(report: TestReport, wanted: Collection[str]) -> str:
    """The runner's output for failing tests: the failure, its traceback, what was printed."""
    parts = [f"{error.path}\n{_of_one(error.failure)}" for error in report.collection]
    for each in report.failed():
        if each.id in wanted:
            printed = f"\nprinted:\n{each.stdout.rstrip()}\n" if each.stdout.strip() else ""
            parts.append(f"{each.id}: {each.outcome}\n{_of_one(each.failure) if each.failure else ''}{printed}")
    return "\n".join(parts or [f"{report.detail or report.outcome}\n"])


def _of_one(failure: reports.CaseFailure) -> str:
    frames = [f"  {frame.path}:{frame.line} in {frame.function}\n" for frame in failure.own_frames]
    compared = failure.comparison
    sides = f"{compared.left}\n  {compared.operator}\n{compared.right}\n" if compared is not None else ""
    return f"{failure.type}: {failure.message.rstrip()}\n{sides}{''.join(frames)}"
