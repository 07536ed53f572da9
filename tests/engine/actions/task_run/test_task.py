"""Task: a plan, its steps one after the other on what the earlier ones left, and one answer over all files."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.engine import Bench, asks_for_tests, reply_of_tests
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.actions.planning.project import Project
from stet_ls.engine.actions.planning.task_plan import PlanRules, read_plan
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.events import Stage
from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.api.plan import RequestIntent
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.errors import ModelError, UsageError
from stet_ls.engine.loop import UnusableReply
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.table_schemas import ModelRow
from stet_ls.server.evidence.evidence_text import unrequested_risks
from stet_ls.validators.source import Splice

PRICES = """def discount(price, rate):
    return price - rate


def total(prices):
    return sum(prices)
"""
CART = """from prices import total


def pay(cart):
    return total(cart)
"""
DISCOUNT = "def discount(price, rate):\n    return price * (1 - rate)\n"
PAY = "def pay(cart, rate=0):\n    return total(cart) * (1 - rate)\n"
REFUND = "def refund(cart):\n    return -pay(cart)\n"

# Replies are scripted in their order; how many are drawn for one step is another test's subject.
ONE_SAMPLE = Settings(models=(ModelRow(name="*", samples=1),))


def block(code: str) -> str:
    return f"PLAN: as asked\nCODE:\n```python\n{code}```\n"


@pytest.fixture
def scripted(scripted: ScriptedModel) -> ScriptedModel:
    """A model that writes no tests for the steps, so that replies come in the order of the script."""
    return scripted.on(asks_for_tests, "I write none.")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "prices.py").write_text(PRICES)
    (root / "cart.py").write_text(CART)
    return root


async def run(scripted: ScriptedModel, shop: Path, **fields: object) -> tuple[Answer, Bench]:
    async with Bench(scripted, ONE_SAMPLE) as bench:
        asked = {"path": shop / "prices.py", "workspace": Workspace((shop,)), "instruction": "rates are fractions"}
        return await bench.run("task", "$0" + PRICES, **{**asked, **fields}), bench


def text_after(answer: Answer, path: Path) -> str:
    own = [edit for edit in answer.edits if edit.path == path]
    assert own, f"{path.name} was not edited"
    return own[0].base.splice(Splice(edit.span, edit.new_text) for edit in own).text


async def test_a_task_edits_two_files_in_two_steps(stet_home: Path, scripted: ScriptedModel, shop: Path) -> None:
    scripted.replies(
        [
            "1. debug | prices.py | discount | take a fraction\n2. debug | cart.py | pay | take a rate",
            block(DISCOUNT),
            block(PAY),
        ]
    )
    answer, bench = await run(scripted, shop)
    assert answer.success, answer.message
    assert answer.message.startswith("Tried 2 steps"), "a judge says that a signature changed"
    assert text_after(answer, shop / "prices.py") == PRICES.replace("price - rate", "price * (1 - rate)")
    assert "def pay(cart, rate=0):" in text_after(answer, shop / "cart.py")
    shown = [(event.name, event.detail) for event in bench.events if isinstance(event, Stage)]
    assert [each for each in shown if each[0] in ("planned", "step")] == [
        ("planned", "1. debug `discount` in prices.py; 2. debug `pay` in cart.py"),
        ("step", "1 of 2: debug `discount` in prices.py"),
        ("step", "2 of 2: debug `pay` in cart.py"),
    ]
    first, second = [each.prompt for each in scripted.requests[1:] if not asks_for_tests(each.body)][:2]
    for number, prompt in enumerate((first, second), 1):
        assert "1. debug `discount` in prices.py: take a fraction" in prompt, "whoever does a step knows the plan"
        assert f"Now do step {number} alone." in prompt
    bounds = answer.metadata.confidence_interval
    assert bounds is not None, "of this model nothing was counted"
    assert bounds[0] < answer.confidence < bounds[1]
    assert (shop / "cart.py").read_text() == CART, "nothing is written by the engine"


async def test_a_step_sees_the_result_of_the_previous_step(
    stet_home: Path, scripted: ScriptedModel, shop: Path
) -> None:
    scripted.replies(
        [
            "generate | cart.py | new | add refund\nrefactor | cart.py | pay | one line",
            block(REFUND),
            block("def pay(cart):\n    return sum(cart)\n"),
        ]
    )
    answer, _ = await run(scripted, shop)
    after = text_after(answer, shop / "cart.py")
    assert "def refund(cart):" in after
    assert "return sum(cart)" in after
    assert "refund" in scripted.requests[2].body["messages"][-1]["content"], (
        "the second step is shown the first one's text"
    )


async def test_a_step_is_judged_by_tests_that_do_not_know_its_code(stet_home: Path, shop: Path) -> None:
    tests = "from prices import discount\n\n\ndef test_half():\n    assert discount(10, 0.5) == 5\n"
    with ScriptedModel() as scripted:
        scripted.on(asks_for_tests, reply_of_tests(tests))
        scripted.replies(["debug | prices.py | discount | fraction", block(DISCOUNT)])
        answer, _ = await run(scripted, shop)
    said = next(item for item in answer.evidence if item.check is Check.TESTS)
    if said.verdict is not Ruling.PASS:
        pytest.skip(f"code cannot run here: {answer.warnings}")
    assert said.detail == "1 of 1 tests that the model wrote from the specification pass"
    assert not said.trusted


async def test_a_failed_step_keeps_the_successful_ones(stet_home: Path, scripted: ScriptedModel, shop: Path) -> None:
    scripted.replies(["debug | prices.py | discount | fraction\ndebug | cart.py | pay | rate", block(DISCOUNT)])
    scripted.default = Reply("I cannot do that.")
    answer, _ = await run(scripted, shop)
    assert answer.success
    assert "Did 1 of 2 steps" in answer.message
    assert "stopped at debug `pay` in cart.py" in answer.message
    assert {edit.path for edit in answer.edits} == {shop / "prices.py"}
    assert "requested: rate" in answer.explanation


async def test_a_step_may_create_a_file(stet_home: Path, scripted: ScriptedModel, shop: Path) -> None:
    scripted.replies(
        ["generate | refunds.py | refund | give money back", block("def refund(paid):\n    return -paid\n")]
    )
    answer, _ = await run(scripted, shop)
    assert [(file.path.name, file.text) for file in answer.new_files] == [
        ("refunds.py", "def refund(paid):\n    return -paid\n")
    ]
    assert not (shop / "refunds.py").exists()
    assert answer.message.startswith("New file refunds.py · Did one step"), "what is new is said first"
    assert "creates refunds.py, which nothing executed" in unrequested_risks(answer), "an editor asks"


async def test_a_new_file_that_repeats_a_definition_is_reported(
    stet_home: Path, scripted: ScriptedModel, shop: Path
) -> None:  # fmt: skip
    scripted.replies(["generate | more.py | new | a discount", block(DISCOUNT)])
    answer, _ = await run(scripted, shop)
    assert "more.py defines `discount`, which prices.py defines too" in "; ".join(unrequested_risks(answer))


LOOP = "generate | sums.py | sums | sums | refactor" + " | sums" * 3
GOOD = "debug | prices.py | discount | take a fraction"


@pytest.mark.parametrize(
    ("plan", "problem", "shown"),
    [
        (Reply(GOOD, finish="length"), "The plan is incomplete", True),
        (Reply(LOOP), "The reply repeated itself", True),
        (Reply("\n".join([GOOD] * 30)), "The reply did not end", False),  # stopped early, so another one is drawn
    ],
)
async def test_an_endless_plan_is_requested_again(
    stet_home: Path, scripted: ScriptedModel, shop: Path, plan: Reply, problem: str, *, shown: bool
) -> None:
    """A tiny model's plan: the words before it lost its way look like a plan of one step."""
    scripted.replies([plan, GOOD, block(DISCOUNT)])
    answer, _ = await run(scripted, shop)
    assert answer.message.startswith("Did one step"), answer.message
    assert (problem in scripted.requests[1].prompt) is shown

    scripted.replies([plan])
    scripted.default = plan
    answer, _ = await run(scripted, shop)
    assert not answer.success
    assert problem in answer.message
    assert not answer.edits


