"""Kinds of rewrites that inputs of few values, long chains, ties, the environment or a docstring's words decide."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.corpora.rewrites import RIGHT, UNPROVEN, WRONG, kinds
from support.judging import MakeCase
from support.processes.tools import needs

from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.judges.differential.judge import judge

FILE = Path(__file__).with_name("rewrites") / "kinds.txt"
KNOWN_WRONG, KNOWN_RIGHT, UNREACHED = kinds(FILE, WRONG), kinds(FILE, RIGHT), kinds(FILE, UNPROVEN)


@pytest.mark.parametrize("kind", KNOWN_WRONG)
async def test_a_wrong_rewrite_is_not_proven(make: MakeCase, kind: str) -> None:
    rewrite = KNOWN_WRONG[kind]
    assert rewrite.after is not None, "the text has other words"
    evidence = await judge(make(rewrite.before, rewrite.after, rewrite.unit))
    assert evidence.verdict is not Ruling.PASS, evidence
    is_asked = evidence.trusted or "shares objects differently" in evidence.detail
    assert evidence.verdict is Ruling.FAIL or is_asked, evidence


@pytest.mark.parametrize("kind", KNOWN_RIGHT)
async def test_a_right_rewrite_is_not_refuted(make: MakeCase, kind: str) -> None:
    rewrite = KNOWN_RIGHT[kind]
    assert rewrite.after is not None, "the text has other words"
    assert (evidence := await judge(make(rewrite.before, rewrite.after, rewrite.unit))).verdict is Ruling.PASS, evidence


@pytest.mark.parametrize("kind", UNREACHED)
async def test_what_only_excluded_inputs_execute_is_asked_about(make: MakeCase, kind: str) -> None:
    rewrite = UNREACHED[kind]
    assert rewrite.after is not None, "the text has other words"
    evidence = await judge(make(rewrite.before, rewrite.after, rewrite.unit))
    assert evidence.verdict is Ruling.UNKNOWN, evidence
    assert "none of which" in evidence.detail, evidence


INDEXED = """
export function indexed(rows) {
  const found = {};
  for (const row of rows) found[row.id] = row.name;
  return found;
}
"""
SPREAD = """
export function indexed(rows) {
  return rows.reduce((found, row) => ({ ...found, [row.id]: row.name }), {});
}
"""
LISTENERS = """
export class Bell {
  constructor() {
    this.listeners = [];
  }
  add(listener) {
    this.listeners.push(listener);
  }
  ring(value) {
    for (let i = 0; i < this.listeners.length; i++) this.listeners[i](value);
    return this.listeners.length;
  }
}
"""


@needs("node")
async def test_time_of_javascript_that_grows_faster_is_a_question(make: MakeCase) -> None:
    evidence = await judge(replace(make(INDEXED, SPREAD, "indexed"), language="javascript"))
    assert evidence.verdict is Ruling.UNKNOWN
    assert "its time grows faster with the size of its input" in evidence.detail


@needs("node")
async def test_what_an_engine_quotes_in_an_error_is_no_difference(make: MakeCase) -> None:
    after = LISTENERS.replace(
        "for (let i = 0; i < this.listeners.length; i++) this.listeners[i](value);",
        "for (const listener of this.listeners) listener(value);",
    )
    evidence = await judge(replace(make(LISTENERS, after, "Bell"), language="javascript"))
    assert evidence.verdict is Ruling.PASS, evidence


ALMOST_LATE = "raise type('it takes longer than 4 seconds', (Exception,), {})()\n"
ALMOST_LATE_SCRIPT = "throw Object.assign(new Error(), { name: 'it takes longer than 4 seconds' });\n"


async def test_code_that_fails_in_the_words_of_a_slow_start_is_refuted(make: MakeCase) -> None:
    before = "def f(x: int) -> int:\n    return x\n"
    evidence = await judge(make(before, before + ALMOST_LATE, "f"))
    assert evidence.verdict is Ruling.FAIL, evidence
    assert "cannot load the new code" in evidence.detail


@needs("node")
async def test_a_script_that_fails_in_the_words_of_a_slow_start_is_refuted(make: MakeCase) -> None:
    before = "export function f(x) {\n  return x;\n}\n"
    evidence = await judge(replace(make(before, before + ALMOST_LATE_SCRIPT, "f"), language="javascript"))
    assert evidence.verdict is Ruling.FAIL, evidence
    assert "cannot load the new code" in evidence.detail
