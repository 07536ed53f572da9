"""Items that agree in all but one part, for code that chooses among them."""

from __future__ import annotations

import ast

from stet_ls.engine.execution.python.inputs.calls import calls_for
from stet_ls.engine.execution.python.inputs.values.twins import with_equal_lists


def test_items_that_agree_in_all_but_a_text_are_among_the_inputs_of_code_that_chooses() -> None:
    text = "def last(rows: list[tuple[str, int]]) -> str:\n    return max(rows, key=lambda row: row[1])[0]\n"
    calls = calls_for(text, "last")
    more = [each.setup for each in with_equal_lists(calls, (text, text), "last") if each not in calls]
    assert more
    for setup in more:
        (_, one), (_, other), (_, third), *_ = ast.literal_eval(setup.partition(" = ")[2])
        assert one == other == third
    assert with_equal_lists(calls, (text.replace("max", "next"),) * 2, "last") == calls
