"""Objects that a result shares with itself, with arguments or with state: callers can see it, so it is compared."""

from __future__ import annotations

import pytest
from support.judging import MakeCase, judge_script
from support.processes.tools import needs

from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.judges.differential.judge import judge

BOX = """
class Box:
    def __init__(self, items: list[int]) -> None:
        self.items = list(items)

    def add(self, n: int) -> None:
        self.items.append(n)

    def all(self) -> list[int]:
        return list(self.items)
"""
HOLDER = "class Holder:\n    def __init__(self, n: int):\n        self.n = n\n\n\n"
BOXES = BOX + "\n\ndef boxes(n: int, m: int) -> list[Box]:\n    return [Box([n]), Box([m])]\n"
ROWS = "def rows(xs: list[list[int]]) -> list[list[int]]:\n    return [list(x) for x in xs]\n"
ALIASES = {
    "items of an argument": (ROWS, ROWS.replace("[list(x) for x in xs]", "list(xs)"), "rows", "the result[0] is xs[0]"),
    "items copied": (ROWS.replace("[list(x) for x in xs]", "list(xs)"), ROWS, "rows", "now: nothing is shared"),
    "one row for all": (
        "def grid(n: int, m: int) -> list[list[int]]:\n    return [[0] * (m % 5) for _ in range(n % 5)]\n",
        "def grid(n: int, m: int) -> list[list[int]]:\n    return [[0] * (m % 5)] * (n % 5)\n", "grid",
        "the result[0] is the result[1]",
    ),
    "what an object holds": (BOX, BOX.replace("return list(", "return ("), "Box", "obj.items is the result"),
    "what an object hides": (
        BOX.replace("self.items", "self._items"),
        BOX.replace("self.items", "self._items").replace("return list(", "return ("), "Box", "result 1 is result 2",
    ),
    "one object for two": (
        BOXES, BOXES.replace("[Box([n]), Box([m])]", "[Box([n])] * 2 if n == m else [Box([n]), Box([m])]"), "boxes",
        "the result[0] is the result[1]",
    ),
    "objects of a set": (
        f"{HOLDER}def f(n: int):\n    return {{Holder(n)}}, Holder(n)\n",
        f"{HOLDER}def f(n: int):\n    one = Holder(n)\n    return {{one}}, one\n", "f",
        "now: the result[0] has Holder(n=",
    ),
    "an array": (
        "from array import array\n\n\ndef f(n: int):\n    return [array('d', [n % 9]), array('d', [n % 9])]\n",
        "from array import array\n\n\ndef f(n: int):\n    return [array('d', [n % 9])] * 2\n", "f",
        "now: the result[0] is the result[1]",
    ),
    "a view of an argument": (
        "def f(known: dict[str, int]):\n    return dict(known).keys()\n",
        "def f(known: dict[str, int]):\n    return known.keys()\n", "f", "now: known is the result looks at",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ALIASES)
async def test_results_that_share_objects_differently_are_not_proven(make: MakeCase, name: str) -> None:
    before, after, unit, says = ALIASES[name]
    evidence = await judge(make(before, after, unit))
    assert evidence.verdict is Ruling.UNKNOWN, evidence
    assert "shares objects differently" in evidence.detail
    assert says in evidence.detail


async def test_the_arguments_of_a_constructor_are_compared_after_the_calls(make: MakeCase) -> None:
    evidence = await judge(make(BOX, BOX.replace("= list(items)", "= items"), "Box"))
    assert evidence.verdict is Ruling.FAIL, evidence
    assert "given1 = " in evidence.detail


ALIKE = {
    "the order of a dictionary": (
        "def f(a: list[int]) -> dict[str, list[int]]:\n    return {'b': a, 'a': a, 'c': [*a]}\n",
        "def f(a: list[int]) -> dict[str, list[int]]:\n    return {'a': a, 'c': a[:], 'b': a}\n",
    ),
    "a value made again": (
        "from fractions import Fraction\n\n\ndef f(n: int):\n    return [Fraction(n), Fraction(n)]\n",
        "from fractions import Fraction\n\n\ndef f(n: int):\n    return [Fraction(n)] * 2\n",
    ),
    "a tuple": (
        "def f(n: int):\n    return [(n, 'a'), (n, 'a')]\n", "def f(n: int):\n    return [(n, 'a')] * 2\n",
    ),
    "a frozen dataclass": (
        "from dataclasses import dataclass\n\n\n@dataclass(frozen=True)\nclass P:\n    x: int\n\n\n"
        "def f(n: int):\n    return [P(n), P(n)]\n",
        "from dataclasses import dataclass\n\n\n@dataclass(frozen=True)\nclass P:\n    x: int\n\n\n"
        "def f(n: int):\n    return [P(n)] * 2\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ALIKE)
async def test_identity_of_immutable_values_is_ignored(make: MakeCase, name: str) -> None:
    before, after = ALIKE[name]
    evidence = await judge(make(before, after, "f"))
    assert evidence.verdict is Ruling.PASS, evidence


SHARED_BY_SCRIPTS = {
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


@needs("node")
@pytest.mark.parametrize("name", SHARED_BY_SCRIPTS)
async def test_differently_shared_objects_are_reported_and_not_proven(make: MakeCase, name: str) -> None:
    before, after, unit, says = SHARED_BY_SCRIPTS[name]
    evidence = await judge_script(make, before, after, unit)
    assert (evidence.verdict, evidence.trusted) == (Ruling.UNKNOWN, False), evidence
    assert "shares objects differently" in evidence.detail
    assert says in evidence.detail


@needs("node")
async def test_frozen_objects_may_be_shared(make: MakeCase) -> None:
    before = "function f(n) { return [1, 2].map(() => Object.freeze({ n })); }\n"
    after = "function f(n) { return Array(2).fill(Object.freeze({ n })); }\n"
    evidence = await judge_script(make, before, after, "f")
    assert evidence.verdict is Ruling.PASS, evidence


ALIKE_SCRIPTS = {
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


@needs("node")
@pytest.mark.parametrize("name", ALIKE_SCRIPTS)
async def test_what_callers_do_not_see_is_no_difference(make: MakeCase, name: str) -> None:
    evidence = await judge_script(make, *ALIKE_SCRIPTS[name], "f")
    assert (evidence.verdict, evidence.trusted) == (Ruling.PASS, True), evidence
