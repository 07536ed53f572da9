"""Same results on inputs that never execute a change prove nothing about it, and the evidence says so."""

from __future__ import annotations

import pytest
from support.judging import MakeCase, assert_unseen

from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.execution.probe import in_order
from stet_ls.engine.execution.python.probes import probed
from stet_ls.engine.judges.differential.judge import judge

SUM = "def f(xs: list[int]) -> int:\n    whole = 0\n    for x in xs:\n        whole += x\n    return whole\n"
DIGEST = "import hashlib\n\n\n"
RARE = "hashlib.sha256(text.encode()).hexdigest().startswith('c0ffee1')"
WIDTH = "def f(text: str) -> str:\n    return text.strip()\n"
VARIED = """
def f(n, *rest, own=lambda each: each or 1):
    'Says.'
    global SEEN
    SEEN = [x for x in rest if 0 < x]
    try:
        while n > 3 or not SEEN:
            n, SEEN = n - 1, SEEN or (y := [n])
    except TypeError:
        return None
    match n:
        case int() if n < 2:
            return own(n)
    return own(n) if n <= 2 else SEEN
"""


def needs(before: str, after: str) -> tuple[list[str], list[str]]:
    """What is asked of the inputs in the old text and in the new one."""
    both = probed(before, after)
    assert both is not None
    return [str(each) for each in in_order(both[0].probes)], [str(each) for each in in_order(both[1].probes)]


@pytest.mark.parametrize("end", ["\r", "\r\n"])
def test_probe_lines_are_the_lines_of_the_parser(end: str) -> None:
    old, new = SUM, SUM.replace("whole += x", "whole = whole + x")
    assert needs(old.replace("\n", end), new.replace("\n", end)) == needs(old, new)


def test_code_in_both_texts_gets_no_probe() -> None:
    old, new = needs(SUM, SUM.replace("    return whole\n", "    return whole + 0  # the same\n"))
    assert old == ["ran line 5 of the old code: `return whole`"]
    assert new == ["ran line 5: `return whole + 0  # the same`"]
    assert probed(SUM, SUM.replace("whole = 0", "whole = 0  # begins")) is None, "a comment runs nowhere"
    assert probed(SUM, SUM + "\nLIMIT = 3\n") is None, "what runs when the module is loaded has run"
    assert probed(SUM, "def f(:") is None


def test_conditions_are_probed_for_both_outcomes_and_all_operands() -> None:
    _, new = needs(
        SUM, SUM.replace("    whole = 0\n", "    whole = 0\n    if len(xs) > 50 and xs[0] == 77:\n        pass\n")
    )
    line = "line 3: `if len(xs) > 50 and xs[0] == 77:`"
    assert new == [
        f"ran {line}", "ran line 4: `pass`", f"fulfilled the condition in {line}", f"failed the condition in {line}",
        f"came to the rest of the condition in {line}", f"made both sides equal in {line}",
    ]  # fmt: skip


def test_a_text_with_probes_runs_as_the_one_without() -> None:
    both = probed("def f(n):\n    return n\n", VARIED)
    assert both is not None
    came: list[int] = []

    def note(number: int, value: object = None, *_: object) -> object:
        came.append(number)
        return value

    plain: dict[str, object] = {}
    noting: dict[str, object] = {both[1].name: note}
    exec(VARIED, plain)
    exec(both[1].text, noting)
    for given in [(1, 2), (5, -1), (2,), (0,), ("a",)]:
        assert plain["f"](*given) == noting["f"](*given)  # type: ignore[operator]
    assert noting["f"].__doc__ == "Says."
    assert {*came} <= {*range(len(both[1].probes))}
    assert len({*came}) > 12


async def test_code_guarded_by_several_literals_is_reached(make: MakeCase) -> None:
    wrong = SUM.replace("    whole = 0\n", "    whole = 0\n    if len(xs) > 50 and xs[0] == 77:\n        return 1\n")
    evidence = await judge(make(SUM, wrong, "f"))
    assert evidence.verdict is Ruling.FAIL, evidence
    assert "77" in evidence.detail


