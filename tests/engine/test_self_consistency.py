"""Several replies: drawn while nothing proves the first, grouped by what they do, the largest group wins."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.engine import Bench, applied
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.events import Stage
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.settings.schema import Checks, Settings
from stet_ls.engine.settings.table_schemas import ModelRow

STUB = "def largest(xs: list[int]) -> int:\n    $0...\n"
SHOWN = '''def largest(xs: list[int]) -> int:
    """The largest.

    >>> largest([1, 3, 2])
    3
    """
    $0...
'''
PROVEN = SHOWN.replace("    3\n", "    3\n    >>> largest([4])\n    4\n    >>> largest([])\n    0\n")
MAX = "def largest(xs: list[int]) -> int:\n    return max(xs, default=0)\n"
SORTED = "def largest(xs: list[int]) -> int:\n    ordered = sorted(xs)\n    return ordered[-1] if ordered else 0\n"
MIN = "def largest(xs: list[int]) -> int:\n    return min(xs, default=0)\n"
LAST = "def largest(xs: list[int]) -> int:\n    return xs[-1] if xs else 0\n"


def reply(code: str) -> str:
    return f"PLAN: as asked\nCODE:\n```python\n{code}```\n"


async def generate(
    scripted: ScriptedModel, *codes: str, marked: str = STUB, samples: int = 4, **fields: object
) -> Answer:
    scripted.replies([Reply(reply(code)) for code in codes])
    row = ModelRow(name="*", samples=samples, repairs=1)
    settings = fields.pop("settings", Settings(models=(row,)))
    async with Bench(scripted, settings) as bench:  # type: ignore[arg-type]
        answer = await bench.run("generate", marked, **fields)
        assert [event.name for event in bench.events if isinstance(event, Stage)][-1] == "finish"
    return answer


def agreement(answer: Answer) -> Evidence | None:
    return next((item for item in answer.evidence if item.check is Check.AGREEMENT), None)


@pytest.mark.usefixtures("stet_home")
class TestSamples:
    async def test_two_agreeing_samples_are_enough(self, scripted: ScriptedModel) -> None:
        answer = await generate(scripted, SORTED, MAX)
        assert len(scripted.requests) == 2
        evidence = agreement(answer)
        assert evidence is not None
        assert evidence.verdict is Ruling.PASS
        assert evidence.detail.startswith("2 of 2 samples agree on ")
        assert applied(answer) == SORTED, "of those that behave alike the first"

    async def test_the_majority_outvotes_the_first(self, scripted: ScriptedModel) -> None:
        answer = await generate(scripted, MIN, MAX, SORTED, budget=Budget.THOROUGH)
        assert applied(answer) == MAX
        assert "2 of 3" in agreement(answer).detail or "2 of 4" in agreement(answer).detail  # type: ignore[union-attr]

    async def test_without_a_majority_the_sample_that_is_most_like_the_others_is_kept(
        self, scripted: ScriptedModel
    ) -> None:
        """The last number is sometimes the largest and sometimes the smallest."""
        answer = await generate(scripted, MIN, MAX, LAST)
        assert applied(answer) == LAST
        assert agreement(answer).verdict is Ruling.UNKNOWN  # type: ignore[union-attr]
        assert len(scripted.requests) == 3, "the budget standard buys three calls"

    async def test_of_two_that_differ_the_one_of_lowest_temperature_is_kept(self, scripted: ScriptedModel) -> None:
        answer = await generate(scripted, MIN, MAX, samples=2)
        assert applied(answer) == MIN

    async def test_an_edit_proven_by_project_tests_needs_no_vote(self, scripted: ScriptedModel, tmp_path: Path) -> None:
        (tmp_path / "numbers_of.py").write_text(STUB.replace("$0", ""))
        test = "from numbers_of import largest\n\n\ndef test_largest():\n    assert largest([1, 3, 2]) == 3\n"
        (tmp_path / "test_numbers_of.py").write_text(test)
        workspace = Workspace((tmp_path,))
        answer = await generate(scripted, MAX, path=tmp_path / "numbers_of.py", workspace=workspace)
        assert Check.TESTS in {item.check for item in answer.evidence if item.trusted and item.verdict is Ruling.PASS}
        assert len(scripted.requests) == 1

    async def test_an_edit_proven_by_doctests_needs_no_vote(self, scripted: ScriptedModel) -> None:
        answer = await generate(scripted, MAX, marked=PROVEN)
        assert len(scripted.requests) == 1
        assert agreement(answer) is None

    async def test_one_example_does_not_replace_the_vote(self, scripted: ScriptedModel) -> None:
        second = MAX.replace("max(xs, default=0)", "xs[1]")
        answer = await generate(scripted, second, MAX, SORTED, marked=SHOWN)
        assert "max(xs, default=0)" in applied(answer)
        assert agreement(answer).detail.startswith("2 of 3 samples agree")  # type: ignore[union-attr]

    async def test_a_thorough_job_votes_even_with_examples(self, scripted: ScriptedModel) -> None:
        second = MAX.replace("max(xs, default=0)", "xs[1]")
        proven = PROVEN.replace("largest([4])", "max([4])").replace("largest([])", "sum([])")
        answer = await generate(scripted, second, MAX, SORTED, marked=proven, budget=Budget.THOROUGH)
        assert "max(xs, default=0)" in applied(answer)
        assert agreement(answer).detail.startswith("2 of 3 samples agree")  # type: ignore[union-attr]

    async def test_a_sample_that_does_not_parse_has_no_vote(self, scripted: ScriptedModel) -> None:
        answer = await generate(scripted, MAX, MAX.replace("return", "retrun"), SORTED)
        assert "2 of 2 samples agree" in agreement(answer).detail  # type: ignore[union-attr]

    async def test_a_strong_model_is_sampled_once(self, scripted: ScriptedModel) -> None:
        await generate(scripted, MIN, samples=1)
        assert len(scripted.requests) == 1

    async def test_the_budget_quick_has_one_call(self, scripted: ScriptedModel) -> None:
        await generate(scripted, MIN, budget=Budget.QUICK)
        assert len(scripted.requests) == 1

    async def test_without_validation_nothing_is_compared(self, scripted: ScriptedModel) -> None:
        await generate(scripted, MIN, settings=Settings(checks=Checks(validation=False)))
        assert len(scripted.requests) == 1

    async def test_a_later_model_failure_keeps_the_earlier_samples(self, scripted: ScriptedModel) -> None:
        scripted.default = Reply.failure(401, "no")
        answer = await generate(scripted, MAX)
        assert applied(answer) == MAX
        assert any("No further sample was drawn" in warning for warning in answer.warnings)


@pytest.mark.usefixtures("stet_home")
async def test_a_tiny_model_is_sampled_again_before_a_repair(scripted: ScriptedModel) -> None:
    scripted.models = ["qwen2.5-coder-0.5b"]
    answer = await generate(scripted, MIN, MAX, marked=PROVEN, settings=Settings())
    assert answer.success
    first, second = (request.body for request in scripted.requests[:2])
    assert len(first["messages"]) == len(second["messages"]), "the same question again"
    assert second["temperature"] > first["temperature"]
    assert "max(xs" in applied(answer)
