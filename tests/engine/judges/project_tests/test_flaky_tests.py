"""Tests that pass now and then: with the change or without it, by chance or for lack of processor time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.processes.busy import too_busy_for
from support.projects.shop import PRICES, TESTS, Judged

from stet_ls.engine.api.evidence import Ruling

STEADY = PRICES.replace("1 - rate", "1.0 - rate").replace("sum(prices)", "sum([*prices])") + "# new\n"
LUCK = """

def test_luck():
    assert hash(WORD + str('# new' in open('shop/prices.py').read())) % 2
"""


def luck(before: str, after: str) -> str:
    """Tests with one that rests on the order of hashes, as "+-" or "--" says of its first and second run.

    Which word ends how is decided by the interpreter that runs the tests: the same one, with the same seeds.
    """
    code = "for w in range(2000): print(w, *('-+'[hash(f'{w}{new}') % 2] for new in (False, True)))"
    ends = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout.split()
        for seed in ("0", "1")
    ]
    words = iter(zip(*ends, strict=True))
    for (word, _), old, new in zip(words, words, words, strict=True):
        if ("".join(old), "".join(new)) == (before, after):
            return f"WORD = '{word}'\n{TESTS}{LUCK}"
    raise AssertionError("one word of sixteen does")


@pytest.mark.parametrize("after", ["-+", "--"])
async def test_a_test_that_is_flaky_without_the_change_is_ignored(shop: Path, judged: Judged, after: str) -> None:
    """Also if it failed each time with the change: one that fails half of the time does so often enough."""
    (shop / "tests/test_prices.py").write_text(luck("+-", after))
    evidence = await judged(STEADY)
    said = "2 tests pass; ignored as flaky before the change: test_luck"
    assert (evidence.verdict, evidence.detail, evidence.count) == (Ruling.PASS, said, 2)


async def test_a_test_that_is_flaky_only_with_the_change_is_undecided(
    shop: Path, judged: Judged
) -> None:  # fmt: skip
    (shop / "tests/test_prices.py").write_text(luck("++", "-+"))
    evidence = await judged(STEADY)
    assert (evidence.verdict, evidence.trusted) == (Ruling.UNKNOWN, False)
    assert evidence.detail == "1 test had varying results: test_luck"


async def test_a_test_that_always_fails_only_with_the_change_refutes_it(shop: Path, judged: Judged) -> None:
    (shop / "tests/test_prices.py").write_text(luck("++", "--"))
    evidence = await judged(STEADY)
    assert evidence.verdict is Ruling.FAIL
    assert "test_luck fails" in evidence.detail


@pytest.mark.parametrize("text", [PRICES, PRICES.replace("1 - rate", "1.0 - rate")], ids=["before", "after"])
async def test_a_test_that_got_no_processor_time_does_not_refute(
    shop: Path, judged: Judged, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    too_busy_for(monkeypatch, lambda spec: text.encode() in (spec.overlay.buffers.values() if spec.overlay else ()))

    reported = await judged(PRICES.replace("1 - rate", "1.0 - rate"))

    assert reported.verdict is Ruling.UNKNOWN
    assert "the machine was too busy" in reported.detail


@pytest.mark.parametrize("text", [PRICES, PRICES.replace("1 -", "2 -")], ids=["before", "after"])
async def test_a_second_run_without_processor_time_proves_nothing(
    shop: Path, judged: Judged, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """Whether the test that failed is a flaky one is then open: a person is asked."""
    too_busy_for(
        monkeypatch,
        lambda spec: (
            spec.env.get("PYTHONHASHSEED") == "1"
            and text.encode() in (spec.overlay.buffers.values() if spec.overlay else ())
        ),
    )

    reported = await judged(PRICES.replace("1 -", "2 -"))

    assert (reported.verdict, reported.trusted) == (Ruling.UNKNOWN, True)
    assert reported.detail.startswith("test_discount fails: ")
    assert "but not confirmed by a second run: stopped: the machine was too busy" in reported.detail
    assert [each.name for each in reported.attachments] == ["failing_tests.txt"]


async def test_a_test_that_passes_by_chance_is_not_fixed(shop: Path, judged: Judged) -> None:
    """A test that failed before and passes now has shown nothing if it passes without the change, too."""
    (shop / "tests/test_prices.py").write_text(luck("-+", "++"))
    evidence = await judged(STEADY, action="debug")
    assert evidence.detail == "2 tests pass; ignored as flaky before the change: test_luck"