UNREACHED = {
    "added": (
        f"{DIGEST}{WIDTH}", f"{DIGEST}{WIDTH}".replace("    return", f"    if {RARE}:\n        return ''\n    return"),
        "none of which ran line 6: `return ''`",
    ),
    "removed": (
        f"{DIGEST}{WIDTH}".replace("    return", f"    if {RARE}:\n        return ''\n    return"), f"{DIGEST}{WIDTH}",
        "none of which ran line 6 of the old code: `return ''`",
    ),
    "on one line": (
        f"{DIGEST}{WIDTH}", f"{DIGEST}{WIDTH}".replace("text.strip()", f"'' if {RARE} else text.strip()"),
        "none of which fulfilled the condition in line 5",
    ),
    "a tie": (
        "def f(a: int, b: int) -> int:\n    a, b = 2 * int(a), 2 * int(b) + 1\n    return a if a < b else b\n",
        "def f(a: int, b: int) -> int:\n    a, b = 2 * int(a), 2 * int(b) + 1\n    return a if a <= b else b\n",
        "none of which made both sides equal in line 3",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNREACHED)
async def test_a_change_that_no_input_reached_is_reported_and_not_proven(make: MakeCase, name: str) -> None:
    before, after, says = UNREACHED[name]
    evidence = await judge(make(before, after, "f"))
    assert_unseen(evidence, says)


async def test_a_change_that_inputs_reached_is_proven(make: MakeCase) -> None:
    evidence = await judge(make(SUM, "def f(xs: list[int]) -> int:\n    return sum(xs)\n", "f"))
    assert (evidence.verdict, evidence.trusted) == (Ruling.PASS, True), evidence
    assert "none of which" not in evidence.detail


async def test_a_change_in_two_units_is_reached_through_both(make: MakeCase) -> None:
    before = "def one(n: int) -> int:\n    return n + 1\n\n\ndef two(n: int) -> int:\n    return n + 2\n"
    after = before.replace("n + 1", "1 + n").replace("n + 2", "2 + n")
    evidence = await judge(make(before, after, "one"))
    assert evidence.verdict is Ruling.PASS, evidence


async def test_code_that_cannot_run_with_probes_is_compared_without_them(make: MakeCase) -> None:
    look = "import builtins\n\nassert not any(name.startswith('__came') for name in vars(builtins))\n\n\n"
    evidence = await judge(make(look + SUM, look + SUM.replace("whole += x", "whole = x + whole"), "f"))
    assert evidence.verdict is Ruling.PASS, evidence


def test_an_operand_that_was_only_dropped_has_to_evaluate_both_ways() -> None:
    """Where it is true each time, dropping it shows nowhere."""
    before = "def f(xs: list[int]) -> int:\n    if len(xs) > 1 and xs[0] < 10**9:\n        return 1\n    return 2\n"
    old, _ = needs(before, before.replace(" and xs[0] < 10**9", ""))
    line = "line 2 of the old code: `if len(xs) > 1 and xs[0] < 10**9:`"
    assert old.count(f"failed the condition in {line}") == 2, "the whole, and the operand"
    other, _ = needs(before, before.replace("xs[0] < 10**9", "max(xs) < 5"))
    assert other.count(f"failed the condition in {line}") == 1, "what was replaced is not told apart by its own value"


async def test_what_only_a_wrong_kind_of_argument_executed_counts_as_not_executed(make: MakeCase) -> None:
    """The new branch runs for texts alone, on which both versions fail afterwards."""
    before = "def f(a):\n    return a % 7 - 1 if a * 0 == 0 else a / 2\n"
    after = "def f(a):\n    if a * 0 != 0:\n        a = a / 2\n    return a % 7 - 1\n"
    evidence = await judge(make(before, after, "f"))
    assert evidence.verdict is not Ruling.PASS, evidence
    assert "a = a / 2" in evidence.detail or "a * 0" in evidence.detail, evidence


async def test_what_inputs_execute_counts_where_both_texts_fail_differently(make: MakeCase) -> None:
    before = f"{DIGEST}def f(text: str) -> str:\n    return text.split()[0]\n"
    after = f"{DIGEST}def f(text: str) -> str:\n    if {RARE}:\n        return ''\n    return max(text.split()[:1])\n"
    evidence = await judge(make(before, after, "f"))
    assert "which error is raised" in evidence.detail
    assert evidence.verdict is Ruling.UNKNOWN, evidence


SHOUTED = "def f(text):\n    if text * 0 == []:\n        return 1\n    return text.upper()\n"


async def test_inputs_that_are_passed_over_execute_nothing(make: MakeCase) -> None:
    """Only lists come to the changed line: they differ, and count as unusual for what is called a text."""
    evidence = await judge(make(SHOUTED, SHOUTED.replace("return 1", "return 2"), "f"))
    assert evidence.verdict is not Ruling.PASS, evidence
