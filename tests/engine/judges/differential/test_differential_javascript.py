"""JavaScript and TypeScript, old against new: differences are reported, equal code passes, limits are named."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.judging import MakeCase, in_each_box
from support.processes.tools import needs

from stet_ls.engine.api.evidence import Evidence, Ruling
from stet_ls.engine.execution.harness_run import Call, HarnessReport, HarnessRun
from stet_ls.engine.execution.javascript.harness import run
from stet_ls.engine.execution.javascript.module_location import with_exposed_names
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.differential.judge import judge

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


async def judged(
    make: MakeCase, before: str, after: str, unit: str, language: str = "javascript", **more: object
) -> Evidence:
    """What the judge says; the file stands in a workspace if a `root` is given."""
    return await judge(replace(make(before, after, unit, **more), language=language))


@pytest.mark.parametrize("name", CASES)
async def test_a_difference_is_reported(make: MakeCase, name: str) -> None:
    before, after, unit, says = CASES[name]
    evidence = await judged(make, before, after, unit)
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
    evidence = await judged(make, text, moved, "f")
    assert evidence.verdict is Ruling.PASS, evidence


async def test_a_rounding_difference_is_accepted_and_reported(make: MakeCase) -> None:
    before = "/** @param {number[]} xs */\nfunction f(xs) { return xs.reduce((a, b) => a + b / 3, 0); }\n"
    evidence = await judged(make, before, before.replace("xs.reduce", "[...xs].reverse().reduce"), "f")
    assert evidence.verdict is Ruling.PASS, evidence
    assert "rounding" in evidence.detail


async def test_a_difference_on_unintended_inputs_does_not_refute(make: MakeCase) -> None:
    before = "function f(thing) { return Math.floor(thing.when); }\n"
    after = "function f(thing) { return Math.floor(thing.when) || 0; }\n"
    evidence = await judged(make, before, after, "f")
    assert evidence.verdict is Ruling.UNKNOWN, evidence
    assert "outside the inferred types" in evidence.detail
    assert evidence.trusted, "it is asked about"


async def test_a_truncated_iterator_is_reported(make: MakeCase) -> None:
    before = "function* f(n) { for (let i = n; ; i += 1) yield i; }\n"
    endless = await judged(make, before, before.replace("i += 1", "i++"), "f")
    assert endless.verdict is Ruling.PASS, endless
    assert endless.detail.endswith(", for iterators the first 1,000 items")


SHARES = {
    "rows that are one": (
        "/** @param {int} n */\nfunction f(n) { return Array.from({ length: Math.abs(n % 9) + 2 }, () => [0]); }\n",
        "/** @param {int} n */\nfunction f(n) { return Array(Math.abs(n % 9) + 2).fill([0]); }\n", "f",
        "now: the result[0] is the result[1]",
    ),
    "an argument's own": (
        "/** @param {number[][]} xs */\nfunction f(xs) { return xs.map((x) => [...x]); }\n",
        "/** @param {number[][]} xs */\nfunction f(xs) { return xs.map((x) => x); }\n", "f",
        "before: nothing is shared, now: the result[0] is xs[0]",
    ),
    "what a promise comes to": (
        "/** @param {number[]} xs */\nasync function f(xs) { return { xs: [...xs] }; }\n",
        "/** @param {number[]} xs */\nasync function f(xs) { return { xs }; }\n", "f", "now: the result.xs is xs",
    ),
    "of a thing that only has a method `next`": (
        "class Line { constructor(xs) { this.xs = xs; } next() { return 1; } }\n"
        "/** @param {number[]} xs */\nfunction f(xs) { return new Line([...xs]); }\n",
        "class Line { constructor(xs) { this.xs = xs; } next() { return 1; } }\n"
        "/** @param {number[]} xs */\nfunction f(xs) { return new Line(xs); }\n", "f", "now: the result.xs is xs",
    ),
    "in a map": (
        "/** @param {string[]} ks */\nfunction f(ks) { return new Map(ks.map((k) => [k, [1]])); }\n",
        "/** @param {string[]} ks */\nfunction f(ks) { const one = [1]; return new Map(ks.map((k) => [k, one])); }\n",
        "f", ".get(",
    ),
    "of a kind of pattern": (
        "class Named extends RegExp { names = []; }\n"
        "/** @param {string[]} xs */\nfunction f(xs) { const p = new Named('a'); p.names = [...xs]; return p; }\n",
        "class Named extends RegExp { names = []; }\n"
        "/** @param {string[]} xs */\nfunction f(xs) { const p = new Named('a'); p.names = xs; return p; }\n", "f",
        "now: the result.names is xs",
    ),
    "of a kind of date": (
        "class Day extends Date { names = []; }\n"
        "/** @param {string[]} xs */\nfunction f(xs) { const d = new Day(0); d.names = [...xs]; return d; }\n",
        "class Day extends Date { names = []; }\n"
        "/** @param {string[]} xs */\nfunction f(xs) { const d = new Day(0); d.names = xs; return d; }\n", "f",
        "now: the result.names is xs",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SHARES)
async def test_differently_shared_objects_are_reported_and_not_proven(make: MakeCase, name: str) -> None:
    before, after, unit, says = SHARES[name]
    evidence = await judged(make, before, after, unit)
    assert (evidence.verdict, evidence.trusted) == (Ruling.UNKNOWN, False), evidence
    assert "shares objects differently" in evidence.detail
    assert says in evidence.detail


async def test_frozen_objects_may_be_shared(make: MakeCase) -> None:
    before = "function f(n) { return [1, 2].map(() => Object.freeze({ n })); }\n"
    after = "function f(n) { return Array(2).fill(Object.freeze({ n })); }\n"
    evidence = await judged(make, before, after, "f")
    assert evidence.verdict is Ruling.PASS, evidence


ALIKE = {
    "a better message": (
        "function f(text) {\n  if (!text.length) throw new Error('bad');\n  return text.length;\n}\n",
        "function f(text) {\n  if (!text.length) throw new Error(`empty: ${text}`);\n  return text.length;\n}\n",
    ),
    "rows are no texts": (
        "function f(rows, key) {\n  const found = {};\n  for (let i = 0; i < rows.length; i++) {\n"
        "    const row = rows[i];\n    found[row[key]] = row;\n  }\n  return found;\n}\n",
        "function f(rows, key) {\n  const found = {};\n  for (const row of rows) found[row[key]] = row;\n"
        "  return found;\n}\n",
    ),
    "what the documentation excludes": (
        "/** The largest of at least one number.\n * @param {number[]} xs\n */\n"
        "function f(xs) {\n  let best = xs[0];\n  for (const x of xs) if (x > best) best = x;\n  return best;\n}\n",
        "/** The largest of at least one number.\n * @param {number[]} xs\n */\n"
        "function f(xs) { return xs.reduce((best, x) => Math.max(best, x)); }\n",
    ),
    "a callback that is called as often": (
        "async function f(load, names) {\n  const all = [];\n  for (const name of names) all.push(load(name));\n"
        "  return Promise.all(all);\n}\n",
        "async function f(load, names) { return Promise.all(names.map((name) => load(name))); }\n",
    ),
    "the same calls of an object": (
        "function f(db, rows) {\n  db.begin();\n"
        "  for (let i = 0; i < rows.length; i++) {\n    db.insert(rows[i]);\n  }\n"
        "  db.commit();\n}\n",
        "function f(db, rows) {\n  db.begin();\n  rows.forEach((row) => db.insert(row));\n  db.commit();\n}\n",
    ),
    "rounding where numbers are large": (
        "function f(p, q) { return Math.sqrt((p.x - q.x) ** 2 + (p.y - q.y) ** 2); }\n",
        "function f(p, q) { return Math.hypot(p.x - q.x, p.y - q.y); }\n",
    ),
    "a pure callback that is called more often": (
        "function f(items, predicate) { return items.filter((item) => predicate(item)); }\n",
        "function f(items, predicate) {\n  return items.filter((item) => predicate(item) && predicate(item));\n}\n",
    ),
}


@pytest.mark.parametrize("name", ALIKE)
async def test_what_callers_do_not_see_is_no_difference(make: MakeCase, name: str) -> None:
    evidence = await judged(make, *ALIKE[name], "f")
    assert (evidence.verdict, evidence.trusted) == (Ruling.PASS, True), evidence


async def test_typescript_needs_no_builder(make: MakeCase) -> None:
    """Stet leaves the types out itself, if there is neither esbuild nor typescript."""
    before = "function f(params: Record<string, string>): string { return Object.keys(params).join('&'); }\n"
    evidence = await judged(make, before, before.replace(".join", ".sort().join"), "f", "typescript")
    assert (evidence.verdict, evidence.trusted) == (Ruling.FAIL, True), evidence
    same = before.replace("Object.keys(params)", "[...Object.keys(params)]")
    assert (await judged(make, before, same, "f", "typescript")).verdict is Ruling.PASS


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
    evidence = await judged(make, text, text, "f")
    assert evidence.verdict is Ruling.UNKNOWN, evidence
    assert says in evidence.detail


async def ran(runtime: Runtime, before: str, after: str, *setups: str) -> HarnessReport:
    """What comes of `f(a)` in two texts, within two seconds, for each way to make `a`."""
    calls = tuple(Call(setup, "__out__(f(a));", ("a",)) for setup in setups)
    shown = with_exposed_names(before, "javascript"), with_exposed_names(after, "javascript")
    report = await run(runtime, HarnessRun(shown, calls, "f", Path("m.js"), "m", seconds=2.0), "javascript")
    assert isinstance(report, HarnessReport), report
    return report


async def test_a_call_with_an_unprintable_argument_is_left_out(runtime: Runtime) -> None:
    odd = "class Odd { constructor(x) { this.x = x } get next() { throw Error() } }\nfunction f(a) { return 1; }\n"
    setups = [f"const a = new Odd({number});" for number in range(5)]
    report = await ran(runtime, odd, odd.replace("return", "a.x = 9; return"), *setups)
    assert sum(report.left_out.values()) == 5
    assert not report.texts[0].outcomes


async def test_a_slower_candidate_does_not_take_the_time_of_the_original(runtime: Runtime) -> None:
    slow = "function f(a) { for (let at = 0; at < 3e7; at += 1) a = -a; return a + 1; }\n"
    setups = [f"const a = {number};" for number in range(200)]
    report = await ran(runtime, "function f(a) { return a; }\n", slow, *setups)
    old, new = report.texts
    assert not old.problem
    assert any(each.digest != old.outcomes[number].digest for number, each in new.outcomes.items())


async def test_a_function_that_does_not_use_a_broken_import_is_compared(make: MakeCase) -> None:
    text = "import x from 'nowhere-at-all';\nconst STEP = 2;\nexport function f(n) { return n + STEP; }\nx.listen();\n"
    alike = await judged(make, text, text, "f")
    assert alike.verdict is Ruling.PASS, alike
    assert "without the rest of its file" in alike.detail
    assert (await judged(make, text, text.replace("n + STEP", "n - STEP"), "f")).verdict is Ruling.FAIL


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
    same = await judged(make, before, before, "known", **place)
    other = await judged(make, before, after, "known", **place)
    assert same.verdict is Ruling.PASS, same
    assert other.verdict is Ruling.FAIL, other
    assert "now: 3" in other.detail
    assert sorted(path.name for path in (tmp_path / "src").iterdir()) == ["a.mjs", "rates.mjs"]


@pytest.mark.parametrize("folder", [".", "src"])
async def test_a_counterexample_runs_in_node(make: MakeCase, tmp_path: Path, folder: str) -> None:
    text = TOTAL if folder == "." else TOTAL.replace("export ", "") + "module.exports = { total };\n"
    evidence = await judged(make, text, text.replace("1 + rate", "1 - rate"), "total")
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
    evidence = await judged(make, TOTAL, TOTAL.replace("whole += price", "whole = whole + price"), "total")
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
    assert (await judged(make, "function f(n) { return n; }\n", forge, "f")).verdict is not Ruling.PASS


def esbuild() -> None:
    if shutil.which("esbuild") is None:
        pytest.skip("not installed: esbuild")


TYPED = """import { twice } from './twice';
interface Item { name: string; price: number; tags?: string[] }
enum Level { Low, High = 'high' }
type Wanted = Map<string, Set<number>> | null;
export function cheapest(items: readonly Item[], level: Level, wanted: Wanted): string | undefined {
  const sorted = [...items].sort((a, b) => a.price - b.price);
  return level === Level.High && wanted ? sorted[0]?.name : twice(sorted.at(-1)?.name ?? '');
}
"""


@in_each_box
async def test_typescript_is_compiled_and_its_types_determine_inputs(make: MakeCase, tmp_path: Path) -> None:
    esbuild()
    place: dict[str, Any] = {
        "root": tmp_path,
        "path": "a.ts",
        "files": {"twice.ts": "export const twice = (s: string) => s + s;\n"},
    }
    after = TYPED.replace("sorted.at(-1)", "sorted.at(-2)")
    same = await judged(make, TYPED, TYPED, "cheapest", "typescript", **place)
    other = await judged(make, TYPED, after, "cheapest", "typescript", **place)
    assert (same.verdict, same.count > 200) == (Ruling.PASS, True), same
    assert other.verdict is Ruling.FAIL, other
    ran = tmp_path / other.attachments[0].name
    ran.write_text(other.attachments[0].text)
    told = subprocess.run(["node", ran.name], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert told.returncode == 1, told.stderr


async def test_typescript_without_a_compiler_is_reported(make: MakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    without = [each for each in os.environ["PATH"].split(os.pathsep) if not (Path(each) / "esbuild").exists()]
    monkeypatch.setenv("PATH", os.pathsep.join(without))
    text = "export function f(n: number): number { return n; }\n"
    evidence = await judged(make, text, text, "f", "typescript")
    if evidence.verdict is not Ruling.PASS:  # newer Nodes take the types out themselves
        assert "esbuild" in evidence.detail


async def test_a_document_without_a_target_is_judged_by_its_changed_units(make: MakeCase) -> None:
    before = "function a(n) { return n; }\nfunction b(n) { return n; }\n"
    evidence = await judged(make, before, before.replace("b(n) { return n", "b(n) { return -n"), "")
    assert evidence.verdict is Ruling.FAIL, evidence
    assert "`b(2)` was" in evidence.detail
