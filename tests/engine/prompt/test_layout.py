"""A prompt keeps to its budget: what is cut, in which order, and what it says of that."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import pytest
from support.prompts import PARSER, ask, data_of, problem, prompt_for

from stet_ls.engine.errors import UsageError
from stet_ls.engine.prompt.build import Prompt

# The budget.


def cut(budget: int, context: Mapping[str, str] | None = None) -> Prompt:
    request = ask("debug", "python", PARSER, context=context or {})
    return prompt_for(replace(request, diagnostics=(problem(request, "claen", "Undefined name"),)), budget=budget)


def test_a_prompt_keeps_to_its_budget_and_says_what_it_left_out() -> None:
    whole = cut(4000)
    assert whole.left_out == ()
    for budget in range(whole.tokens - 40, 100, -40):
        try:
            prompt = cut(budget)
        except UsageError:
            break
        assert prompt.tokens <= budget
        assert prompt.left_out
    else:
        pytest.fail("no budget was too small")


def named(prompt: Prompt) -> list[str]:
    """What was left out, without the reasons."""
    return [re.sub(r" \(no room for [\d,]+ tokens\)$", "", name) for name in prompt.left_out]


def test_the_least_useful_context_is_dropped_first() -> None:
    order: list[str] = []
    for budget in range(cut(4000).tokens, 200, -10):
        try:
            order += [name for name in named(cut(budget)) if name not in order]
        except UsageError:
            break
    assert order.index("the caller main") < order.index("imports")
    assert order.index("imports") < order.index("the reported problems")


def test_a_body_is_reduced_to_its_signature_before_it_is_dropped() -> None:
    request = ask("refactor", "python", PARSER.replace("claen", "clean"))
    for budget in range(prompt_for(request).tokens, 200, -5):
        prompt = prompt_for(request, budget=budget)
        if "the body of clean" in named(prompt):
            assert "def clean(text: str) -> str  # Without" in data_of(prompt)
            return
    pytest.fail("the body was never cut")


def test_a_target_too_large_is_refused_with_its_size() -> None:
    with pytest.raises(
        UsageError, match=r"^Parser\.parse and its task are about \d+ tokens and the model can take 100"
    ):
        cut(100)


def test_context_given_by_the_user_that_did_not_fit_is_reported() -> None:
    assert "context 'log' (no room for 10,000 tokens)" in cut(700, {"log": "line of a log\n" * 2000}).left_out
