"""What a difference of two outcomes shows: a counter-example, or that the input is none of the code."""

from __future__ import annotations

import pytest

from stet_ls.engine.execution.harness_run import Call, CallOutcome
from stet_ls.engine.execution.inputs.rows import GUESSED
from stet_ls.engine.judges.differential.difference import NEAR, Difference
from stet_ls.engine.judges.differential.python_uncompared import uncompared_change

_FORM = '"""A price such as "12.30", in cents."""\nreturn int(price)'


def _ok(*results: str) -> CallOutcome:
    return CallOutcome("ok", " ".join(results), results=results)


def _raised(error: str, message: str = "", variables: str = "") -> CallOutcome:
    return CallOutcome("raised", error + variables, error, message, variables=variables)


def _difference(setup: str, old: CallOutcome, new: CallOutcome, origin: str = GUESSED) -> Difference:
    names = tuple(line.partition(" = ")[0] for line in setup.splitlines())
    return Difference(Call(setup, f"__out__(f({', '.join(names)}))", names, origin), old, new)


@pytest.mark.parametrize(
    ("old", "text", "is_one"),
    [
        ("IndexError", "return a.split('.')[1]", True),
        ("IndexError", "return a[1]", False),
        ("ValueError", "return int(a)", False),
        ("KeyError", "return TABLE[a.lower()]", False),
    ],
)
def test_a_text_without_its_parts_is_malformed(old: str, text: str, is_one: bool) -> None:
    assert _difference("a = 'x'", _raised(old), _ok("1")).is_malformed(text) is is_one


@pytest.mark.parametrize(
    ("setup", "old", "new", "origin", "is_outside"),
    [
        ("a = {}", _raised("TypeError"), _raised("Unavailable"), GUESSED, True),
        ("a = {}", _raised("TypeError"), _raised("Unavailable"), "example", False),
        (
            "price = '1.5.'",
            _ok("150"),
            _raised("ValueError", "invalid literal for int() with base 10: '5.'"),
            NEAR,
            True,
        ),
        ("price = '1.5.'", _ok("150"), _raised("ValueError", "no price"), NEAR, False),
        ("__files__({'a': '[1]'})\na = 'a'", _ok("{}"), _raised("TypeError"), GUESSED, True),
        ("a = 1", _ok("{}"), _raised("TypeError"), "drawn", False),
    ],
)
def test_an_input_outside_of_what_the_code_is_for(
    setup: str, old: CallOutcome, new: CallOutcome, origin: str, is_outside: bool
) -> None:
    assert _difference(setup, old, new, origin).is_outside(_FORM, ()) is is_outside


def test_what_a_call_had_changed_when_it_failed_on_a_wrong_kind_does_not_count() -> None:
    before, now = _raised("KeyError", variables="a = [1]"), _raised("KeyError", variables="a = [1, 2]")
    assert _difference("a = [1]", before, now, "drawn").is_other_failure(())
    before, now = _raised("OSError", variables="a = [1]"), _raised("OSError", variables="a = [1, 2]")
    assert not _difference("a = [1]", before, now, "drawn").is_other_failure(())


def test_iterators_may_end_with_another_accidental_error() -> None:
    before, now = _ok("iterator[1, raises TypeError]"), _ok("iterator[1, raises ValueError]")
    assert _difference("a = 1", before, now).is_other_end(())
    assert not _difference("a = 1", before, now).is_other_end(("TypeError",))
    assert not _difference("a = 1", before, _ok("iterator[2, raises ValueError]")).is_other_end(())


_HELD = (
    "def f(self):\n    self.lock.acquire()\n    try:\n        self.n += 1\n    finally:\n        self.lock.release()\n"
)
_TASKS = "async def f(c, xs):\n    ts = [ensure_future(c(x)) for x in xs]\n    return [await t for t in ts]\n"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (_HELD, "def f(self):\n    with self.lock:\n        self.n += 1\n", False),
        (_HELD, "def f(self):\n    self.n += 1\n", True),
        (_TASKS, "async def f(c, xs):\n    return list(await gather(*(c(x) for x in xs)))\n", False),
        (_TASKS, "async def f(c, xs):\n    return [await c(x) for x in xs]\n", True),
    ],
)
def test_a_lock_or_tasks_in_another_form_are_the_same(before: str, after: str, said: bool) -> None:
    assert bool(uncompared_change(before, after, "f")) is said


def test_long_outcomes_are_shown_where_they_differ() -> None:
    lines = ", ".join(f"'line {n}'" for n in range(200))
    first, second = _ok(f"[{lines}, 'one', {lines}]"), _ok(f"[{lines}, 'other', {lines}]")
    reported = str(_difference("a = 1", first, second))
    assert "'one'" in reported
    assert "'other'" in reported
    assert len(reported) < 300
    assert str(_difference("a = 1", _ok("2"), _ok("3"))) == "`f(1)` was: 2, now: 3"


def test_a_block_is_not_joined_into_one_line() -> None:
    call = Call("a = 1", "with f(a):\n    raise RuntimeError('in it')\n__out__('no error')", ("a",), GUESSED)
    assert "with f(a):\n    raise" in str(Difference(call, _ok("1"), _ok("2")))
