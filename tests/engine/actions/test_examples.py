"""Each action by example: a document with `$0` at the cursor or around the selection, a reply, the document after."""

from __future__ import annotations

import re
from pathlib import Path

from support.actions import CheckAction, code

from stet_ls.engine.api.actions import ACTIONS
from stet_ls.engine.api.budget import Budget


def test_every_action_has_an_example() -> None:
    assert set(ACTIONS) - set(re.findall(r'await check_action\(\s*"(\w+)"', Path(__file__).read_text())) == set()


async def test_generate_fills_a_stub(check_action: CheckAction) -> None:
    await check_action(
        "generate",
        '''
        import statistics


        def typical(prices):
            """The middle price."""
            $0...


        LIMIT = 3
        ''',
        '''
        import statistics


        def typical(prices):
            """The middle price."""
            return statistics.median(prices)


        LIMIT = 3
        ''',
        reply="""
        def typical(prices):
            return statistics.median(prices)
        """,
    )


async def test_generate_replaces_a_comment_with_code(check_action: CheckAction) -> None:
    await check_action(
        "generate",
        """
        class Cart:
            prices = ()

            # stet: the sum of the prices$0
        """,
        """
        class Cart:
            prices = ()

            def total(self):
                return sum(self.prices)
        """,
        reply="""
        def total(self):
            return sum(self.prices)
        """,
    )


async def test_generate_adds_to_existing_code(check_action: CheckAction) -> None:
    await check_action(
        "generate",
        """
        def net(price):
            $0return price / 1.19
        """,
        """
        def net(price):
            return price / 1.19


        def gross(price):
            return price * 1.19
        """,
        reply="""
        def gross(price):
            return price * 1.19
        """,
        instruction="add a function gross that adds the tax",
    )


async def test_debug_fixes_the_unit_at_the_cursor(check_action: CheckAction) -> None:
    await check_action(
        "debug",
        """
        def total(prices):
            sum = 0
            for price in $0price:
                sum += price
            return sum
        """,
        """
        def total(prices):
            sum = 0
            for price in prices:
                sum += price
            return sum
        """,
        instruction="it does not run",
    )


async def test_refactor_rewrites_the_function_that_holds_the_selection(check_action: CheckAction) -> None:
    await check_action(
        "refactor",
        """
        import os


        def sign(x):
            $0if x > 0:
                return 1$0
            return -1


        def other():
            return sign(2)
        """,
        """
        import os


        def sign(x):
            return 1 if x > 0 else -1


        def other():
            return sign(2)
        """,
        reply="""
        def sign(x):
            return 1 if x > 0 else -1
        """,
    )


async def test_refactor_keeps_the_language_of_the_document(check_action: CheckAction) -> None:
    await check_action(
        "refactor",
        """
        function sign(x) {
          if (x > 0) { return 1; } else { $0return -1; }
        }
        """,
        """
        function sign(x) {
          return x > 0 ? 1 : -1;
        }
        """,
        name="shop.js",
        language="javascript",
    )


async def test_optimize_asks_before_applying_an_unmeasured_edit(check_action: CheckAction) -> None:
    answer = await check_action(
        "optimize",
        """
        def common(a, b):
            return [x for x in a $0if x in b]
        """,
        """
        def common(a, b):
            known = set(b)
            return [x for x in a if x in known]
        """,
    )
    assert "not measured" in answer.message


async def test_test_writes_a_file_that_imports_what_it_tests(check_action: CheckAction) -> None:
    await check_action(
        "test",
        """
        def slug(title):
            $0return "-".join(title.lower().split())
        """,
        """
        from shop import slug


        def test_slug_joins_words():
            assert slug("A Few Words") == "a-few-words"
        """,
        reply="""
        def test_slug_joins_words():
            assert slug("A Few Words") == "a-few-words"
        """,
    )


async def test_explain_shows_the_explanation_below_the_facts(check_action: CheckAction) -> None:
    await check_action(
        "explain",
        """
        def slug(title):
            $0return "-".join(title.lower().split())
        """,
        "It makes an address of a `title`.",
    )


async def test_analyze_measures_without_a_model(check_action: CheckAction) -> None:
    await check_action(
        "analyze",
        """
        def mean(prices):
            $0return sum(prices) / len(prices)
        """,
        "# Analysis of ",
    )


async def test_task_does_the_steps_of_a_plan(check_action: CheckAction) -> None:
    await check_action(
        "task",
        """
        $0def sign(x):
            if x > 0:
                return 1
            return -1


        def both(a, b):
            result = [sign(a), sign(b)]
            return result
        """,
        """
        def sign(x):
            return 1 if x > 0 else -1


        def both(a, b):
            return [sign(a), sign(b)]
        """,
        reply=(
            "1. refactor | shop.py | sign | one line\n2. refactor | shop.py | both | one line",
            code("""
            def sign(x):
                return 1 if x > 0 else -1
            """),
            code("""
            def both(a, b):
                return [sign(a), sign(b)]
            """),
        ),
        instruction="make it shorter",
        budget=Budget.TASK,
    )


async def test_document_changes_nothing_but_documentation(check_action: CheckAction) -> None:
    await check_action(
        "document",
        """
        def net(price):
            $0return price / 1.19
        """,
        '''
        def net(price):
            """Return the price without tax."""
            return price / 1.19
        ''',
    )
