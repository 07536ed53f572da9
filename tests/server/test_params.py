"""The arguments of commands: what is accepted, and how a wrong one is named."""

from __future__ import annotations

from typing import Any

import pytest

from stet_ls.engine.errors import UsageError
from stet_ls.engine.models import Budget
from stet_ls.server.params import ActionParams, CustomParams, MemorySearchParams, NoParams, Params, ResultParams, parse


def test_every_field_of_an_action_is_optional() -> None:
    params = parse(ActionParams, None)

    assert params == parse(ActionParams, {})
    assert (params.uri, params.range, params.budget, params.preview) == (None, None, Budget.STANDARD, None)


def test_a_whole_argument_is_read() -> None:
    range_ = {"start": {"line": 1, "character": 2}, "end": {"line": 3, "character": 4}}
    diagnostic = {"range": range_, "message": "unused", "severity": 2, "code": 17, "data": {"fix": "server's own"}}

    params = parse(
        ActionParams,
        {
            "uri": "file:///a.py",
            "range": range_,
            "instruction": "shorter",
            "constraints": ["no new imports"],
            "context": {"style": "functional"},
            "diagnostics": [diagnostic],
            "budget": "thorough",
            "preview": "always",
        },
    )

    assert params.range is not None
    assert params.range.end.character == 4
    assert params.diagnostics[0].code == 17
    assert params.budget is Budget.THOROUGH


@pytest.mark.parametrize(
    ("model", "argument", "message"),
    [
        (ActionParams, {"instructions": "x"}, "instructions: there is no such field; did you mean 'instruction'?"),
        (NoParams, {"job": "x"}, "job: this command takes no fields."),
        (
            ActionParams,
            {"range": {"start": {"line": -1, "character": 0}, "end": {"line": 0, "character": 0}}},
            "range.start.line: ",
        ),
        (ActionParams, {"range": {"start": {"line": 0, "character": 0}}}, "range.end: field required"),
        (ActionParams, {"position": {"line": "3", "character": 0}}, "position.line: "),
        (ActionParams, {"budget": "huge"}, "budget: input should be 'quick', 'standard', 'thorough' or 'task'"),
        (ActionParams, {"constraints": [1]}, "constraints[0]: "),
        (ActionParams, {"context": {"a": 1}}, "context.a: "),
        (ActionParams, {"diagnostics": [{"message": "no range"}]}, "diagnostics[0].range: field required"),
        (ActionParams, {"preview": "maybe"}, "preview: "),
        (ActionParams, "file:///a.py", "the argument should be an object"),
        (ActionParams, [1], "the argument should be an object"),
        (CustomParams, {}, "action: field required"),
        (ResultParams, {"job": "x", "wait": "yes"}, "wait: "),
        (ResultParams, {}, "job: field required"),
        (MemorySearchParams, {"query": "x", "limit": 0}, "limit: "),
    ],
)
def test_a_wrong_argument_is_named(model: type[Params], argument: Any, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse(model, argument)

    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


def test_all_wrong_fields_are_named_at_once() -> None:
    with pytest.raises(UsageError, match=r"^budget: .*; preview: "):
        parse(ActionParams, {"budget": 1, "preview": 2})
