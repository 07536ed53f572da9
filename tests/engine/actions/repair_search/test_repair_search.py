"""Debug without a model: small edits are tried in the sandbox until what failed passes, and nothing else fails."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.engine import Bench, applied, code_reply, said
from support.judging import MakeCase
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.actions.repair_search.search import search
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.errors import ModelError
from stet_ls.engine.judges.doctest import read_examples
from stet_ls.engine.settings.schema import Checks, Settings
from stet_ls.engine.settings.table_schemas import ModelRow
from stet_ls.validators.source import Span

BROKEN = '''
def largest(numbers):
    """The largest number.

    >>> largest([3, 9, 2])
    9
    >>> largest([5])
    5
    """
    best = numbers[0]
    for number in numbers:
        if number   <  best:  # a better one
            best = number
    return best
'''


async def debug(scripted: ScriptedModel, root: Path, text: str, *, at: str = "return", **fields: object) -> Answer:
    path = root / "shop.py"
    path.write_text(text)
    settings = fields.pop("settings", Settings(models=(ModelRow(name="*", samples=1),)))
    assert isinstance(settings, Settings)
    async with Bench(scripted, settings) as bench:
        asked = {"path": path, "workspace": Workspace((root,)), **fields}
        return await bench.run("debug", text.replace(at, f"$0{at}", 1), **asked)


async def test_an_example_that_fails_is_fixed_without_a_model(scripted: ScriptedModel, root: Path) -> None:
    answer = await debug(scripted, root, BROKEN)
    assert answer.success, answer.message
    assert not scripted.requests
    assert answer.metadata.calls == 0
    fixed = (BROKEN.replace("number   <  best", f"number   {op}  best") for op in (">", ">="))
    assert applied(answer) in fixed, "layout and comments are the user's"
    assert said(answer, Check.DOCTEST).verdict is Ruling.PASS
    found = said(answer, Check.SEARCH)
    assert found.verdict is Ruling.PASS
    assert found.detail.startswith(f"found by search, {found.count} candidates tried, ")
    assert "found by search" in answer.message


async def test_a_failing_test_is_fixed_and_the_others_still_pass(scripted: ScriptedModel, root: Path) -> None:
    text = "class Cart:\n    def __init__(self):\n        self.items = {}\n\n"
    text += "    def add(self, name, count=1):\n        self.items[name] = count\n\n"
    text += "    def total(self):\n        return sum(self.items.keys())\n"
    (root / "tests/test_shop.py").write_text(
        "import pytest\nfrom shop import Cart\n\n\n@pytest.fixture\ndef cart():\n    return Cart()\n\n\n"
        "def test_empty(cart):\n    assert cart.total() == 0\n\n\n"
        "def test_total(cart):\n    cart.add('a', 2)\n    cart.add('b')\n    assert cart.total() == 3\n"
    )
    answer = await debug(scripted, root, text, at="return sum")
    assert answer.success, answer.message
    assert applied(answer) == text.replace("keys", "values"), answer.message
    assert said(answer, Check.TESTS).detail == "2 tests pass, 1 of them failed before"
    assert not scripted.requests


async def test_cases_of_unittest_are_searched(scripted: ScriptedModel, root: Path) -> None:
    (root / "tests/test_shop.py").write_text(
        "import unittest\nimport shop\n\n\nclass TestShop(unittest.TestCase):\n"
        "    def test_net(self):\n        self.assertEqual(shop.net(119), 100)\n"
    )
    answer = await debug(scripted, root, "def net(price):\n    return price * 100 // 120\n")
    assert applied(answer) == "def net(price):\n    return price * 100 // 119\n", answer.message


async def test_what_was_stated_is_searched(scripted: ScriptedModel, root: Path) -> None:
    text = "def discount(price, rate):\n    return price * (1 + rate)\n"
    answer = await debug(scripted, root, text, instruction="discount(200, 0.25) returns 250.0 instead of 150.0")
    assert "1 - rate" in applied(answer), answer.message
    assert not scripted.requests


async def test_the_comment_that_asked_goes_with_the_fix(scripted: ScriptedModel, root: Path) -> None:
    text = "def net(price, rate):\n    # stet: net(200, 0.25) returns 250.0 instead of 150.0\n"
    text += "    return price * (1 + rate)\n"
    answer = await debug(scripted, root, text)
    assert applied(answer) == "def net(price, rate):\n    return price * (1 - rate)\n", answer.message


AMBIGUOUS = '''
def area(width, height):
    """
    >>> area(2, 2)
    4
    """
    return width - height
'''


async def test_fixes_that_differ_are_asked_about_with_the_input_that_tells_them_apart(
    scripted: ScriptedModel, root: Path
) -> None:
    scripted.default = Reply.failure(401)
    answer = await debug(scripted, root, AMBIGUOUS)
    assert answer.success, answer.message
    found = said(answer, Check.SEARCH)
    assert (found.verdict, found.trusted) == (Ruling.UNKNOWN, True), "an editor asks"
    assert "is `" in found.detail
    assert "? Another fix (" in found.detail


async def test_a_model_decides_between_fixes_that_differ(scripted: ScriptedModel, root: Path) -> None:
    scripted.replies([Reply(code_reply("def area(width, height):\n    result = height * width\n    return result\n"))])
    answer = await debug(scripted, root, AMBIGUOUS)
    assert applied(answer) == AMBIGUOUS.replace("-", "*"), "the smaller of two edits that do the same"
    assert said(answer, Check.SEARCH).detail.endswith("the model's reply behaves the same")
    assert answer.metadata.calls == 1


async def test_a_model_that_chooses_wrong_is_asked_once_and_a_found_fix_is_offered(
    scripted: ScriptedModel, root: Path
) -> None:
    scripted.default = Reply(code_reply("def area(width, height):\n    return width - height - 1\n"))
    answer = await debug(scripted, root, AMBIGUOUS, settings=Settings(models=(ModelRow(name="*", samples=3),)))
    assert answer.success, answer.message
    assert "? Another fix (" in said(answer, Check.SEARCH).detail
    assert len(scripted.requests) == 1, "neither samples nor repairs are worth their time: fixes are known"


SHOUT = '''
def shout(name):
    """
    >>> shout("bob")
    'BOB!'
    """
    if not name:
        return "!"
    return name.lower() + "?"
'''


async def test_two_edits_are_tried_if_no_single_one_helps_and_asked_about_if_few_checks_show_them(
    scripted: ScriptedModel, root: Path
) -> None:
    scripted.default = Reply.failure(401)
    answer = await debug(scripted, root, SHOUT, at="return name.lower")
    assert applied(answer) == SHOUT.replace('lower() + "?"', "upper() + '!'"), answer.message
    found = said(answer, Check.SEARCH)
    assert (found.verdict, found.trusted) == (Ruling.UNKNOWN, True)
    assert "two edits" in found.detail or "Another fix" in found.detail


async def test_without_a_model_and_without_a_fix_both_are_said(scripted: ScriptedModel, root: Path) -> None:
    scripted.default = Reply.failure(401)
    with pytest.raises(ModelError, match=r"^No fix found by search: \d+ candidates tried\. "):
        await debug(scripted, root, 'def f(a):\n    """\n    >>> f(3)\n    47.25\n    """\n    return a\n')


async def test_a_failure_that_varies_is_not_searched(scripted: ScriptedModel, root: Path) -> None:
    (root / "tests/test_shop.py").write_text(
        "import os\nfrom shop import f\n\n\ndef test_f():\n    assert os.getpid() % 2\n\n\n"
        "def test_g():\n    assert f(os.getpid() % 2) == 1\n"
    )
    scripted.default = Reply("I see no bug.")
    answer = await debug(scripted, root, "def f(n):\n    return n\n")
    assert not answer.success
    assert not any(each.check is Check.SEARCH for each in answer.evidence)


async def test_edits_that_never_end_or_write_files_harm_nothing(scripted: ScriptedModel, root: Path) -> None:
    text = """
