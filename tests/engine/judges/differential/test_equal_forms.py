"""Where inputs show too little of a change, the same code in another form is alike; another code stays a question."""

from __future__ import annotations

import pytest
from support.judging import MakeCase

from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.judges.differential.judge import judge, judge_unit

READ = """\
import json


def read(answer):
    names = {"nm": "name", "vl": "value"}
    return {names.get(key, key): value for key, value in json.loads(answer.strip("~"))["~rows~"].items()}
"""
AS_DICT = READ.replace("{names.get(key, key): value for", "dict((names.get(name, name), value) for").replace(
    " key, value in", " name, value in"
).replace(".items()}", ".items())")  # fmt: skip
CUT = """\
import hashlib


def cut(text: str, mark: str = " ") -> str:
    short = ""
    if hashlib.sha256(text.encode()).hexdigest().startswith("c0ffee1"):
        for word in text.split(mark):
            short += "{0}{1}".format(word, mark)
    return short or text[:7]
"""
KIND = """\
def kind(text):
    return (lambda: text) if isinstance(text, str) or isinstance(text, bytes) else (lambda: repr(text))
"""


async def test_code_that_fails_on_all_inputs_passes_in_another_form(make: MakeCase) -> None:
    for evidence in (await judge(make(READ, AS_DICT, "read")), await judge_unit(make(READ, AS_DICT, "read"), "read")):
        assert evidence.verdict is Ruling.PASS, evidence
        assert evidence.trusted
        assert evidence.detail.startswith("the same code in another form; same behavior on "), evidence


async def test_what_cannot_be_compared_passes_in_another_form(make: MakeCase) -> None:
    evidence = await judge(make(KIND, KIND.replace("str) or isinstance(text, bytes)", "(str, bytes))"), "kind"))
    assert evidence.verdict is Ruling.PASS, evidence
    other = KIND.replace("(lambda: text)", "(lambda: (text, 1)[0])")
    evidence = await judge(make(KIND, other, "kind"))
    assert evidence.verdict is not Ruling.PASS, evidence


async def test_a_change_of_form_alone_need_not_run(make: MakeCase) -> None:
    evidence = await judge(make(CUT, CUT.replace("{0}{1}", "{}{}").replace("word", "part"), "cut"))
    assert evidence.verdict is Ruling.PASS, evidence
    assert evidence.detail.startswith("same behavior on "), evidence


@pytest.mark.parametrize(
    ("before", "after", "unit", "says"),
    [
        (READ, AS_DICT.replace("names.get(name, name)", "names.get(name, value)"), "read", "on all"),
        (READ, AS_DICT.replace('"vl": "value"', '"vl": "values"'), "read", "on all"),
        (CUT, CUT.replace("{0}{1}", "{1}{0}"), "cut", "none of which"),
    ],
)
async def test_another_code_stays_a_question(make: MakeCase, before: str, after: str, unit: str, says: str) -> None:
    evidence = await judge(make(before, after, unit))
    assert evidence.verdict is Ruling.UNKNOWN, evidence
    assert says in evidence.detail, evidence
