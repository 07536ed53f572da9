"""Texts of times in the format that the code parses."""

from __future__ import annotations

import ast
from datetime import datetime

from stet_ls.engine.execution.inputs import strategies as st
from stet_ls.engine.execution.python.inputs.calls import calls_for
from stet_ls.engine.execution.python.inputs.values.texts.time_texts import formats_of, time_texts


def test_the_format_is_that_of_the_parser() -> None:
    code = "def f(a, b, c):\n    datetime.fromisoformat(a), date.fromisoformat(b), datetime.strptime(c, '%d.%m.%Y')\n"
    assert formats_of(ast.parse(code)) == {"a": "%Y-%m-%dT%H:%M:%S", "b": "%Y-%m-%d", "c": "%d.%m.%Y"}


def test_texts_can_be_parsed_and_are_near_each_other() -> None:
    texts = st.examples(time_texts("%d.%m.%Y"), 60, 1, lambda _: False)
    assert all(datetime.strptime(ast.literal_eval(text), "%d.%m.%Y") for text in texts)
    assert len({text[-5:-1] for text in texts}) == 2, "years are few, so that times meet"


def test_a_parameter_that_is_parsed_gets_such_texts() -> None:
    calls = calls_for("from datetime import date\n\n\ndef f(day):\n    return date.fromisoformat(day).year\n", "f")
    assert sum("day = '20" in call.setup for call in calls) > 20
