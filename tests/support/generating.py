"""The loop of generate, test and fix on one function: codes and suites as a model writes them."""

from __future__ import annotations

from typing import Any

import pytest
from support.engine import Bench, asks_for_tests, code_reply, reply_of_tests
from support.servers.scripted import ScriptedModel

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.evidence import Check, Evidence
from stet_ls.engine.settings.schema import SandboxSettings, Settings
from stet_ls.engine.settings.table_schemas import ModelRow

STUB = '''\
def median(values: list[float]) -> float:
    """The middle of the values in their order, or the mean of the two in the middle; 0 for none."""
    .$0..
'''
HEAD = STUB.partition("    .")[0]
GOOD = (
    HEAD
    + """\
    ordered = sorted(values)
    half = len(ordered) // 2
    if not ordered:
        return 0
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
"""
)
CRASHES = GOOD.replace("    if not ordered:\n        return 0\n", "")
WRONG = GOOD.replace("sorted(values)", "list(values)")
TESTS = """\
from solution import median


def test_odd():
    assert median([3, 1, 2]) == 2


def test_even():
    assert median([1, 2, 3, 4]) == 2.5


def test_none():
    assert median([]) == 0
"""


async def generate(
    scripted: ScriptedModel,
    codes: list[str],
    suites: list[str],
    *,
    text: str = STUB,
    budget: Budget = Budget.THOROUGH,
    sandbox: SandboxSettings | None = None,
    samples: int = 1,
    **fields: Any,
) -> Answer:
    """The answer to a stub, for a model that writes `codes` and, asked for tests, `suites`, one after the other."""
    written = iter(suites)
    rows = (ModelRow(name="*", samples=samples),)
    settings = ONE_SAMPLE.model_copy(update={"sandbox": sandbox or SandboxSettings(), "models": rows})
    scripted.on(asks_for_tests, lambda body: reply_of_tests(next(written)))
    scripted.replies([code_reply(code) for code in codes])
    async with Bench(scripted, settings) as bench:
        answer = await bench.run("generate", text, budget=budget, **fields)
    if any("code may not run" in each or "no Python" in each for each in answer.warnings):
        pytest.skip(f"code cannot run here: {answer.warnings}")
    return answer


def evidence_of_tests(answer: Answer) -> Evidence:
    return next(item for item in answer.evidence if item.check is Check.TESTS)


ONE_SAMPLE = Settings(models=(ModelRow(name="*", samples=1),))
"""Replies come in the order of the script; how many samples are drawn is another test's subject."""


def repairs(scripted: ScriptedModel) -> list[str]:
    """The last turns of the prompts that asked for a repair."""
    last = [str(each.body["messages"][-1]["content"]) for each in scripted.requests]
    return [each for each in last if each.startswith("That cannot be used:") and "CODE:" in each]
