"""Prompts as tests build them, from a text with a cursor or a selection."""

from __future__ import annotations

import re
from dataclasses import replace

from support.markers import split_markers

from stet_ls.engine.api.request import Diagnostic, Request, Selection
from stet_ls.engine.prompt.build import ModelTier, Prompt, TaskSpec, build
from stet_ls.engine.prompt.instruction import find_instruction
from stet_ls.engine.prompt.target import resolve_target
from stet_ls.validators.findings import Severity
from stet_ls.validators.source import Source, Span

TASKS = {
    "generate": TaskSpec("Write the code.", "unit", ("Write it complete.",)),
    "debug": TaskSpec("Fix the bug.", "unit"),
    "refactor": TaskSpec("Make it simpler.", "unit"),
    "test": TaskSpec("Write tests.", "tests"),
    "explain": TaskSpec("Explain the code.", "prose"),
}
SECRET = "ghp_" + "a1B2c3D4e5" * 3


def ask(action: str, language: str, marked: str, **fields: object) -> Request:
    text, span = split_markers(marked)
    return replace(Request(action, language, Source(text), Selection(span) if span else None), **fields)  # type: ignore[arg-type]


def prompt_for(request: Request, *, budget: int = 4000, tier: ModelTier = "strong") -> Prompt:
    target = resolve_target(request)
    instruction = find_instruction(request, target)
    return build(request, target, instruction, TASKS[request.action], budget_tokens=budget, tier=tier)


def user(prompt: Prompt) -> str:
    return prompt.messages[1].content


def data_of(prompt: Prompt) -> str:
    found = re.search(r"(?s)^<data-(\w+)>\n(.*)\n</data-\1>", user(prompt))
    assert found
    return found[2]


PARSER = '''import re
from datetime import date

LIMIT = 3


def clean(text: str) -> str:
    """Without white space at the ends.

    And more.
    """
    return text.strip()


class Parser:
    """Reads dates."""

    form = "iso"

    def __init__(self, strict: bool) -> None:
        self.strict = strict

    def other(self) -> int:
        return 2

    def parse(self, text: str) -> date:
        """Reads one date.

        Raises ValueError.
        """
        value = claen(text)$0
        return date.fromisoformat(value)


def main(parser: Parser) -> None:
    print(parser.parse("2024-01-01"))
'''


# Diagnostics, constraints and context.


def problem(request: Request, word: str, message: str, severity: Severity = Severity.ERROR) -> Diagnostic:
    at = request.source.text.index(word)
    return Diagnostic(Span(at, at + len(word)), message, severity, "ruff", "F821")
