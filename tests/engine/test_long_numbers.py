"""Numbers that Python reads in hexadecimal and refuses to write in decimal: readers of such a text continue."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stet_ls.engine.actions.generate_test_fix.languages.python import specification
from stet_ls.engine.actions.generated_tests.mutants import mutants_of
from stet_ls.engine.actions.generated_tests.suite_split import without
from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.execution.inputs.coverage_guided import coverage_guided_calls
from stet_ls.engine.execution.python.inputs.calls import calls_for
from stet_ls.engine.execution.python.inputs.generators import with_first_values
from stet_ls.engine.execution.python.inputs.guided_changes import changed_call
from stet_ls.engine.execution.python.inputs.scaled import scaled
from stet_ls.engine.execution.python.module_location import isolated_unit
from stet_ls.engine.execution.python.probes import probed
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.danger.exception_swallowing import in_python
from stet_ls.engine.judges.differential.python import changed
from stet_ls.engine.judges.doctest import examples_of
from stet_ls.engine.judges.text.comments import judge as same_code
from stet_ls.engine.runners import expected_tests
from stet_ls.validators.source import Source

LONG = f"0x{'f' * 5_000}"
BEFORE = f'''
KEY: int = {LONG}


def keyed(x, y={LONG}, *more: "Literal[{LONG}]"):
    """keyed({LONG}, 2) and keyed([{LONG}, {{-{LONG}}}], {{1: {LONG}}})

    >>> keyed({LONG}, ({LONG}, 1), {LONG})
    0
    """
    try:
        return x + {LONG}
    except ({LONG}, Exception):
        pass
'''
AFTER = BEFORE.replace("x + ", "x - ")
TESTS = f"""
import pytest
OF_USE, OF_NONE = {LONG}, {LONG}


@pytest.mark.parametrize("x", [{LONG}])
def test_one(x): assert keyed(x, OF_USE) == {LONG}


def test_two(): assert keyed({LONG}, 1)
"""
READERS: dict[str, Callable[[], object]] = {
    "calls": lambda: calls_for(BEFORE, "keyed", (TESTS,)),
    "first values": lambda: with_first_values(calls_for(BEFORE, "keyed"), BEFORE, "keyed"),
    "inputs that reach": lambda: coverage_guided_calls(calls_for(BEFORE, "keyed"), (LONG, "3", "'a'"), changed_call),
    "larger inputs": lambda: list(filter(None, (scaled(each, 3) for each in calls_for(BEFORE, "keyed")))),
    "changed units": lambda: changed(Case("refactor", "python", None, Source(BEFORE), Source(AFTER), "")),
    "probes": lambda: probed(BEFORE, AFTER),
    "a unit alone": lambda: isolated_unit(BEFORE, "keyed"),
    "mutants": lambda: mutants_of(BEFORE, "keyed"),
    "examples": lambda: examples_of(BEFORE, "keyed"),
    "hidden errors": lambda: in_python(Source(BEFORE), "python"),
    "what tests are written from": lambda: specification(BEFORE, AFTER, "keyed"),
    "tests without one": lambda: without(TESTS, ["test_two"]),
    "tests that are expected": lambda: list(expected_tests.python(TESTS)),
}


@pytest.mark.parametrize("name", READERS)
def test_code_with_long_numbers_is_read(name: str) -> None:
    assert READERS[name]()


async def test_only_comments_may_change_next_to_long_numbers() -> None:
    cases = [
        Case("document", "python", None, Source(BEFORE), Source(each), "keyed") for each in ("# new\n" + BEFORE, AFTER)
    ]
    assert [(await same_code(each)).verdict for each in cases] == [Ruling.PASS, Ruling.FAIL]
