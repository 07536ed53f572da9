"""The loop of generate, test and fix: a scripted model, real tests in the real sandbox, a diagnosis, one repair."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from support.engine import Bench, applied, asks_for_tests, code_reply, reply_of_tests
from support.generating import CRASHES, GOOD, HEAD, ONE_SAMPLE, STUB, TESTS, WRONG, evidence_of_tests, generate, repairs
from support.servers.scripted import ScriptedModel, plans_code

from stet_ls.engine.actions.generate_test_fix.assert_count import count
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.events import Stage
from stet_ls.engine.api.evidence import EvidenceTier, Ruling
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.sandbox.processes.procfs import descendants
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.table_schemas import ModelRow

pytestmark = pytest.mark.usefixtures("stet_home")
OTHER_WRONG = GOOD.replace("sorted(values)", "list(reversed(values))")
WRONG_TEST = TESTS.replace("== 2.5", "== 2")
MISCALLED = """\
from solution import median


def test_odd():
    assert median([1], [2]) == 1


def test_even():
    assert median() == 0
"""


async def test_a_crash_that_the_tests_find_is_repaired(scripted: ScriptedModel) -> None:
    answer = await generate(scripted, [CRASHES, GOOD], [TESTS])
    assert "IndexError" in repairs(scripted)[0]
    assert "You must change `median`." in repairs(scripted)[0]
    assert applied(answer) == GOOD
    assert evidence_of_tests(answer).detail == "3 of 3 tests that the model wrote from the specification pass"
    assert (evidence_of_tests(answer).verdict, evidence_of_tests(answer).trusted) == (Ruling.PASS, False)
    assert answer.metadata.evidence_tier is EvidenceTier.SELF_TESTED, "tests of the model's own prove little"
    assert "test_solution_from_its_specification.py" in [each.name for each in evidence_of_tests(answer).attachments]


async def test_each_step_is_an_event(scripted: ScriptedModel) -> None:
    scripted.on(asks_for_tests, lambda body: reply_of_tests(TESTS))
    scripted.replies([code_reply(CRASHES), code_reply(GOOD)])
    async with Bench(scripted, ONE_SAMPLE) as bench:
        await bench.run("generate", STUB, budget=Budget.THOROUGH)
    names = ("code plan", "plan", "specification", "run", "diagnosis", "repair")
    seen = [f"{each.name}: {each.detail}" for each in bench.events if isinstance(each, Stage) and each.name in names]
    framework = seen[2].rpartition(" ")[2]
    assert [each for each in seen if each != "repair: "] == [
        "code plan: ",
        "plan: ",
        f"specification: `median`, by {framework}",
        "run: 3 tests",
        "diagnosis: 2 pass, 1 logic",
        "run: 3 tests",
        "diagnosis: 3 pass",
        "run: 3 tests, twice more",
    ]


async def test_a_mismatch_is_shown_to_the_model_and_repaired(scripted: ScriptedModel) -> None:
    answer = await generate(scripted, [WRONG, GOOD], [TESTS])
    assert "code or test may be wrong" in repairs(scripted)[0]
    assert "1 == 2 is false" in repairs(scripted)[0]
    assert applied(answer) == GOOD
    assert evidence_of_tests(answer).verdict is Ruling.PASS


async def test_the_prompt_for_tests_never_shows_the_code(scripted: ScriptedModel) -> None:
    await generate(scripted, [GOOD], [TESTS])
    (asked,) = [str(each.body["messages"]) for each in scripted.requests if asks_for_tests(each.body)]
    assert "The middle of the values" in asked
    assert "ordered" not in asked


async def test_a_model_that_repeats_its_code_does_not_discard_a_test(scripted: ScriptedModel) -> None:
    """The same reply twice is one opinion: whether test or code is right stays open, and the answer names both."""
    answer = await generate(scripted, [GOOD, GOOD], [WRONG_TEST])
    assert len(repairs(scripted)) == 1
    assert applied(answer) == GOOD
    assert "2 of 3 tests that the model wrote from the specification pass" in evidence_of_tests(answer).detail
    assert "`test_even`: undetermined: shown this test, the model keeps its code" in evidence_of_tests(answer).detail
    assert "discarded" not in evidence_of_tests(answer).detail
    assert evidence_of_tests(answer).verdict is Ruling.UNKNOWN


@pytest.mark.parametrize("second", ["the same", "another"])
async def test_a_correct_test_is_not_discarded_because_samples_agree(scripted: ScriptedModel, second: str) -> None:
    """Two replies with the same mistake, however they are written, pass for one another and fail the test."""
    alike = WRONG if second == "the same" else WRONG.replace("ordered", "sorted_values")
    answer = await generate(scripted, [WRONG, alike, WRONG, WRONG, WRONG], [TESTS], samples=2)
    assert applied(answer) in (WRONG, alike)
    assert evidence_of_tests(answer).verdict is not Ruling.PASS
    assert "discarded" not in evidence_of_tests(answer).detail
    assert "undetermined" in evidence_of_tests(answer).detail


SHIFTED = GOOD.replace("half = len(ordered) // 2", "half = len(ordered) >> 1")


async def test_code_is_kept_if_its_repair_fails_the_same_way_and_the_tests_stay(scripted: ScriptedModel) -> None:
    answer = await generate(scripted, [GOOD, SHIFTED], [WRONG_TEST, WRONG_TEST])
    assert applied(answer) == GOOD, "the first one passes as many"
    assert "another reply also fails it" in evidence_of_tests(answer).detail
    assert len(scripted.requests) == 4
    assert "two versions of the code fail it" in scripted.requests[-1].prompt
    assert "def median(values: list[float]) -> float:" in scripted.requests[-1].prompt
    assert "sorted(values)" not in scripted.requests[-1].prompt, "who writes tests sees no code"


async def test_a_failure_that_survives_a_repair_is_asked_of_the_tests(scripted: ScriptedModel) -> None:
    answer = await generate(scripted, [GOOD, SHIFTED], [WRONG_TEST, TESTS])
    found = evidence_of_tests(answer)
    assert found.detail.startswith("3 of 3 tests that the model wrote from the specification pass")
    assert "1 changed after two versions of the code failed it, `test_even`" in found.detail
    assert found.verdict is Ruling.UNKNOWN, "tests that were fitted to the code pass nothing"


async def test_a_mistake_that_new_tests_repeat_is_asked_of_the_code(scripted: ScriptedModel) -> None:
    again = MISCALLED.replace("test_odd", "test_one").replace("test_even", "test_no_argument")
    answer = await generate(scripted, [GOOD, GOOD], [MISCALLED, again])
    assert "rewritten tests say so too" in repairs(scripted)[0]
    assert "undetermined" in evidence_of_tests(answer).detail
    assert applied(answer) == GOOD


async def test_a_missing_package_is_a_fault_of_the_environment(scripted: ScriptedModel) -> None:
    text = "import acme_statistics_tools\n\n\n" + STUB
    answer = await generate(scripted, [GOOD], [TESTS], text=text)
    assert "environment: the package 'acme_statistics_tools' is not installed" in evidence_of_tests(answer).detail
    assert evidence_of_tests(answer).verdict is Ruling.UNKNOWN
    assert not repairs(scripted), "no other code would bring it"


async def test_an_import_of_a_missing_package_by_the_code_is_repaired(scripted: ScriptedModel) -> None:
    brought = GOOD.replace("    ordered", "    import acme_statistics_tools\n\n    ordered", 1)
    answer = await generate(scripted, [brought, brought, GOOD], [TESTS])
    first, second = repairs(scripted)
    assert "do without `acme_statistics_tools`: it is not installed" in first
    assert "Your last reply did not do what was asked" in second
    assert applied(answer) == GOOD
    assert evidence_of_tests(answer).verdict is Ruling.PASS


async def test_an_import_of_a_missing_package_by_the_tests_is_their_mistake(scripted: ScriptedModel) -> None:
    wanting = f"import acme_statistics_tools\n{TESTS}"
    answer = await generate(scripted, [GOOD], [wanting, TESTS])
    assert not repairs(scripted)
    assert "acme_statistics_tools" in scripted.requests[-1].prompt
    assert evidence_of_tests(answer).detail.startswith("3 of 3 tests")


async def test_a_repeated_repair_prompt_is_not_sent(scripted: ScriptedModel) -> None:
    answer = await generate(scripted, [CRASHES] * 5, [TESTS])
    first, second = repairs(scripted)
    assert "did not do what was asked" not in first
    assert "did not do what was asked" in second
    assert any("failed twice: change `median`" in each for each in answer.warnings)
    assert evidence_of_tests(answer).verdict is Ruling.FAIL
    assert answer.refuted, "an editor asks before it applies that"
    assert answer.confidence > 0.1, "no one vouches for the tests"


async def test_fewer_tests_or_asserts_are_refused(scripted: ScriptedModel) -> None:
    fewer = "from solution import median\n\n\ndef test_odd():\n    assert median([1]) == 1\n"
    answer = await generate(scripted, [GOOD], [MISCALLED, fewer])
    assert any(
        "have 1 tests instead of 2, 1 asserts instead of 2, so they were rejected" in each for each in answer.warnings
    )
    assert evidence_of_tests(answer).verdict is Ruling.UNKNOWN, "no test that counts is no pass"
    assert evidence_of_tests(answer).detail.startswith("0 of 2 tests")


async def test_wrong_tests_are_rewritten_once(scripted: ScriptedModel) -> None:
    answer = await generate(scripted, [GOOD], [MISCALLED, TESTS])
    assert evidence_of_tests(answer).detail.startswith("3 of 3 tests")
    assert len(scripted.requests) == 3


async def test_a_repair_may_not_remove_tests(scripted: ScriptedModel) -> None:
    neighbor = "\n\ndef test_beside():\n    assert median([1]) == 1\n"
    text = f"{STUB}{neighbor}"
    whole = f"{GOOD}{neighbor}"
    answer = await generate(scripted, [CRASHES, GOOD], [TESTS], text=text)
    assert applied(answer) == whole
    assert count(whole).lost(count(GOOD)) == "0 tests instead of 1, 0 asserts instead of 1"


async def test_at_the_call_limit_the_best_is_kept_and_the_rest_is_reported(scripted: ScriptedModel) -> None:
    settings = Settings(models=(ModelRow(name="*", samples=1, repairs=4),))
    scripted.on(asks_for_tests, lambda body: reply_of_tests(TESTS))
    scripted.replies(["I cannot."] * 3 + [code_reply(CRASHES), code_reply(GOOD)])
    async with Bench(scripted, settings) as bench:
        answer = await bench.run("generate", STUB, budget=Budget.THOROUGH)
    assert applied(answer) == CRASHES
    assert (len(scripted.plans), len(scripted.requests)) == (1, 5)
    assert any("No repair after" in each and "allows 6 calls" in each for each in answer.warnings)
    assert "2 of 3 tests" in evidence_of_tests(answer).detail
    assert evidence_of_tests(answer).verdict is Ruling.FAIL


async def test_cancelling_leaves_no_process(scripted: ScriptedModel) -> None:
    endless = TESTS + "\n\ndef test_endless():\n    import time\n    time.sleep(60)\n"
    scripted.on(asks_for_tests, lambda body: reply_of_tests(endless))
    scripted.replies([code_reply(GOOD)])
    before = set(descendants(os.getpid()))
    async with Bench(scripted, ONE_SAMPLE) as bench:
        task = asyncio.create_task(bench.run("generate", STUB, budget=Budget.THOROUGH))
        ran = [Stage("run", "4 tests")]
        await until(lambda: task.done() or (ran[0] in bench.events and bool(running(before))))
        assert not task.done(), "nothing was running that could be cancelled"
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert Stage("diagnosis", "3 pass, 1 logic") not in bench.events
    await until(lambda: not running(before))


def running(before: set[int]) -> set[int]:
    """What was started since."""
    return set(descendants(os.getpid())) - before


async def test_standard_writes_no_tests(scripted: ScriptedModel) -> None:
    await generate(scripted, [GOOD], [], budget=Budget.STANDARD)
    assert len(scripted.requests) == 1


async def test_tests_of_the_user_run_first(scripted: ScriptedModel, tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / "tests").mkdir(parents=True)
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    (root / "solution.py").write_text(STUB.replace("$0", ""))
    own = root / "tests/test_solution.py"
    own.write_text(TESTS)
    fields = {"path": root / "solution.py", "workspace": Workspace((root,))}
    answer = await generate(scripted, [GOOD], [], **fields)
    assert (evidence_of_tests(answer).verdict, evidence_of_tests(answer).trusted) == (Ruling.PASS, True)
    assert len(scripted.requests) == 1, "what they prove needs no tests of a model's"
    assert own.read_text() == TESTS
    assert sorted(each.name for each in (root / "tests").iterdir()) == ["test_solution.py"]


async def test_debug_is_also_judged_by_its_specification(scripted: ScriptedModel) -> None:
    scripted.on(asks_for_tests, lambda body: reply_of_tests(TESTS))
    scripted.replies([code_reply(CRASHES), code_reply(GOOD)])
    async with Bench(scripted, ONE_SAMPLE) as bench:
        text = WRONG.replace("ordered = list", "ordered =$0 list")
        answer = await bench.run("debug", text, budget=Budget.THOROUGH, instruction="the order is ignored")
    assert applied(answer) == GOOD
    assert evidence_of_tests(answer).detail.startswith("3 of 3 tests")


async def until(happened: Callable[[], bool]) -> None:
    """Waits for it; the test's own timeout ends a wait in vain."""
    async with asyncio.timeout(60):
        while not happened():
            await asyncio.sleep(0.02)


