"""The kinds that uses imply: tables with their values, dates by differences, texts at a place, beginnings and ends."""

from __future__ import annotations

import ast

import pytest

from stet_ls.engine.execution.inputs import strategies as st
from stet_ls.engine.execution.python.inputs.values.kinds.dates import compares, ends_of, in_order
from stet_ls.engine.execution.python.inputs.values.kinds.used_kinds import kinds_by_use
from stet_ls.engine.execution.python.inputs.values.texts.word_texts import commands


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("for k in sorted(x):\n    v = x[k]\n    sum(v)", "dict[str, list[int]]"),
        ("for k, v in x.items():\n    hashlib.sha256(v)", "dict[str, bytes]"),
        ("for v in x.values():\n    v.upper()", "dict[str, str]"),
        ("for k, v in x.items():\n    for a, b in v.items():\n        a + 1", "dict[str, dict[str, int]]"),
        ("x.items()", "dict[str, int]"),
        ("(x - day).days - grace", "date"),
        ("(moment - x).total_seconds()", "datetime"),
        ("x[place].partition(' ')", "list[str]"),
        ("zlib.crc32(x)", "bytes"),
        ("len(found) == x", "int"),
        ("islice(rows, x)", "int"),
        ("env = x.get('KEY', '')", "dict[str, str]"),
        ("def visit(name):\n    for need in x[name]:\n        visit(need)\nfor name in x: visit(name)", "Links"),
        ("class A:\n  def __init__(self, x): self.x = x\n  def lap(self): return self.x() - self.begun", "Clock"),
    ],
)
def test_a_use_implies_a_kind(code: str, kind: str) -> None:
    assert kinds_by_use("x", ast.parse(code))[0][:1] == [kind]


def test_an_object_begins_before_it_ends() -> None:
    early, late = "__import__('datetime').date(2020, 1, 1)", "__import__('datetime').date(2021, 1, 1)"
    ends = ends_of(["room", "arrival", "departure"])
    assert ends == ("arrival", "departure")
    assert in_order({"arrival": late, "departure": early}, ends) == {"arrival": early, "departure": late}
    assert in_order({"arrival": early, "departure": late}, ends) == {"arrival": early, "departure": late}
    assert ends_of(["made", "sold"]) is None


@pytest.mark.parametrize(
    ("code", "decides"),
    [
        ("max(0, (s.end - s.start).days)", True), ("if self.end < self.start: ...", True),
        ("s.end < t.start", False), ("s.end - s.start", False), ("end < start", False),
    ],
)  # fmt: skip
def test_code_that_compares_both_ends_decides_on_others(code: str, decides: bool) -> None:
    assert compares(ast.parse(code), ("start", "end")) is decides


def test_words_that_code_compares_with_are_given_something_or_measure_it() -> None:
    texts = {
        ast.literal_eval(each) for each in st.examples(commands(("'push'", "'kg'"), ("'; '",)), 200, 1, lambda _: False)
    }
    assert "push" in texts
    assert any(each.startswith("push; ") for each in texts)
    assert any(each[0].isdigit() and each.endswith("kg") for each in texts)
