"""Diagnostics in a prompt: which of them are part of the work, and at which lines."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.prompts import PARSER, ask, data_of, problem, prompt_for, user

from stet_ls.validators.findings import Severity


def test_a_diagnostic_names_the_line_that_the_model_sees() -> None:
    request = ask("debug", "python", PARSER)
    prompt = prompt_for(replace(request, diagnostics=(problem(request, "claen", "Undefined\nname `claen`"),)))
    assert "- line 6, `value = claen(text)`: error: Undefined name `claen` (ruff F821)" in data_of(prompt)


def test_diagnostics_of_other_tools_are_only_for_debug() -> None:
    request = ask("refactor", "python", PARSER)
    request = replace(request, diagnostics=(problem(request, "LIMIT", "Unused", Severity.WARNING),))
    assert "Unused" not in user(prompt_for(request))
    assert "- elsewhere, `LIMIT = 3`: warning: Unused" in user(prompt_for(replace(request, action="debug")))


@pytest.mark.parametrize(
    ("instruction", "code", "shown"),
    [
        ("clean fails on empty texts", "E501", False),
        ("clean fails on empty texts", "F821", True),
        ("clean fails on empty texts", "no-undef", True),
        ("clean fails on empty texts", "prettier/prettier", False),
        ("Fix the style warnings", "E501", True),
        ("", "E501", True),
    ],
)
def test_style_is_no_part_of_a_fix_unless_it_is_asked_for(instruction: str, code: str, shown: bool) -> None:
    request = ask("debug", "python", PARSER, instruction=instruction)
    found = replace(problem(request, "return", "Look here"), code=code)
    assert ("Look here" in data_of(prompt_for(replace(request, diagnostics=(found,))))) is shown


def test_style_is_no_part_of_a_refactoring() -> None:
    request = ask("refactor", "python", PARSER)
    found = replace(problem(request, "return", "Line too long", Severity.WARNING), code="E501")
    assert "Line too long" not in data_of(prompt_for(replace(request, diagnostics=(found,))))