async def test_the_instruction_comment_is_removed(stet_home: Path, scripted: ScriptedModel, shop: Path) -> None:
    scripted.replies(["debug | prices.py | discount | take a fraction", block(DISCOUNT)])
    async with Bench(scripted, ONE_SAMPLE) as bench:
        text = "# stet: rates are fractions$0\n" + PRICES
        answer = await bench.run("task", text, path=shop / "prices.py", workspace=Workspace((shop,)))
    after = text_after(answer, shop / "prices.py")
    assert "stet:" not in after
    assert "(1 - rate)" in after


async def test_a_dead_model_in_the_first_step_is_reported(stet_home: Path, scripted: ScriptedModel, shop: Path) -> None:
    scripted.replies(["debug | prices.py | discount | fraction"])
    scripted.default = Reply.failure(401, "no key")
    with pytest.raises(ModelError):
        await run(scripted, shop)


async def test_the_call_limit_ends_the_task(stet_home: Path, scripted: ScriptedModel, shop: Path) -> None:
    scripted.replies(["debug | prices.py | discount | fraction\ndebug | cart.py | pay | rate"])
    scripted.default = Reply(block(DISCOUNT))
    answer, _ = await run(scripted, shop, budget=Budget.QUICK)
    assert not answer.success
    assert "the budget quick of 1 model calls is used up" in answer.message
    assert len(scripted.requests) == 1
    assert "requested: fraction" in answer.explanation, "the plan is told"


