"""Differences that say nothing about the new code: each row of the table on an example of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pytest

from stet_ls.engine.execution.harness_run import Call, CallOutcome
from stet_ls.engine.execution.inputs.rows import EDGE_CASE, GUESSED
from stet_ls.engine.judges.differential.difference import NEAR, Difference
from stet_ls.engine.judges.differential.excuses.excused_differences import EXCUSES, ComparedCode, excuse_differences


def ok(*results: str) -> CallOutcome:
    return CallOutcome("ok", " ".join(results), results=results)


def raised(error: str, message: str = "", variables: str = "", bases: Sequence[str] = ()) -> CallOutcome:
    digest = error + message + variables
    return CallOutcome("raised", digest, error, message, variables=variables, bases=tuple(bases))


class Example(NamedTuple):
    """An input, the outcomes of both versions, where the input comes from, and the unit."""

    setup: str
    old: CallOutcome
    new: CallOutcome
    origin: str = GUESSED
    code: ComparedCode = ComparedCode("f", "def f(a):\n    return a", promised=())

    @property
    def difference(self) -> Difference:
        names = tuple(line.partition(" = ")[0] for line in self.setup.splitlines() if not line.startswith("__"))
        return Difference(Call(self.setup, f"__out__(f({', '.join(names)}))", names, self.origin), self.old, self.new)


def code(text: str, promised: Sequence[str] | None = (), handled: Sequence[str] = ()) -> ComparedCode:
    return ComparedCode("f", text, promised, handled)


UNKNOWN = code("return a", None, ["TypeError", "AttributeError"])
PRICE = code('"""A price such as "12.30", in cents."""\nreturn int(price)')
ENDS = ok("iterator[1, raises TypeError]"), ok("iterator[1, raises ValueError]")
UNREAD = raised("ValueError", "invalid literal for int() with base 10: '5.'")
RECORD = code("def f(a):\n    return a['name'], a['price']")

EXAMPLES = {
    "both refuse": [
        Example("a = {}", raised("TypeError"), raised("AttributeError"), GUESSED, UNKNOWN),
        Example("a = {}", raised("TypeError"), ok("1"), EDGE_CASE, UNKNOWN),
        Example("a = []", raised("AttributeError"), raised("TypeError", "unhashable type: 'list'"), GUESSED, UNKNOWN),
    ],
    "another error": [
        Example(
            "a = [1]", raised("KeyError", variables="a = [1]"), raised("KeyError", variables="a = [1, 2]"), "drawn"
        ),
        Example("a = ''", raised("IndexError"), raised("StatisticsError"), "drawn"),
    ],
    "another error at the end": [Example("a = 1", *ENDS)],
    "a more specific error": [Example("a = ''", raised("Mine"), raised("Own", bases=["Mine"]), "drawn")],
    "fixed": [Example("a = ''", raised("TypeError"), ok("0"), "drawn")],
    "fixed, on a guess": [Example("a = [1]", raised("IndexError"), ok("0"), NEAR)],
    "fixed, in a part of a text": [
        Example("a = 'x'", raised("IndexError"), ok("1"), "drawn", code("return a.split('.')[1]"))
    ],
    "another number of values": [
        Example("a = [1, 2, 3]", ok("1"), raised("ValueError", "too many values to unpack (expected 2)"))
    ],
    "a float for a whole number": [Example("a = 5.0", ok("5.0"), ok("5"))],
    "out of range": [
        Example("a = 2", ok("1"), raised("OverflowError", "(34, 'Numerical result out of range')"), "drawn")
    ],
    "a record that is none": [Example("a = {'name': 1}", ok("1"), raised("KeyError", "'price'"), "drawn", RECORD)],
    "no input": [
        Example("a = {}", raised("TypeError"), raised("Unavailable")),
        Example("price = '1.5.'", ok("150"), UNREAD, NEAR, PRICE),
        Example("__files__({'a': '[1]'})\na = 'a'", ok("{}"), raised("TypeError")),
    ],
}

COUNTING = {
    "someone wrote it down": Example("a = {}", raised("TypeError"), raised("Unavailable"), "example"),
    "an error that is promised": Example("a = ''", raised("IndexError"), raised("KeyError"), "drawn",
                                         code("raise IndexError", ["IndexError"])),
    "an error of the system": Example("a = 1", raised("OSError", variables="a = 1"), raised("OSError"), "drawn"),
    "an end that is promised": Example("a = 1", *ENDS, GUESSED, code("raise TypeError", ["TypeError"])),
    "another item": Example("a = 1", ENDS[0], ok("iterator[2, raises ValueError]")),
    "an index of the argument": Example("a = 'x'", raised("IndexError"), ok("1"), "drawn", code("return a[1]")),
    "a key of the argument": Example("a = 'x'", raised("KeyError"), ok("1"), "drawn", code("return TABLE[a.lower()]")),
    "its own words": Example("price = '1.5.'", ok("150"), raised("ValueError", "no price"), NEAR, PRICE),
    "a number": Example("a = 1", ok("1"), ok("2"), "drawn"),
    "an error that the new code handles": Example("a = 'x'", raised("IndexError"), ok("1"), "drawn",
                                                  code("return a.split('.')[1]", (), ["Exception"])),
}  # fmt: skip


def test_each_reason_has_an_example() -> None:
    assert [row.name for row in EXCUSES] == list(EXAMPLES)


@pytest.mark.parametrize(("name", "example"), [(name, each) for name, rows in EXAMPLES.items() for each in rows])
def test_a_difference_is_passed_over_for_one_reason(name: str, example: Example) -> None:
    """So that no row is there in vain."""
    excused = excuse_differences([example.difference], example.code, is_enough=True)
    assert (excused.names, excused.differences) == ({name}, ())


@pytest.mark.parametrize(("name", "example"), [(name, rows[0]) for name, rows in EXAMPLES.items()])
def test_some_reasons_need_other_inputs_that_agree(name: str, example: Example) -> None:
    row = next(row for row in EXCUSES if row.name == name)
    excused = excuse_differences([example.difference], example.code, is_enough=False)
    assert bool(excused.differences) is row.needs_agreement


@pytest.mark.parametrize("example", [pytest.param(each, id=name) for name, each in COUNTING.items()])
def test_other_differences_count(example: Example) -> None:
    excused = excuse_differences([example.difference], example.code, is_enough=True)
    assert len(excused.differences) == 1, excused.names


def test_every_error_counts_if_nothing_is_known_of_the_code() -> None:
    for name in ("another error", "another error at the end", "fixed, on a guess"):
        example = EXAMPLES[name][0]
        assert excuse_differences([example.difference], ComparedCode("f"), is_enough=True).differences, name
