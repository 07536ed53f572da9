"""Edited and new tests of JavaScript and TypeScript run on planted errors, through the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.processes.command import Stet
from support.processes.tools import needs
from support.repository import Repository

pytestmark = needs("node")

CODE = """\
export function shipping(weight, express) {
  let cost = weight * 2;
  if (express) {
    cost = cost + 5;
  }
  return cost;
}
"""
HEAD = """\
import { describe, test } from 'node:test';
import assert from 'node:assert';
import { shipping } from '../src/shipping.mjs';

"""
TESTS = f"""{HEAD}describe('shipping', () => {{
  test('express', () => {{ assert.strictEqual(shipping(3, true), 11); }});
  test('plain', () => {{ assert.strictEqual(shipping(3, false), 6); }});
}});
"""
PLACE = "tests/shipping.test.mjs"


@pytest.fixture
def repository(folder: Path) -> Repository:
    made = Repository.new(folder)
    made.commit({"src/shipping.mjs": CODE, PLACE: TESTS})
    return made


@pytest.mark.parametrize(("words", "status", "verdict"), [((), 0, "unproven"), (("--intent", "test"), 1, "refuted")])
def test_a_weakened_test_is_found(
    stet: Stet, repository: Repository, words: tuple[str, ...], status: int, verdict: str
) -> None:
    weak = TESTS.replace("strictEqual(shipping(3, true), 11)", "ok(shipping(3, true) > 0)")
    repository.write({PLACE: weak})
    ran = stet("verify", *words, "--json")
    assert ran.status == status, ran
    report = json.loads(ran.out)
    (found,) = report["findings"]
    assert (report["verdict"], found["path"], found["check"]) == (verdict, PLACE, "mutants")
    detail = r"`express` notices \d of 8 planted errors, \d before; passes with .* in src/shipping.mjs:\d"
    assert re.fullmatch(detail, found["detail"]), found


def test_an_assertion_that_only_wrong_results_tell_apart_is_found(stet: Stet, folder: Path) -> None:
    """No operator of this function can be wrong so that the old test alone notices it."""
    code = "export const names = (rows) => rows.map((row) => row.name);\n"
    call = 'names([{ name: "a" }, { name: "b" }])'
    test = (
        "import { test } from 'node:test';\nimport assert from 'node:assert';\n"
        "import { names } from '../src/names.mjs';\n\ntest('names', () => { CHECK });\n"
    )
    place = "tests/names.test.mjs"
    made = Repository.new(folder)
    strict = test.replace("CHECK", f"assert.deepStrictEqual({call}, ['a', 'b']);")
    made.commit({"src/names.mjs": code, place: strict})
    made.write({place: test.replace("CHECK", f"assert.ok({call}.includes('a'));")})
    report = json.loads(stet("verify", "--json").out)
    assert [each["check"] for each in report["findings"]] == ["mutants"], report
    assert "passes with a result that" in report["findings"][0]["detail"]


def test_a_test_that_notices_as_much_is_clean(stet: Stet, repository: Repository) -> None:
    repository.write({PLACE: TESTS.replace("strictEqual(shipping(3, true), 11)", "ok(shipping(3, true) === 11)")})
    ran = stet("verify", "--intent", "test")
    assert ran.status == 0, ran
    assert ran.out.startswith("ok: 1 unit")


@pytest.mark.parametrize(
    ("check", "verdict"),
    [("assert.ok(discount(9, true) !== undefined);", "unproven"), ("assert.strictEqual(discount(9, true), 6);", "ok")],
)
def test_a_new_test_has_to_notice_errors(stet: Stet, repository: Repository, check: str, verdict: str) -> None:
    added = (
        "\nexport function discount(cost, member) {\n  if (member) {\n    return cost - 3;\n  }\n  return cost;\n}\n"
    )
    test = f"\ntest('discount', () => {{ {check} }});\n"
    head = TESTS.replace("import { shipping }", "import { discount, shipping }")
    repository.write({"src/shipping.mjs": CODE + added, PLACE: head + test})
    report = json.loads(stet("verify", "--intent", "feature", "--json").out)
    found = [each["path"] for each in report["findings"] if each["detail"].startswith("new tests notice")]
    assert (report["verdict"], found) == (verdict, [PLACE] if verdict == "unproven" else [])