async def test_a_step_that_a_judge_refutes_is_left_out_of_the_others(
    stet_home: Path, scripted: ScriptedModel, shop: Path
) -> None:
    scripted.replies(["debug | prices.py | discount | fraction\ndebug | cart.py | pay | rate", block(DISCOUNT)])
    scripted.default = Reply(block("def pay(cart):\n    return totl(cart)\n"))
    answer, _ = await run(scripted, shop)
    assert answer.success, answer.message
    assert "stopped at debug `pay` in cart.py: not accepted: judge names: " in answer.message
    assert {edit.path for edit in answer.edits} == {shop / "prices.py"}


async def test_a_task_without_an_instruction_or_file_is_reported(
    stet_home: Path, scripted: ScriptedModel, shop: Path
) -> None:
    answer, _ = await run(scripted, shop, path=None)
    assert "save the document first" in answer.message
    with pytest.raises(UsageError, match="needs an instruction"):
        await run(scripted, shop, instruction="")
    assert not scripted.requests


# What may stand in a plan.

ABOUT = Project(Path("/p"), {"prices.py": PRICES, "shop/cart.py": CART}, frozenset({"python"}))
RULES = PlanRules(ABOUT, RequestIntent("rates are fractions"))


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("debug | prices.py | discount | fix it", ("debug", "prices.py", "discount", "fix it")),
        ("3) **Debug** | `prices.py` | `discount()` | fix", ("debug", "prices.py", "discount", "fix")),
        ("- test | cart.py | pay | edge cases", ("test", "shop/cart.py", "pay", "edge cases")),
        ("Step 1: generate | shop/cart.py | new | refund", ("generate", "shop/cart.py", "", "refund")),
        ("generate | shop/new.py | refund | refunds", ("generate", "shop/new.py", "", "refunds")),
        ("generate | prices.py | vat | the tax", ("generate", "prices.py", "", "the tax (`vat`)")),
    ],
)
def test_a_line_of_a_plan_is_parsed(line: str, step: tuple[str, ...]) -> None:
    plan = read_plan(f"Here is the plan:\n{line}\n", RULES)
    assert not isinstance(plan, UnusableReply)
    (read,) = plan.steps
    assert (read.action, read.path.relative_to("/p").as_posix(), read.unit, read.instruction) == step


