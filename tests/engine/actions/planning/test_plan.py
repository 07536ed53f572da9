"""Plans: what a request asks for, what may stand in a plan, and what a user's edits of it mean. No model is asked."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from stet_ls.engine.actions.planning.intent import plain_action, request_intent
from stet_ls.engine.actions.planning.plan_text import read_text, write_text
from stet_ls.engine.actions.planning.project import Project
from stet_ls.engine.actions.planning.schedule import schedule_of, scheduled
from stet_ls.engine.actions.planning.task_plan import PlanRules, read_edited, read_plan, single_step_plan
from stet_ls.engine.api.arms import Capability
from stet_ls.engine.api.duration import seconds_of
from stet_ls.engine.api.plan import Plan, RequestIntent, TaskComplexity, TaskOptions, TaskPriority
from stet_ls.engine.loop import UnusableReply
from stet_ls.engine.sandbox.environments.known_packages import one_letter_off

PRICES = "def discount(price, rate):\n    return price - rate\n\n\ndef net_total(prices):\n    return sum(prices)\n"
CART = "from prices import net_total\n\n\ndef pay(cart):\n    return net_total(cart)\n"
ABOUT = Project(Path("/p"), {"prices.py": PRICES, "cart.py": CART, "mail.py": ""}, frozenset({"python"}))
RULES = PlanRules(ABOUT, RequestIntent("rates are fractions"), arms=frozenset({"coder", "tester"}))


def plan_of(text: str) -> Plan:
    plan = read_edited(text, RULES)
    assert not isinstance(plan, UnusableReply), plan.problem
    return plan


def problem_of(text: str, rules: PlanRules = RULES) -> str:
    plan = read_edited(text, rules)
    assert isinstance(plan, UnusableReply)
    return plan.problem


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.py", "class discount:\n    pass\n"), ("a.py", "async def discount(x): ...\n"),
        ("a.js", "export const discount = (x) => x\n"), ("a.ts", "interface discount extends Rate {}\n"),
        ("a.rb", "def discount\nend\n"), ("a.go", "func (r *Rate) discount(x int) int { return x }\n"),
        ("A.java", "class A { int discount (int x) { return x; } }\n"), ("a.rs", "fn discount<T>(x: T) {}\n"),
        ("a.sh", "discount() {\n  :\n}\n"), ("a.cpp", "struct discount {};\n"),
    ],
)  # fmt: skip
def test_files_that_may_define_a_name_are_found_without_parsing(file: str, text: str) -> None:
    about = Project(Path("/p"), {file: text, "other.py": "# no discount here\n", "third.py": "x = 1\n"})
    assert about.defining({"discount"}) == [file]
    assert about.defining({"Cart.discount"}) == [file]
    assert about.defining(()) == []


@pytest.mark.parametrize("words", ["make it better", "Please improve this code.", "fix it", "clean it up a bit"])
def test_a_vague_request_gets_a_question_that_names_what_is_missing(words: str) -> None:
    question = request_intent(words, (), ABOUT).question
    assert words in question
    assert "which code" in question
    assert "what it should do differently" in question
    selected = request_intent(words, (), ABOUT, "discount").question
    assert "`discount`" in selected
    assert "which code" not in selected, "the selection says it"


@pytest.mark.parametrize("words", ["rates are fractions", "make discount faster", "add retries", "rename `x` to `y`"])
def test_a_clear_request_gets_no_question(words: str) -> None:
    assert not request_intent(words, (), ABOUT).question


def test_a_request_is_understood_by_rules() -> None:
    words = "Add a histogram of the prices with matplotlib and write tests for net_total. Do not change discount."
    intent = request_intent(words, ("Python 3.9",), ABOUT)
    assert intent.goal == "Add a histogram of the prices with matplotlib, write tests for net_total"
    assert intent.libraries == ("matplotlib",)
    assert intent.constraints == ("Python 3.9", "Do not change discount")
    assert {Capability.CODE, Capability.TESTS, Capability.DATA} <= set(intent.capabilities)
    assert intent.complexity is TaskComplexity.MEDIUM


def test_a_package_a_letter_off_is_meant_as_one_unless_the_project_defines_it() -> None:
    about = replace(ABOUT, files={**ABOUT.files, "flask_.py": "def clik():\n    pass\n"})
    for words, libraries in (
        ("load the prices with `requets`", ("requets",)),
        ("use `clik` for the prices", ()),
        ("use `json` for the prices", ()),
        ("load the prices with clocks and use request", ()),
    ):
        assert request_intent(words, (), about).libraries == libraries, words


def test_a_request_for_one_step_is_its_plain_action() -> None:
    for words, action in (
        ("write tests for net_total", "test"),
        ("fix `discount`", "debug"),
        ("make `discount` faster", "optimize"),
    ):
        named = plain_action(words, request_intent(words, (), ABOUT), ABOUT)
        assert named is not None, words
        assert named[0] == action
    words = "fix `discount` and write tests for net_total"
    assert plain_action(words, request_intent(words, (), ABOUT), ABOUT) is None


def test_steps_need_what_their_words_and_imports_show() -> None:
    plan = plan_of(
        "1. debug | prices.py | discount | take a fraction\n"
        "2. debug | cart.py | pay | pass a rate\n"  # imports prices
        "3. generate | mail.py | new | a greeting\n"
        "4. generate | mail.py | new | print what discount gives\n"
        "5. check | prices.py | - | the tests"
    )
    assert [step.needs for step in plan.steps] == [(), (1,), (), (1, 3), (1, 2, 3, 4)]


def test_every_step_has_a_criterion_that_a_machine_can_check() -> None:
    plan = plan_of("1. refactor | prices.py | discount | shorter\n2. test | prices.py | discount | edge cases")
    assert all(2 <= len(step.criteria) <= 3 for step in plan.steps)
    words = problem_of("1. debug | prices.py | discount | x\n   accept: it looks good")
    assert "'it' is no acceptance criterion that can be checked; use test, command, example, judge" in words
    assert "no judge 'beauty'" in problem_of("debug | prices.py | discount | x\naccept: judge beauty")


def test_one_criterion_is_not_enough_and_a_report_without_any_is_marked() -> None:
    plan = plan_of(
        "1. debug | prices.py | discount | x\naccept: example discount(4, 1) == 3\n"
        "2. debug | cart.py | pay | y\naccept: judge names\naccept: judge types\n"
        "3. run | - | - | python3 -m prices"
    )
    assert [[str(each) for each in step.criteria] for step in plan.steps] == [
        ["example discount(4, 1) == 3", "judge tests", "judge names"], ["judge names", "judge types"], [],
    ]  # fmt: skip
    assert write_text(plan).count("  - unchecked: no acceptance criterion") == 1


def test_confidence_is_narrow_where_rules_read_the_request_and_wide_where_a_model_did() -> None:
    words = "fix `discount`"
    intent = request_intent(words, (), ABOUT)
    named = plain_action(words, intent, ABOUT)
    assert named is not None
    by_rule = single_step_plan(*named, words, RULES)
    assert str(intent.confidence) == "0.9 to 1 (rules: one action on `discount`)"
    assert by_rule.confidence.high - by_rule.confidence.low < 0.2

    unknown = request_intent("rates are fractions", (), ABOUT).confidence
    assert unknown.high - unknown.low >= 0.5
    of_model = read_plan("1. debug | prices.py | discount | x\n2. generate | mail.py | new | y", RULES)
    assert isinstance(of_model, Plan)
    assert of_model.confidence.reason == "the model's plan; 1 of 2 edits of known code"
    assert of_model.confidence.high - of_model.confidence.low >= 0.5
    assert plan_of("1. debug | prices.py | discount | x").confidence.reason == "the user's plan"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1. debug | prices.py | discount | x\n   needs: 2\n2. debug | cart.py | pay | y\n   needs: 1",
         "Circular dependency: step 1 needs step 2 needs step 1."),
        ("1. debug | prices.py | discount | x\n   needs: 1", "Step 1 needs itself."),
        ("1. debug | prices.py | discount | x\n   needs: 4", "Step 1 needs step 4, which does not exist."),
        ("1. generate | ../evil.py | new | x", "'../evil.py'"),
        ("1. generate | prices.py | new | x\n   files: ../../secrets.txt", "outside of the workspace"),
        ("1. debug | prices.py | discount | x\n   accept: test ../t.py", "outside of the workspace"),
        ("libraries: nump\n1. debug | prices.py | discount | x", "one letter off 'numpy'"),
        ("libraries: frobnicator9\n1. debug | prices.py | discount | x", "'frobnicator9' is not known"),
        ("1. debug | prices.py | discount | x\n   arm: wizard", "no arm 'wizard'; there are coder, tester"),
        ("1. dance | prices.py | discount | x", "Line 1 is no step"),
        ("1. debug | prices.py | discount | x\n1. debug | cart.py | pay | y", "two steps with the number 1"),
        ("\n".join(f"{n}. generate | mail.py | f{n} | x" for n in range(1, 9)), "8 steps; at most 7"),
        ("nothing here", "The plan has no steps"),
        ("priority: urgent\n1. debug | prices.py | discount | x", "no priority 'urgent'; there are low, normal, high"),
        ("deadline: soon\n1. debug | prices.py | discount | x", "'soon' is not a duration"),
    ],
)  # fmt: skip
def test_a_plan_that_cannot_be_done_is_refused(text: str, problem: str) -> None:
    assert problem in problem_of(text)


def test_a_plan_says_whose_calls_go_first_and_when_it_is_due() -> None:
    written = read_text("# Plan: x\npriority: High\ndeadline: 1.5 min\n1. debug | prices.py | discount | x")
    assert schedule_of(written) == (TaskPriority.HIGH, 90.0)
    assert scheduled(TaskOptions(deadline=5.0), written).deadline == 5.0, "what the caller says counts more"
    text = write_text(replace(plan_of("1. debug | prices.py | discount | x"), priority=TaskPriority.LOW, deadline=90.0))
    assert schedule_of(read_text(text)) == (TaskPriority.LOW, 90.0)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("90 s", 90), ("2 min", 120), ("2 minutes", 120), ("0.5 h", 1800)]
)
def test_durations(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds
    with pytest.raises(ValueError, match="not a duration"):
        seconds_of(f"about {text}")


def test_what_a_user_allows_is_a_known_package() -> None:
    plan = read_edited(
        "libraries: frobnicator9\n1. debug | prices.py | discount | x",
        replace(RULES, allowed=frozenset({"frobnicator9"})),
    )
    assert not isinstance(plan, UnusableReply)
    assert plan.intent.libraries == ("frobnicator9",)


@pytest.mark.parametrize(
    ("one", "other"), [("nump", "numpy"), ("panda", "pandas"), ("reqeusts", "requests"), ("flusk", "flask")]
)
def test_names_one_letter_off_are_found(one: str, other: str) -> None:
    assert one_letter_off(one, other)
    assert not one_letter_off(other, other)
    assert not one_letter_off("rich", "httpx")


def test_a_plan_as_text_is_read_back_and_may_be_edited() -> None:
    plan = plan_of(
        "libraries: numpy\n1. debug | prices.py | discount | take a fraction\n"
        "   accept: example discount(10, 0.5) == 5\n"
        "2. debug | cart.py | pay | pass a rate\n   files: mail.py"
    )
    text = write_text(plan, ["`coder` 0.9", "`coder` 0.8"])
    assert plan_of(text).steps == plan.steps
    assert plan_of(text).intent.libraries == ("numpy",)
    unticked = plan_of(text.replace("[x] 1.", "[ ] 1."))
    assert [step.number for step in unticked.enabled] == [2]
    lines = text.splitlines()
    at = next(n for n, line in enumerate(lines) if "2. debug" in line)
    end = next(n for n, line in enumerate(lines) if n > at and not line.startswith("  "))
    first = next(n for n, line in enumerate(lines) if "1. debug" in line)
    moved = [*lines[:first], *lines[at:end], *lines[first:at], *lines[end:]]
    reordered = plan_of("\n".join(moved))
    assert [(step.unit, step.needs) for step in reordered.steps] == [("pay", (2,)), ("discount", ())]


def test_a_models_question_is_asked() -> None:
    plan = read_plan("ask: Which currency do the prices have?", RULES)
    assert not isinstance(plan, UnusableReply)
    assert plan.intent.question == "Which currency do the prices have?"


def test_planning_takes_milliseconds_without_a_model() -> None:
    text = "\n".join(f"{n}. generate | mail.py | f{n} | x" for n in range(1, 8))
    began = time.process_time()
    for _ in range(10):
        request_intent("add f to mail.py", (), ABOUT)
        plan_of(text)
    assert (time.process_time() - began) / 70 < 0.05, "seconds a step"
