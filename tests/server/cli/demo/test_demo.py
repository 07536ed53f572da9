"""`stet demo`: the real server over pipes, with a model whose replies are known."""

from __future__ import annotations

import json
import re
from pathlib import Path

from support.engine import code_reply
from support.processes.command import Stet
from support.servers.scripted import ScriptedModel, dead_endpoint

from stet_ls.server.cli.demo import rejected_answer
from stet_ls.server.cli.demo.command import confidence_line

FIX = '''\
PLAN: the name is misspelt
CODE:
```python
def total_value(items: list[Item]) -> float:
    """Return what all items are worth together: price times quantity, summed."""
    total = 0.0
    for item in items:
        total += item.price * item.quantity
    return {name}
```
'''
TESTS = """\
TESTS:
```python
from prices import split_bill


def test_the_cents_add_up():
    assert sum(split_bill(10.0, 3)) == 10.0
```
"""


def test_the_planted_bug_is_found_by_search(stet: Stet) -> None:
    with dead_endpoint() as address:
        ran = stet("demo", "debug", STET_BASE_URL=address)

    assert ran.status == 0, ran.err
    lines = ran.out.splitlines()
    assert lines[0] == "model: none, the bug is found by search"
    assert "-    return totl" in lines
    assert "+    return total" in lines
    assert any(line.startswith("✓ search: found by search, ") for line in lines)
    assert any("% sure" in line for line in lines), "as an editor says it"
    assert lines[-1] == "the planted bug is gone"


def test_the_planted_bug_is_fixed(stet: Stet, scripted: ScriptedModel) -> None:
    scripted.reply(FIX.format(name="total"))

    ran = stet("demo", "debug", STET_CHECKS_SEARCH="false")

    assert ran.status == 0, ran.err
    lines = ran.out.splitlines()
    assert lines[0] == f"model: scripted-7b ({scripted.base_url})"
    assert "-    return totl" in lines
    assert "+    return total" in lines
    assert any(line.startswith("✓ syntax: ") for line in lines)
    assert any(re.fullmatch(r"done in \d+\.\d s", line) for line in lines)
    assert lines[-1] == "the planted bug is gone"
    assert "Undefined name `totl`" in scripted.requests[0].prompt, "the linter's finding is the diagnostic"


def test_a_bug_that_is_not_fixed_exits_with_1(stet: Stet, scripted: ScriptedModel) -> None:
    """The model changes something, but not the mistake: the demo must not believe it."""
    for _ in range(4):
        scripted.reply(FIX.format(name="totl  # the total"))

    ran = stet("demo", "debug", STET_CHECKS_SEARCH="false")

    assert ran.status == 1
    assert ran.out.splitlines()[-1] == "the planted bug is still there"


def test_a_refuted_edit_is_not_applied(stet: Stet, scripted: ScriptedModel) -> None:
    """No one is there to be asked, so the promise decides."""
    for _ in range(4):
        scripted.reply(FIX.format(name="sume"))

    ran = stet("demo", "debug", STET_CHECKS_SEARCH="false")

    assert ran.status == 1
    assert "✗ " in ran.out
    assert "+    return sume" not in ran.out


def test_an_edit_that_nothing_ran_is_not_told_as_done_alone(stet: Stet, scripted: ScriptedModel) -> None:
    scripted.default = code_reply(
        "def names_below(items: list[Item], minimum: int) -> list[str]:\n"
        '    """Return the sorted names of the items of which fewer than minimum are left."""\n'
        "    return sorted(item.name for item in items if item.quantity > minimum)\n"
    )

    ran = stet("demo", "generate")

    assert "item.quantity > minimum" in ran.out, ran.err
    assert "No check ran this edit" in ran.out
    assert "give an example: names_below(...) == ..." in ran.out


def test_each_kind_of_result_is_shown(stet: Stet, scripted: ScriptedModel) -> None:
    """An edit, a new file, an explanation."""
    replies = {"Find the bug": FIX.format(name="total"), "Write tests": TESTS, "Explain what": "It splits a bill."}
    for goal, reply in replies.items():
        scripted.on(lambda body, goal=goal: goal in str(body), reply)

    ran = stet("demo", "debug", "test", "explain")

    assert ran.status == 0, ran.err
    assert "--- a/tests/test_prices.py" in ran.out
    assert "+    assert sum(split_bill(10.0, 3)) == 10.0" in ran.out
    assert "It splits a bill." in ran.out
    assert re.search(r"^explain +\d+\.\d s +done$", ran.out, re.MULTILINE)


def test_the_missing_model_is_reported(stet: Stet) -> None:
    with dead_endpoint() as address:
        ran = stet("demo", STET_BASE_URL=address)

    assert ran.status == 3
    assert "a wrong reply was caught" in ran.out, "that needs none"
    assert ran.err.startswith("error: the demo needs a model: ")


def test_a_wrong_answer_is_caught_without_a_model(stet: Stet) -> None:
    """The reply is recorded; what the judges find is not."""
    ran = stet("demo", "wrong")

    assert ran.status == 0, ran.out
    assert "    return total * (1 - member) if coupon is None else total * (1 - member) * coupon" in ran.out
    assert "✓ syntax: syntax ok (ruff)" in ran.out
    assert re.search(r"^✗ differential: .*discount", ran.out, re.MULTILINE)
    assert ran.out.splitlines()[-1].startswith("a wrong reply was caught")


def test_changes_by_others_are_verified_in_seconds(stet: Stet) -> None:
    """Nothing is recorded: each change is made, and judged by running it."""
    ran = stet("demo", "verify")

    assert ran.status == 0, ran.out
    wrong, weakened, honest = ran.out.split("\nverify: ")[1:]
    assert "discount: differential refuted: `discount(100.0, True, " in wrong
    assert re.search(r"^tests/test_prices.py:4 .*\n(?:    .*\n)*refuted: 1 unit ", weakened, re.MULTILINE)
    assert re.search(r"^prices.py:6 discount: same behavior on \d+ inputs", honest, re.MULTILINE)
    last = re.fullmatch(
        r"two wrong changes were refuted, the honest one was not; (\d+\.\d) s", ran.out.splitlines()[-1]
    )
    assert last


def test_the_recorded_reply_belongs_to_the_sample() -> None:
    """Else it would be judged on a text that no one sees."""
    record = json.loads((Path(rejected_answer.__file__).parent / rejected_answer.RECORD).read_text())

    assert record["request"]["text"] == (Path(rejected_answer.__file__).parent / "sample" / "prices.py").read_text()


def test_a_confidence_that_was_counted_has_no_interval() -> None:
    assert confidence_line({"confidence": 0.87, "metadata": {}}) == "87 % sure"
    assert confidence_line({"confidence": 0.87, "metadata": {"confidence_interval": [0.42, 0.99]}}) == "42-99 % sure"