EXAMPLE = STUB.replace("0 for none.", "0 for none.\n\n    >>> median([1, 2, 3])\n    2\n    ")


def with_example(code: str) -> str:
    return code.replace(HEAD, EXAMPLE.partition("    .")[0])


async def test_a_passing_example_does_not_end_the_loop(scripted: ScriptedModel) -> None:
    answer = await generate(scripted, [WRONG, GOOD], [TESTS], text=EXAMPLE)
    assert applied(answer) == with_example(GOOD)
    assert evidence_of_tests(answer).detail.startswith("3 of 3 tests")
    assert answer.metadata.evidence_tier is EvidenceTier.TESTED


async def test_a_repair_that_breaks_an_example_is_refused(scripted: ScriptedModel) -> None:
    broken = GOOD.replace("return ordered[half] if", "return ordered[0] if")
    answer = await generate(scripted, [WRONG, broken], [TESTS], text=EXAMPLE)
    assert applied(answer) == with_example(WRONG)
    assert any("A repair was refused" in each for each in answer.warnings)
    assert answer.metadata.evidence_tier is EvidenceTier.SELF_TESTED, "one example against tests from the same words"


async def test_code_and_tests_are_written_from_a_plan_and_the_tests_without_the_code(
    stet_home: Path, scripted: ScriptedModel
) -> None:
    plan = "Libraries: none\nSort, then take the middle.\n- []: 0"
    scripted.on(plans_code, plan)
    scripted.on(asks_for_tests, lambda body: reply_of_tests(TESTS))
    scripted.reply(code_reply(GOOD))
    async with Bench(scripted, ONE_SAMPLE) as bench:
        await bench.run("generate", STUB, budget=Budget.THOROUGH)
    assert len(scripted.plans) == 1
    code, *others = scripted.requests
    assert "take the middle" in code.prompt
    for tests in others:
        assert "take the middle" in tests.prompt
        assert "half = len(ordered)" not in tests.prompt
