"""JavaScript's and TypeScript's changes that no input executes are reported, prove nothing, and get more inputs."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from support.judging import MakeCase, assert_unseen
from support.processes.tools import needs

from stet_ls.engine.api.evidence import Evidence, Ruling
from stet_ls.engine.execution.javascript.probes import probed
from stet_ls.engine.execution.probe import in_order
from stet_ls.engine.judges.differential.judge import judge

pytestmark = needs("node")

SUM = """\
/** @param {number[]} xs */
export function f(xs) {
  let whole = 0;
  for (const x of xs) whole += x;
  return whole;
}
"""
DIGEST = 'import { createHash } from "node:crypto";\n\n'
RARE = "createHash('md5').update(text).digest('hex').startsWith('c0ffee1')"
WIDTH = "/** @param {string} text */\nexport function f(text) {\n  return text.trim();\n}\n"
GUARDED = WIDTH.replace("  return", f"  if ({RARE}) {{\n    return '';\n  }}\n  return")
VARIED = """\
function f(n, k = n + 1, { a = 1 } = {}) {
  const strict = function () { "use strict"; return this === undefined }
  const seen = [strict()]
  outer: for (let i = 0; i < n; i++)
    for (;;) if (i === 2) continue outer; else if (i < a && n < 9) { seen.push(i); break } else break
  switch (n) { case 0: case 1: seen.push('few'); break; case 7: default: seen.push('many') }
  try { if (n > 4) throw new RangeError(`${n < 6 ? 'some' : 'lots'}`) } catch ({ message }) { seen.push(message) }
  do n -= 1; while (n > 3)
  const made = new (class { z = n || k; m(x = this.z) { if (x) return x; return 3 } })()
  made.z ??= 4
  made.z &&= a < n
  const ys = seen.filter(each => each !== 1).map((each) => { return typeof each }).sort((x, y) => (x > y) - (x < y))
  const g = function* () { yield* [made.m(), made.m(0), f.name] }
  return n < -1 ? ys : [...ys, ...g(), k ?? 'none', async () => await n]
}
"""


def needed(before: str, after: str, language: str = "javascript") -> tuple[list[str], list[str]]:
    """What is asked of the inputs in the old text and in the new one."""
    both = probed(before, after, language)
    assert both is not None
    return [str(each) for each in in_order(both[0].probes)], [str(each) for each in in_order(both[1].probes)]


def test_code_in_both_texts_gets_no_probe() -> None:
    old, new = needed(SUM, SUM.replace("  return whole;", "  return whole + 0 // the same"))
    assert old == ["ran line 5 of the old code: `return whole;`"]
    assert new == ["ran line 5: `return whole + 0 // the same`"]


UNASKED = {
    "a comment": SUM.replace("= 0;", "= 0; // begins"),
    "layout": SUM.replace("= 0;", "=\n    0"),
    "types": SUM.replace("let whole = 0", "let whole: number = 0 as number").replace("(xs)", "(xs: number[]): number"),
    "what runs when the module is loaded": f"{SUM}\nexport const LIMIT = 3;\n",
    "a text that is broken": "export function f( {",
}


@pytest.mark.parametrize("name", UNASKED)
def test_code_without_observable_effect_gets_no_probe(name: str) -> None:
    assert probed(SUM, UNASKED[name], "typescript") is None


def test_conditions_are_probed_for_both_outcomes_and_all_operands() -> None:
    guard = "  if (xs.length > 50 && xs[0] === 77) ;\n"
    _, new = needed(SUM, SUM.replace("  let whole", f"{guard}  let whole"))
    line = f"line 3: `{guard.strip()}`"
    assert new == [
        f"ran {line}", f"fulfilled the condition in {line}", f"failed the condition in {line}",
        f"came to the rest of the condition in {line}", f"made both sides equal in {line}",
    ]  # fmt: skip


PARTS = {
    "a function without braces": ("(n) => n", "(n) => n * 1", ["ran"]),
    "one that is given on": ("(xs) => xs.map((x) => x)", "(xs) => xs.flatMap((x) => x)", ["ran", "ran"]),
    "one that picks": (
        "(xs) => xs.length", "(xs) => xs.filter((x) => x).length", ["ran", "ran", "fulfilled", "failed"],
    ),
    "a default": ("(n = 1) => n", "(n = 2) => n", ["ran"]),
    "a case": (
        "(n) => { switch (n) { case 1: return 2; } }", "(n) => { switch (n) { case 1: case 3: return 2; } }", ["ran"],
    ),
    "what catches": (
        "(n) => { n.a(); }", "(n) => { try { n.a(); } catch {} }", ["ran", "ran"],
    ),
    "a field": ("class { a = 1 }", "class { a = 2; static b = 3 }", ["ran"]),
    "an assignment that may not be one": ("(n) => { n = n || 1; }", "(n) => { n ||= 1; }", ["ran", "came"]),
}  # fmt: skip


@pytest.mark.parametrize("name", PARTS)
def test_each_part_that_may_not_run_gets_a_probe(name: str) -> None:
    before, after, asked = PARTS[name]
    _, new = needed(f"const f = {before};\n", f"const f = {after};\n")
    assert [each.split()[0] for each in new] == asked


def test_an_expression_of_thousands_of_terms_can_be_probed() -> None:
    deep = f"function f(n) {{ return n < 1 || {'n + ' * 3000}n; }}\n"
    old, new = needed("function f(n) { return n; }\n", deep)
    assert (len(old), len(new)) == (1, 3)


def test_a_text_with_probes_runs_as_the_one_without(tmp_path: Path) -> None:
    both = probed("function f(n) {}\n", VARIED, "javascript")
    assert both is not None
    (tmp_path / "run.mjs").write_text(
        f"import {{ probes }} from {str(SEEN)!r};\nconst seen = new Uint8Array({len(both[1].probes)});\n"
        f"const plain = (() => {{ {VARIED}; return f; }})();\n"
        f"const noting = (({both[1].name}) => {{ {both[1].text}; return f; }})(probes(seen));\n"
        "for (const given of [[0], [1, 5], [2, 0, { a: 3 }], [5], [7, null], [-3, undefined, {}], ['x']]) {\n"
        "  const [one, other] = [plain, noting].map((f) => JSON.stringify(f(...given)));\n"
        "  if (one !== other) throw new Error(`${given}: ${one}, ${other}`);\n}\n"
        "console.log(seen.filter(Boolean).length);\n"
    )
    ran = subprocess.run(["node", "run.mjs"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert len(both[1].probes) - 8 < int(ran.stdout) < len(both[1].probes)


SEEN = Path(__file__).parents[4] / "engine/execution/javascript/inside/probes.mjs"


async def judged(make: MakeCase, before: str, after: str, language: str = "javascript", unit: str = "f") -> Evidence:
    return await judge(replace(make(before, after, unit), language=language))


async def test_code_guarded_by_several_literals_is_reached(make: MakeCase) -> None:
    wrong = SUM.replace("  let whole", "  if (xs.length > 50 && xs[0] === 77) return 1;\n  let whole")
    evidence = await judged(make, SUM, wrong)
    assert evidence.verdict is Ruling.FAIL, evidence
    assert "77" in evidence.detail


UNREACHED = {
    "added": (DIGEST + WIDTH, DIGEST + GUARDED, "none of which ran line 6: `return '';`"),
    "removed": (DIGEST + GUARDED, DIGEST + WIDTH, "none of which ran line 6 of the old code: `return '';`"),
    "on one line": (
        DIGEST + WIDTH, DIGEST + WIDTH.replace("text.trim()", f"{RARE} ? '' : text.trim()"),
        "none of which fulfilled the condition in line 5",
    ),
    "a tie": (
        "/** @param {int} a\n * @param {int} b */\nfunction f(a, b) {\n  a = 2 * a, b = 2 * b + 1;\n"
        "  return a < b ? a : b;\n}\n",
        "/** @param {int} a\n * @param {int} b */\nfunction f(a, b) {\n  a = 2 * a, b = 2 * b + 1;\n"
        "  return a <= b ? a : b;\n}\n",
        "none of which made both sides equal in line 5",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNREACHED)
async def test_a_change_that_no_input_reached_is_reported_and_not_proven(make: MakeCase, name: str) -> None:
    before, after, says = UNREACHED[name]
    evidence = await judged(make, before, after)
    assert_unseen(evidence, says)


async def test_a_change_that_inputs_reached_is_proven(make: MakeCase) -> None:
    short = "/** @param {number[]} xs */\nexport const f = (xs) => xs.reduce((whole, x) => whole + x, 0);\n"
    evidence = await judged(make, SUM, short)
    assert (evidence.verdict, evidence.trusted) == (Ruling.PASS, True), evidence
    assert "none of which" not in evidence.detail


async def test_a_change_in_two_units_is_reached_through_both(make: MakeCase) -> None:
    before = "function one(n) { return n + 1; }\nfunction two(n) { return n + 2; }\n"
    evidence = await judged(make, before, before.replace("n + 1", "n - -1").replace("n + 2", "n - -2"), unit="one")
    assert evidence.verdict is Ruling.PASS, evidence


async def test_code_that_cannot_run_with_probes_counts_as_not_reached(make: MakeCase) -> None:
    look = "if (Object.getOwnPropertyNames(globalThis).some((name) => name.startsWith('__came'))) throw new Error();\n"
    evidence = await judged(make, look + SUM, look + SUM.replace("whole += x", "whole = x + whole"))
    assert (evidence.verdict, evidence.trusted) == (Ruling.UNKNOWN, False), evidence
    assert "none of which ran line" in evidence.detail