def count(n, log):
    found = 0
    while n > 0:
        n -= 1
        found += 2
    with open(log, "w") as file:
        file.write(str(found))
    return found
"""
    (root / "tests/test_shop.py").write_text(
        "from shop import count\n\n\ndef test_count(tmp_path):\n    assert count(3, tmp_path / 'log') == 3\n"
    )
    answer = await debug(scripted, root, text, at="return found")
    assert applied(answer) == text.replace("+= 2", "+= 1"), answer.message
    assert {each.name for each in root.iterdir()} <= {"shop.py", "tests", "pyproject.toml"}


async def test_a_bug_that_never_ends_is_found(scripted: ScriptedModel, root: Path) -> None:
    text = 'def f(n):\n    """\n    >>> f(3)\n    3\n    """\n    found = 0\n'
    text += "    while n > 0:\n        n += 1\n        found += 1\n    return found\n"
    answer = await debug(scripted, root, text, at="return")
    assert applied(answer) == text.replace("n += 1", "n -= 1"), answer.message


async def test_a_default_that_all_calls_share_is_built_per_call(scripted: ScriptedModel, root: Path) -> None:
    text = 'def add(x, found=[]):\n    """\n    >>> add(1)\n    [1]\n    >>> add(2)\n    [2]\n    """\n'
    text += "    found.append(x)\n    return found\n"
    answer = await debug(scripted, root, text, at="return")
    fixed = text.replace("found=[]", "found=None").replace(
        "    found.append", "    if found is None:\n        found = []\n    found.append"
    )
    assert applied(answer) == fixed, answer.message


async def test_a_target_that_is_too_long_is_not_searched(make: MakeCase) -> None:
    lines = "    total += n\n" * 500
    text = f"def f(n):\n    total = 0\n{lines}    return total\n"
    case = make(text, text, "f", action="debug")
    found = await search(case, Span(0, len(text)), read_examples([">>> f(1)\n499\n"]), None)
    assert found.problem == "the code is longer than 500 lines"


async def test_the_search_can_be_switched_off(scripted: ScriptedModel, root: Path) -> None:
    scripted.default = Reply("I see no bug.")
    off = Settings(models=(ModelRow(name="*", samples=1),), checks=Checks(search=False))
    answer = await debug(scripted, root, BROKEN, settings=off)
    assert scripted.requests
    assert not any(each.check is Check.SEARCH for each in answer.evidence)


async def test_the_budget_quick_searches_nothing(scripted: ScriptedModel, root: Path) -> None:
    scripted.default = Reply("I see no bug.")
    await debug(scripted, root, BROKEN, budget=Budget.QUICK)
    assert scripted.requests
