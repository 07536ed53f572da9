"""The judges of the engine, looked up by the name of their check."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from stet_ls.engine.api.evidence import CHECKS, Check, JudgedEdits
from stet_ls.engine.judges.case import Judge, NamedJudge


def judge_of(check: Check) -> NamedJudge:
    """The judge of a check: `judge` in the module of its name, or in the one that `_MODULES` names.

    ModuleNotFoundError for a check that an action makes itself.
    """
    module = import_module(f"{__package__}.{_MODULES.get(check, check.value)}")
    return NamedJudge(check, cast(Judge, module.judge))


def judges_for(*edits: JudgedEdits) -> tuple[NamedJudge, ...]:
    """The judges of these edits, the cheapest first."""
    return tuple(judge_of(check) for check, row in CHECKS.items() if row.judged_edits in edits)


_MODULES = {
    Check.NOOP: "text.noop",
    Check.SYNTAX: "text.syntax",
    Check.DEFINITIONS: "text.definitions",
    Check.NAMES: "text.names",
    Check.SIGNATURE: "text.signature",
    Check.LINT: "text.lint",
    Check.COMMENTS: "text.comments",
    Check.DANGER: "danger.judge",
    Check.TYPES: "types.judge",
    Check.TESTS: "project_tests.judge",
    Check.DIFFERENTIAL: "differential.judge",
}
"""Judges whose file has a folder."""
