"""Failing tests of Jest and Vitest as the symptom of a search: the file whose tests run within their own runner."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from stet_ls.engine.judges.project_tests.judge import TestsBefore
from stet_ls.engine.runners.languages.jest_vitest import LIMITS, Framework
from stet_ls.engine.runners.languages.node import Node, TypeScript
from stet_ls.engine.runners.run_tests import choose
from stet_ls.engine.sandbox.spec import Limits

MOST_PASSING = 40
"""Tests that pass, and are run for candidates with which all others do, too."""


@dataclass(frozen=True, slots=True)
class FrameworkTests:
    """A test file with failing tests, and what Node runs for it. Tests are named as in the file: "suite::test"."""

    name: str
    argv: tuple[str, ...]
    file: str
    failing: tuple[str, ...]
    passing: tuple[str, ...]
    limits: Limits = LIMITS


def framework_tests(tests: TestsBefore) -> FrameworkTests | str | None:
    """The file with the most failing tests; None for tests of Node's own runner, a sentence for those of others.

    Raises MissingToolError if the framework is not installed. The tests of other files judge what is found.
    """
    runner = choose(tests.plan)
    if isinstance(runner, Node | TypeScript):
        return None
    if not isinstance(runner, Framework):
        return f"the search cannot run tests of {runner.name}"
    number = Counter(_file(each) for each in tests.failing)
    file = number.most_common(1)[0][0]
    failing, passing = (_names(sorted(each), file) for each in (tests.failing, tests.passing))
    return FrameworkTests(runner.name, (*runner.command(tests.plan), file), file, failing, passing[:MOST_PASSING])


def _file(identifier: str) -> str:
    return identifier.partition("::")[0]


def _names(identifiers: list[str], file: str) -> tuple[str, ...]:
    return tuple(each.partition("::")[2] for each in identifiers if _file(each) == file)