@pytest.mark.parametrize(
    "file", ["/etc/passwd.py", "../other.py", ".git/hooks/x.py", "shop/.hidden.py", "no/such/place.py", "run.sh"]
)
def test_a_plan_cannot_name_files_outside_the_workspace(file: str) -> None:
    plan = read_plan(f"generate | {file} | new | anything", RULES)
    assert isinstance(plan, UnusableReply)
    assert repr(file) in plan.problem


def test_a_plan_that_repeats_an_existing_definition_is_refused() -> None:
    """Unless the plan works on the file that has it, as it does to move it."""
    twice = read_plan("generate | sums.py | total | mend the total", RULES)
    assert isinstance(twice, UnusableReply)
    assert "prices.py already defines it" in twice.problem
    moved = read_plan("generate | sums.py | total | as it is\nrefactor | prices.py | total | import it", RULES)
    assert not isinstance(moved, UnusableReply)
    assert len(moved.steps) == 2


def test_a_reply_without_a_plan_is_reported() -> None:
    assert "no line of the form" in read_plan("Sure, I will do it.", RULES).problem  # type: ignore[union-attr]
    missing = read_plan("refactor | prices.py | nothing_like_it | better", RULES)
    assert isinstance(missing, UnusableReply)
    assert "does not define" in missing.problem


def test_the_number_of_steps_of_a_plan_is_limited() -> None:
    lines = "\n".join(f"generate | prices.py | f{n} | number {n}" for n in range(50))
    steps = read_plan(lines, RULES)
    assert not isinstance(steps, UnusableReply)
    assert len(steps.steps) == 7


async def test_a_step_with_nothing_to_do_is_reported_and_skipped(
    stet_home: Path, scripted: ScriptedModel, shop: Path
) -> None:
    """The model's answer to the first is the code that is there: the second does not wait for it."""
    unchanged = block("def pay(cart):\n    return total(cart)\n")
    scripted.on(lambda body: "Now do step 1 alone" in str(body["messages"]), unchanged)
    scripted.replies(["refactor | cart.py | pay | one line\ngenerate | cart.py | new | add refund", block(REFUND)])
    answer, _ = await run(scripted, shop)
    assert answer.success, answer.message
    assert answer.message.startswith("Did 1 of 2 steps"), answer.message
    assert (
        "skipped refactor `pay` in cart.py: Refactor: no edit, the reply repeats the code unchanged" in answer.message
    )
    assert answer.explanation.splitlines()[0].startswith("1. refactor `pay` in cart.py: skipped, nothing to do: ")
    assert "def refund(cart):" in text_after(answer, shop / "cart.py")


async def test_the_imports_of_a_new_step_go_to_the_top(stet_home: Path, scripted: ScriptedModel, shop: Path) -> None:
    refund = f"import math\nfrom decimal import Decimal\n\n\n{REFUND.replace('-pay(cart)', 'Decimal(math.pi)')}"
    scripted.replies(["generate | cart.py | new | add refund", block(refund)])
    answer, _ = await run(scripted, shop)
    after = text_after(answer, shop / "cart.py")
    assert after.index("import math") < after.index("from decimal import Decimal") < after.index("def pay"), after
    assert after.count("import math") == 1


@pytest.mark.parametrize(("said", "lost"), [("rates are fractions", True), ("fractions; remove total", False)])
async def test_only_the_instruction_of_the_user_allows_removing_code(
    stet_home: Path, scripted: ScriptedModel, shop: Path, said: str, *, lost: bool
) -> None:
    """A plan is a model's, whatever it says."""
    scripted.replies(
        ["refactor | prices.py | new | remove total, which is not needed", block(DISCOUNT), block(DISCOUNT)]
    )
    scripted.default = block(DISCOUNT)
    answer, _ = await run(scripted, shop, instruction=said)
    refutes = [
        item.detail for item in answer.evidence if item.check is Check.DEFINITIONS and item.verdict is Ruling.FAIL
    ]
    assert bool(refutes) is lost, answer.message
    assert answer.refuted or not lost
