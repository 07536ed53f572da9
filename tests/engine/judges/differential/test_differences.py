"""How a difference of two outcomes is shown, and what no run compares."""

from __future__ import annotations

import pytest

from stet_ls.engine.execution.harness_run import Call, CallOutcome
from stet_ls.engine.execution.inputs.rows import CAPTURED, EDGE_CASE, GUESSED
from stet_ls.engine.judges.differential.comparison import Comparison
from stet_ls.engine.judges.differential.difference import Difference
from stet_ls.engine.judges.differential.excuses.unusual_inputs import ENOUGH, UNUSUAL, usual_kinds
from stet_ls.engine.judges.differential.python_uncompared import uncompared_change


def _ok(*results: str) -> CallOutcome:
    return CallOutcome("ok", " ".join(results), results=results)


def _difference(setup: str, old: CallOutcome, new: CallOutcome, origin: str = GUESSED) -> Difference:
    names = tuple(line.partition(" = ")[0] for line in setup.splitlines())
    return Difference(Call(setup, f"__out__(f({', '.join(names)}))", names, origin), old, new)


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


@pytest.mark.parametrize("text", ["Straße", "İi", "٣²", "ﬁn", "ıſς"])
def test_what_differs_on_rare_letters_alone_is_a_question(text: str) -> None:
    found = _difference(f"text = {text!r}", _ok("1"), _ok("2"), EDGE_CASE)
    assert found.is_question
    assert not found.is_conclusive
    assert _difference(f"text = {text!r}", _ok("1"), _ok("2"), CAPTURED).is_conclusive, "someone wrote it"


@pytest.mark.parametrize("is_first", [True, False])
def test_other_inputs_that_agree_do_not_hide_it(is_first: bool) -> None:
    rare = Comparison("f", 9, 9, 0, (_difference("text = '٣²'", _ok("1"), _ok("2"), EDGE_CASE),), {})
    agreeing = Comparison("f", 2 * ENOUGH, 2 * ENOUGH, 0, (), {})
    together = rare.with_observed(agreeing, frozenset(), {}) if is_first else agreeing.combine(rare, frozenset())
    assert together.differences == rare.differences


@pytest.mark.parametrize("text", ["Grün", "ÉTÉ", "жук", "あ漢", "½€"])
def test_other_letters_are_as_good_as_any(text: str) -> None:
    assert not _difference(f"text = {text!r}", _ok("1"), _ok("2"), EDGE_CASE).is_question


_NAMES = "def f(names):\n    return [name[:1] or '?' for name in names]\n"


@pytest.mark.parametrize(
    ("names", "excuse"),
    [("['a']", ""), ("[['a']]", UNUSUAL), ("(['a'] * 700)[:2000]", ""), ("([['a']] * 700)[:2000]", UNUSUAL)],
)
def test_names_are_a_list_of_texts_however_long(names: str, excuse: str) -> None:
    kinds = usual_kinds(_NAMES, [_call("['b']"), _call("[['b']]")], {"names": frozenset({"List", "List of str"})})
    assert kinds.excuse(_call(names)) == excuse


def _call(names: str) -> Call:
    return Call(f"names = {names}", "__out__(f(names))", ("names",), GUESSED)
