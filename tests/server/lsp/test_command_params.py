"""The arguments of commands: what is accepted, and how a wrong one is named."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from stet_ls.engine.api.budget import Budget
from stet_ls.server.lsp.command_params import (
    ActionParams,
    CustomParams,
    MemorySearchParams,
    NoParams,
    Params,
    ResultParams,
)

POINT = {"line": 0, "character": 0}


def test_every_field_of_an_action_is_optional() -> None:
    params = ActionParams()

    assert params == ActionParams.model_validate({})
    assert (params.uri, params.range, params.budget, params.preview) == (None, None, Budget.STANDARD, None)


def test_a_whole_argument_is_read() -> None:
    range_ = {"start": {"line": 1, "character": 2}, "end": {"line": 3, "character": 4}}
    diagnostic = {"range": range_, "message": "unused", "severity": 2, "code": 17, "data": {"fix": "server's own"}}

    params = ActionParams.model_validate(
        {
            "uri": "file:///a.py",
            "range": range_,
            "instruction": "shorter",
            "constraints": ["no new imports"],
            "context": {"style": "functional"},
            "diagnostics": [diagnostic],
            "budget": "thorough",
            "preview": "always",
        }
    )

    assert params.range is not None
    assert params.range.end.character == 4
    assert params.diagnostics[0].code == 17
    assert params.budget is Budget.THOROUGH


@pytest.mark.parametrize(
    ("model", "argument", "field"),
    [
        (ActionParams, {"range": {"start": {"line": -1, "character": 0}, "end": POINT}}, ("range", "start", "line")),
        (ActionParams, {"range": {"start": POINT}}, ("range", "end")),
        (ActionParams, {"position": {"line": "3", "character": 0}}, ("position", "line")),
        (ActionParams, {"budget": "huge"}, ("budget",)),
        (ActionParams, {"constraints": [1]}, ("constraints", 0)),
        (ActionParams, {"context": {"a": 1}}, ("context", "a")),
        (ActionParams, {"diagnostics": [{"message": "no range"}]}, ("diagnostics", 0, "range")),
        (ActionParams, {"preview": "maybe"}, ("preview",)),
        (ActionParams, {"uri": ""}, ("uri",)),
        (CustomParams, {}, ("action",)),
        (ResultParams, {"job": "x", "wait": "yes"}, ("wait",)),
        (ResultParams, {}, ("job",)),
        (MemorySearchParams, {"query": "x", "limit": 0}, ("limit",)),
    ],
)
def test_a_wrong_field_is_named(model: type[Params], argument: Any, field: tuple[str | int, ...]) -> None:
    with pytest.raises(ValidationError) as raised:
        model.model_validate(argument)

    assert [error["loc"] for error in raised.value.errors()] == [field]


@pytest.mark.parametrize(
    ("model", "field", "message"),
    [
        (ActionParams, "instructions", "instructions: unknown field; did you mean 'instruction'?"),
        (ResultParams, "zzz", "zzz: unknown field; expected one of job, wait."),
        (NoParams, "job", "job: this command has no fields."),
    ],
)
def test_an_unknown_field_gets_a_suggestion(model: type[Params], field: str, message: str) -> None:
    with pytest.raises(ValidationError) as raised:
        model.model_validate({field: "x"})

    assert [error["msg"] for error in raised.value.errors()] == [message]
