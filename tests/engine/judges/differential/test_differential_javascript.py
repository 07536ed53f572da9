"""JavaScript and TypeScript, old against new: differences are reported, equal code passes, limits are named."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.judging import MakeCase, in_each_box, judge_script
from support.processes.tools import needs

from stet_ls.engine.api.evidence import Ruling

pytestmark = needs("node")

TOTAL = """
/** What they cost.
 * @param {number[]} prices
 * @param {number} [rate]
 * @example total([1, 2]) // 4.5
 */
export const total = (prices, rate = 0.5) => {
  let whole = 0;
  for (const price of prices) whole += price;
  return whole * (1 + rate);
};
"""
ORDER = "export function f(n) {{\n  const seen = [];\n  {}\n  return seen;\n}}\n"
POINT = (
    "class Point {{ constructor(x) {{ this.x = x; }} move(by) {{ this.x += {}; return this; }}"
    " get far() {{ return this.x > 9 }} }}\n"
)
STACK = (
    "export class Stack {{ items = []; push(item) {{ this.items.push(item); }} pop() {{ return this.items.{}(); }} }}\n"
)
ROWS = (
    "class Row extends Array { entries() { return this.length; } }\n"
    "/** @param {Row} a\n * @example f(new Row(1, 2)) */\n"
)

CASES = {
    "its result varies": (TOTAL, TOTAL.replace("1 + rate", "1 - rate"), "total", "total("),
    "only on empty input": (TOTAL, TOTAL.replace("whole = 0", "whole = prices.length ? 0 : 1"), "total", "[]"),
    "another error": (
        "function first(names) {\n  if (!names.length) throw new RangeError('none');\n  return names[0];\n}\n",
        "function first(names) {\n  if (!names.length) throw new Error('none');\n  return names[0];\n}\n",
        "first", "RangeError",
    ),
    "other words of an error, which the documentation promises": (
        "/** @throws an error that says `too big: N`\n */\n"
        "function f(n) { if (n > 5) throw new Error(`too big: ${n}`); return n; }\n",
        "/** @throws an error that says `too big: N`\n */\n"
        "function f(n) { if (n > 5) throw new Error(`no such page: ${n}`); return n; }\n", "f", "no such page",
    ),
    "a default that is understood no more": (
        "function indent(text, prefix, wanted = null) {\n  const is = wanted ?? ((line) => line.trim() !== '');\n"
        "  return text.split('\\n').map((line) => (is(line) ? prefix + line : line)).join('\\n');\n}\n",
        "function indent(text, prefix, wanted = null) {\n"
        "  return text.split('\\n').map((line) => (wanted(line) ? prefix + line : line)).join('\\n');\n}\n",
        "indent", "TypeError",
    ),
    "nothing found, which was looked into": (
        "function f(text) { const m = text.match(/[0-9]/); return m ? m[0] : ''; }\n",
        "function f(text) { return text.match(/[0-9]/)[0]; }\n", "f", "TypeError",
    ),
    "an argument changed": (
        "const top = (xs) => Math.max(...[...xs].sort());\n",
        "const top = (xs) => Math.max(...xs.sort());\n", "top", "xs = [",
    ),
    "something printed": (
        "function say(n) { console.log('n', n); }\n", "function say(n) { console.log('n', n + 1); }\n", "say", "prints",
    ),
    "too much output": (
        "function down(n) { return Math.max(n, 0); }\n",
        "function down(n) { while (n > 5) ; return Math.max(n, 0); }\n", "down", "does not finish",
    ),
    "minus zero": (
        "function f(n) { return n > 3 ? 0 : n * 2; }\n", "function f(n) { return n > 3 ? -0 : n * 2; }\n", "f", "-0",
    ),
    "at a bound that the module names": (
        "var second = 1000;\nvar most = second;\nfunction short(ms) { return ms >= most ? 's' : ms + 'ms'; }\n",
        "var second = 1000;\nvar most = second;\nfunction short(ms) { return ms > most ? 's' : ms + 'ms'; }\n",
        "short", "short(1000)",
    ),
    "undefined and null": (
        "function f(n) { return { n, more: undefined }; }\n", "function f(n) { return { n, more: null }; }\n", "f",
        "null",
    ),
    "a map": (
        "function f(words) { const m = new Map(); for (const w of words) m.set(w, w.length); return m; }\n",
        "function f(words) { const m = new Map(); for (const w of words) m.set(w, 1); return m; }\n", "f", "Map{",
    ),
    "a date": (
        "/** @param {Date} day */\nfunction f(day) { return new Date(day.getTime() + 1000); }\n",
        "/** @param {Date} day */\nfunction f(day) { return new Date(day.getTime() + 2000); }\n", "f", "Date(",
    ),
    "a promise": (
        "async function f(n) { await new Promise((done) => setTimeout(done, 3_600_000)); return n; }\n",
        "async function f(n) { await new Promise((done) => setTimeout(done, 3_600_000)); return -n; }\n",
        "f", "resolves",
    ),
    "a promise that fails": (
        "async function f(n) { if (n > 3) throw new RangeError('x'); return n; }\n",
        "async function f(n) { if (n > 3) throw new SyntaxError('x'); return n; }\n", "f", "SyntaxError",
    ),
    "the order of timers": (
        ORDER.format("setTimeout(() => console.log(n), 10); setTimeout(() => console.log('b'), 20);"),
        ORDER.format("setTimeout(() => console.log(n), 30); setTimeout(() => console.log('b'), 20);"), "f", "prints",
    ),
    "a generator": (
        "function* up(n) { for (let i = 0; i < n; i++) yield i; }\n",
        "function* up(n) { for (let i = 0; i <= n; i++) yield i; }\n", "up", "iterator",
    ),
    "a class by its calls": (STACK.format("pop"), STACK.format("shift"), "Stack", "pop"),
    "a method on objects": (POINT.format("by"), POINT.format("Math.max(by, 0)"), "Point.move", "Point{"),
    "a static method": (
        "class P { static of(n) { return n * 2; } }\n", "class P { static of(n) { return n * 3; } }\n", "P.of",
        "P.of(",
    ),
    "an exported variable": (
        "export let count = 0;\nexport function f(n) { count += 1; return n; }\n",
        "export let count = 0;\nexport function f(n) { count += 2; return n; }\n", "f", "count = ",
    ),
    "files written": (
        "import fs from 'node:fs';\nexport function f(n) { return n; }\n",
        "import fs from 'node:fs';\nexport function f(n) { fs.writeFileSync('/tmp/x', ''); return n; }\n", "f",
        "writes files",
    ),
    "a process ended": (
        "function f(n) { return n; }\n", "function f(n) { if (n === 7) process.exit(0); return n; }\n", "f",
        "process.exit",
    ),
    "an array's own field": (
        "function f(n) { const r = [n]; r.extra = [1]; return r; }\n",
        "function f(n) { const r = [n]; r.extra = [9]; return r; }\n", "f", "extra: [",
    ),
    "a map's class": (
        "class Own extends Map {}\nfunction f(n) { return new Own([[n, 1]]); }\n",
        "class Own extends Map {}\nfunction f(n) { return new Map([[n, 1]]); }\n", "f", "Own",
    ),
    "a set's own field": (
        "function f(n) { return Object.assign(new Set([n]), { of: 1 }); }\n",
        "function f(n) { return Object.assign(new Set([n]), { of: 2 }); }\n", "f", "of: ",
    ),
    "an argument changed that gives its items in another way": (
        ROWS + "function f(a) { return 1; }\n", ROWS + "function f(a) { a.push(9); return 1; }\n", "f", "a = Row[",
    ),
    "a view of bytes": (
        "function f(n) { return new DataView(Uint8Array.of(n).buffer); }\n",
        "function f(n) { return new DataView(Uint8Array.of(n + 1).buffer); }\n", "f", "DataView[",
    ),
    "calls one after the other that were made together": (
        "async function f(load, names) { return Promise.all(names.map((name) => load(name))); }\n",
        "async function f(load, names) {\n  const found = [];\n"
        "  for (const name of names) found.push(await load(name));\n  return found;\n}\n", "f", "called (",
    ),
    "a callback that is called once less": (
        "function f(items, notify) {\n  for (const item of items) {\n    notify(item);\n  }\n"
        "  return items.length;\n}\n",
        "function f(items, notify) {\n  for (const item of items.slice(1)) {\n    notify(item);\n  }\n"
        "  return items.length;\n}\n", "f", "first",
    ),
    "what a returned function remembers": (
        "function f(g) {\n  let is = false, kept;\n  return (x) => {\n    if (!is) kept = g(x);\n    is = true;\n"
        "    return kept;\n  };\n}\n",
        "function f(g) {\n  let is = false;\n  return (x) => {\n    if (is) return undefined;\n    is = true;\n"
        "    return g(x);\n  };\n}\n", "f", "undefined",
    ),
    "promises among the items": (
        "async function f(prices) {\n  let sum = 0;\n  for (const price of prices) sum += await price;\n"
        "  return sum;\n}\n",
        "async function f(prices) { return prices.reduce((sum, price) => sum + price, 0); }\n", "f", "Promise",
    ),
    "rows that are equal by what they are sorted by": (
        "function f(rows) { return [...rows].sort((a, b) => b.score - a.score).map((row) => row.name); }\n",
        "function f(rows) { return [...rows].sort((a, b) => a.score - b.score).reverse().map((row) => row.name); }\n",
        "f", "score: ",
    ),
    "depth where a loop was": (
        "function f(n) { let sum = 0; for (let i = n; i > 0; i--) sum += i; return sum; }\n",
        "function f(n) { return n > 0 ? n + f(n - 1) : 0; }\n", "f", "Maximum call stack",
    ),
    "depth in a helper": (
        "function f(xs) { let sum = 0; for (const x of xs) sum += x; return sum; }\n",
        "function from(xs, at) { return at < xs.length ? xs[at] + from(xs, at + 1) : 0; }\n"
        "function f(xs) { return from(xs, 0); }\n", "f", "Maximum call stack",
    ),
    "depth in a text": (
        "function f(text) { return text.split('').reverse().join(''); }\n",
        "function f(text) {\n  const go = (at) => (at < 0 ? '' : text[at] + go(at - 1));\n"
        "  return go(text.length - 1);\n}\n", "f", "Maximum call stack",
    ),
    "the order of an object's calls": (
        "function f(db, rows) {\n  db.begin();\n  for (const row of rows) db.insert(row);\n  db.commit();\n}\n",
        "function f(db, rows) {\n  db.begin();\n  db.commit();\n  for (const row of rows) db.insert(row);\n}\n",
        "f", "commit: <function called",
    ),
    "an argument of an object's call": (
        "async function f(api, id) { return api.load(id, { retry: true }); }\n",
        "async function f(api, id) { return api.load(id); }\n", "f", "retry: true",
    ),
    "as many items as a limit": (
        "function f(items) { return items.slice(0, 50); }\n", "function f(items) { return items.slice(0, 49); }\n",
        "f", "f(",
    ),
    "32 bits": ("function f(n) { return Math.trunc(n); }\n", "function f(n) { return n | 0; }\n", "f", "was: "),
    "a number that is not held exactly": (
        "function f(n) { return String(BigInt(n) + 1n); }\n", "function f(n) { return String(n + 1); }\n", "f", "was: ",
    ),
    "a text that cannot be loaded": (
        "export function f(n) { return n; }\n", "import x from 'nowhere-at-all';\nexport function f(n) { return n; }\n",
        "f", "nowhere-at-all",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
async def test_a_difference_is_reported(make: MakeCase, name: str) -> None:
    before, after, unit, says = CASES[name]
    evidence = await judge_script(make, before, after, unit)
    assert (evidence.verdict, evidence.trusted) == (Ruling.FAIL, True), evidence
    assert says in evidence.detail


SAME = {
    "chance and clock": (
        "import crypto from 'node:crypto';\nimport { setTimeout as wait } from 'node:timers/promises';\n"
        "export async function f(n) {\n  await wait(n);\n  return [Math.random(), Date.now(), new Date(), "
        "performance.now(), crypto.randomUUID(), crypto.randomBytes(4), Date(), process.hrtime(), n];\n}\n"
    ),
    "what is compared deeply": (
        "function f(n) {\n  const a = { n, nan: NaN, zero: -0, none: undefined, when: new Date(n), what: /a/g,\n"
        "    big: 10n, s: Symbol('x'), set: new Set([n, { n }]), bytes: new Uint8Array([1, 2]) };\n"
        "  a.me = a;\n  return a;\n}\n"
    ),
    "state of the module": "const seen = [];\nfunction f(n) { seen.push(n); return seen.length; }\n",
    "a loop without end on some inputs": "function f(n) { while (n % 9 === 1) ; return n; }\n",
    "an interval that no one stops": "function f(n) { setInterval(() => {}, 10); return n; }\n",
    "where an error was thrown": "function f(n) { try { throw new Error('x'); } catch (e) { return e.stack + n; } }\n",
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
async def test_code_is_equivalent_to_itself(make: MakeCase, name: str) -> None:
    text = SAME[name]
    moved = "// a line above\n" + text.replace("  ", "    ")
    evidence = await judge_script(make, text, moved, "f")
    assert evidence.verdict is Ruling.PASS, evidence


async def test_a_rounding_difference_is_accepted_and_reported(make: MakeCase) -> None:
    before = "/** @param {number[]} xs */\nfunction f(xs) { return xs.reduce((a, b) => a + b / 3, 0); }\n"
    evidence = await judge_script(make, before, before.replace("xs.reduce", "[...xs].reverse().reduce"), "f")
    assert evidence.verdict is Ruling.PASS, evidence
    assert "rounding" in evidence.detail


async def test_a_difference_on_unintended_inputs_does_not_refute(make: MakeCase) -> None:
    before = "function f(thing) { const { when } = thing; return Math.floor(when); }\n"
    after = "function f(thing) { const { when } = thing; return Math.floor(when) || 0; }\n"
    evidence = await judge_script(make, before, after, "f")
    assert evidence.verdict is Ruling.UNKNOWN, evidence
    assert "outside the inferred types" in evidence.detail
    assert evidence.trusted, "it is asked about"


async def test_a_truncated_iterator_is_reported(make: MakeCase) -> None:
    before = "function* f(n) { for (let i = n; ; i += 1) yield i; }\n"
    endless = await judge_script(make, before, before.replace("i += 1", "i++"), "f")
    assert endless.verdict is Ruling.PASS, endless
    assert endless.detail.endswith(", for iterators the first 1,000 items")


NOT_COMPARABLE = {
    "files": (
        "import { readFileSync } from 'fs';\nexport function f(n) { return readFileSync('/' + n); }\n", "reads files",
    ),
    "network": ("async function f(n) { return fetch('http://x.example/' + n); }\n", "network"),
    "processes": (
        "const { execSync } = require('child_process');\nfunction f(n) { return execSync('ls'); }\n", "processes",
    ),
    "a page": ("function f(n) { document.title = n; }\n", "browser"),
    "no end": ("function f(n) { for (;;) ; }\n", "does not finish"),
    "a promise that no one settles": ("function f(n) { return new Promise(() => {}); }\n", "does not finish"),
    "a long list": ("function f(n) { return Array(60_000).fill(n); }\n", "too much memory"),
    "many bytes": ("function f(n) { return new Uint8Array(30_000); }\n", "too much memory"),
    "what throws when it is looked at": (
        "function f(n) { return { get next() { throw new Error(n); } }; }\n", "throws when it is looked at",
    ),
    "functions": ("function f(n) { return { get: () => n }; }\n", "cannot be compared"),
    "a missing package": ("import x from 'nowhere-at-all';\nexport function f(n) { return x(n); }\n", "nowhere-at-all"),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_COMPARABLE)
async def test_code_that_cannot_be_compared_is_reported_with_the_reason(make: MakeCase, name: str) -> None:
    text, says = NOT_COMPARABLE[name]
    evidence = await judge_script(make, text, text, "f")
    assert evidence.verdict is Ruling.UNKNOWN, evidence
    assert says in evidence.detail


async def test_a_function_that_does_not_use_a_broken_import_is_compared(make: MakeCase) -> None:
    text = "import x from 'nowhere-at-all';\nconst STEP = 2;\nexport function f(n) { return n + STEP; }\nx.listen();\n"
    alike = await judge_script(make, text, text, "f")
    assert alike.verdict is Ruling.PASS, alike
    assert "without the rest of its file" in alike.detail
    assert (await judge_script(make, text, text.replace("n + STEP", "n - STEP"), "f")).verdict is Ruling.FAIL


@in_each_box
async def test_a_module_imports_unsaved_buffers_and_takes_inputs_from_tests(make: MakeCase, tmp_path: Path) -> None:
    before = "import { RATE } from './rates.mjs';\nexport const known = (code) => code === 'X-4711' ? RATE : 0;\n"
    tests = "import { known } from '../src/a.mjs';\nconst code = 'X-4712';\nassert.equal(known(code), 0);\n"
    place: dict[str, Any] = {
        "root": tmp_path, "path": "src/a.mjs",
        "files": {"src/rates.mjs": "export const RATE = 'on the disk';\n", "tests/a.test.mjs": tests},
        "buffers": {"src/rates.mjs": "export const RATE = 3;\n"},
    }  # fmt: skip
    after = before.replace("code === 'X-4711'", "['X-4711', 'X-4712'].includes(code)")
    same = await judge_script(make, before, before, "known", **place)
    other = await judge_script(make, before, after, "known", **place)
    assert same.verdict is Ruling.PASS, same
    assert other.verdict is Ruling.FAIL, other
    assert "now: 3" in other.detail
    assert sorted(path.name for path in (tmp_path / "src").iterdir()) == ["a.mjs", "rates.mjs"]


@pytest.mark.parametrize("folder", [".", "src"])
async def test_a_counterexample_runs_in_node(make: MakeCase, tmp_path: Path, folder: str) -> None:
    text = TOTAL if folder == "." else TOTAL.replace("export ", "") + "module.exports = { total };\n"
    evidence = await judge_script(make, text, text.replace("1 + rate", "1 - rate"), "total")
    names = [each.name for each in evidence.attachments]
    assert names == ["counter_example_total.mjs", "inputs_total.mjs"]
    for each in evidence.attachments:
        (tmp_path / each.name).write_text(each.text)
        ran = subprocess.run(["node", each.name], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert ran.returncode == 1, ran.stderr
        assert "calls differ" in ran.stdout
        assert "was:" in ran.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)


async def test_the_inputs_file_has_as_many_inputs_as_the_evidence_reports(make: MakeCase, tmp_path: Path) -> None:
    evidence = await judge_script(make, TOTAL, TOTAL.replace("whole += price", "whole = whole + price"), "total")
    [file] = evidence.attachments
    (tmp_path / file.name).write_text(file.text)
    ran = subprocess.run(["node", file.name], cwd=tmp_path, capture_output=True, text=True, check=True)
    inputs = re.findall(r"same behavior on (\d+ inputs)", evidence.detail)
    assert inputs == re.findall(
        r"^0 of \d+ calls differ \((\d+ inputs), \d+ of them called again\)$", ran.stdout.strip()
    )


async def test_a_forged_report_is_rejected(make: MakeCase) -> None:
    forge = (
        "const fs = process.getBuiltinModule?.('fs') ?? require('fs');\n"
        "for (let fd = 3; fd < 40; fd += 1) {\n"
        "  try { fs.writeSync(fd, '{}\\n'); } catch {}\n}\n"
        "function f(n) { return n; }\n"
    )
    assert (await judge_script(make, "function f(n) { return n; }\n", forge, "f")).verdict is not Ruling.PASS


async def test_a_document_without_a_target_is_judged_by_its_changed_units(make: MakeCase) -> None:
    before = "function a(n) { return n; }\nfunction b(n) { return n; }\n"
    evidence = await judge_script(make, before, before.replace("b(n) { return n", "b(n) { return -n"), "")
    assert evidence.verdict is Ruling.FAIL, evidence
    assert "`b(2)` was" in evidence.detail
