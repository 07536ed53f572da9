"""What the tests of a JavaScript or TypeScript project call the code with is what old and new are compared on first."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from support.processes.tools import needs

from stet_ls.engine.api.evidence import Evidence, Ruling
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.execution.javascript.inputs.known_calls.captured_calls import captured_inputs
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.differential.judge import judge
from stet_ls.engine.judges.project_tests.judge import judge as run_tests
from stet_ls.engine.runners.captured_calls import CapturedCall, CapturedCalls
from stet_ls.engine.sandbox.isolation import IsolationLevel
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.validators.source import Source

Compared = Callable[..., Awaitable[Evidence]]
pytestmark = needs("node")


@pytest.fixture
async def compared(tmp_path: Path, probes: Path, backend: str) -> AsyncIterator[Compared]:
    """Compares two texts of a file after the tests next to it ran on the first."""
    sandbox = Sandbox(IsolationLevel.STRONG, probes, backend=backend)
    root = tmp_path / "project"

    async def ask(before: str, after: str, unit: str, test: str, file: str = "code.mjs") -> Evidence:
        root.mkdir(exist_ok=True)
        stem, _, ending = file.partition(".")
        (root / file).write_text(before)
        (root / f"{stem}.test.{ending}").write_text(test)
        (root / "package.json").write_text('{"name": "project"}')
        language = "typescript" if ending == "ts" else "javascript"
        runtime = Runtime(sandbox, None, Workspace((root,)))
        case = Case("refactor", language, root / file, Source(before), Source(after), unit, runtime=runtime)
        ran = await run_tests(case)
        assert ran.verdict is Ruling.PASS, ran.detail
        assert (root / file).read_text() == before, "the file is changed in the sandbox alone"
        return await judge(case)

    yield ask
    await sandbox.close()


@pytest.mark.parametrize(
    ("text", "is_taken"),
    [
        ('{a: [1, -2.5, "x"], ["b c"]: new Map([[null, undefined]])}', True),
        ("Object.assign(Object.create(Box.prototype), {size: 7n})", True),
        ("/a(b)/g", True),
        ("process.exit()", False),
        ("(() => 1)()", False),
        ("{a: globalThis}", False),
        ("{get a() { return 1; }}", False),
        ("new Function('return 1')", False),
        ("Object.assign(Object.create(Other.prototype), {})", False),
        ("Object.assign(Object.create(Box.prototype), {a: fetch('x')})", False),
        ("1; process.exit()", False),
        ("`${process.env.HOME}`", False),
        ("a = 1", False),
        ("", False),
    ],
)
def test_only_texts_of_values_are_taken_from_tests(text: str, is_taken: bool) -> None:
    """A test may write what it wants where its calls are read from; the calls stand in files that a person may run."""
    known = CapturedCalls((CapturedCall("take", {"0": text}),))
    code = "class Box {}\nfunction take(value) { return value; }\n"
    assert bool(captured_inputs(known, code, code, "javascript", "take").calls) is is_taken


RATE = """export function rate(order) {{
  if (order.customer.kind === "premium" && order.lines.size > 1) {{
    return {premium};
  }}
  return 3;
}}
"""
TEST = """import test from "node:test";
import assert from "node:assert";
import { rate } from "./code.mjs";

test("rate", () => {
  assert.ok(rate({ customer: { kind: "premium" }, lines: new Map([["a", 1], ["b", 2]]) }) > 0);
  assert.ok(rate({ customer: { kind: "other" }, lines: new Map() }) > 0);
});
"""


async def test_an_input_that_only_tests_know_refutes(compared: Compared) -> None:
    evidence = await compared(RATE.format(premium=5), RATE.format(premium=4), "rate", TEST)
    assert evidence.verdict is Ruling.FAIL
    assert "was: 5, now: 4" in evidence.detail
    assert "premium" in evidence.detail


async def test_a_right_rewrite_passes_on_what_tests_call_it_with(compared: Compared) -> None:
    after = """export function rate({ customer, lines }) {
  return customer.kind === "premium" && lines.size > 1 ? 5 : 3;
}
"""
    evidence = await compared(RATE.format(premium=5), after, "rate", TEST)
    assert evidence.verdict is not Ruling.FAIL, evidence
    assert "2 captured from tests" in evidence.detail


METHOD = """class Counter {{
  constructor(start) {{
    this.total = start;
  }}
  add(number) {{
    this.total += number{more};
    return this.total > 100;
  }}
}}
module.exports = {{ Counter }};
"""
METHOD_TEST = """const test = require("node:test");
const assert = require("node:assert");
const { Counter } = require("./code.cjs");

test("adds", () => {
  assert.ok(new Counter(9_917).add(20_003));
});
"""


async def test_a_method_is_called_on_a_copy_of_its_object(compared: Compared) -> None:
    wrong = METHOD.format(more=" + (number === 20_003 && this.total === 9_917 ? 1 : 0)")
    evidence = await compared(METHOD.format(more=""), wrong, "Counter.add", METHOD_TEST, "code.cjs")
    assert evidence.verdict is Ruling.FAIL, evidence
    assert "Object.assign(Object.create(Counter.prototype), {total: 9917})" in evidence.detail
    assert "(from a test)" in evidence.detail


UNREADABLE = """export const twice = async (work, times = 2) => {
  let last;
  for (let i = 0; i < times; i += 1) last = await work(i);
  return last;
};

export function named(work) {
  return work.name;
}
"""
UNREADABLE_TEST = """import test from "node:test";
import assert from "node:assert";
import { named } from "./code.mjs";

test("named", () => {
  assert.equal(named(function first() {}), "first");
  assert.equal(named({ name: "b" }), "b");
  class Own { name = "c"; }
  assert.equal(named(new Own()), "c");
});
"""


async def test_what_cannot_be_copied_is_counted(compared: Compared) -> None:
    after = UNREADABLE.replace("return work.name;", "const { name } = work;\n  return name;")
    evidence = await compared(UNREADABLE, after, "named", UNREADABLE_TEST)
    assert "1 captured from tests" in evidence.detail
    assert "2 calls of tests not copied: function, object of class Own" in evidence.detail


SECRET = """export function header(key) {
  return key.length > 30 ? "Bearer " + key : "";
}
"""
SECRET_TEST = """import test from "node:test";
import assert from "node:assert";
import { header } from "./code.mjs";

test("header", () => {
  assert.ok(header("KEY"));
});
""".replace("KEY", "sk-proj-" + "a8Hd72nfKq0Zx9Lw3Vb6Tt5Yy1Rr4Ee7Uu2Oo8")


async def test_a_secret_of_a_test_is_not_shown(compared: Compared) -> None:
    evidence = await compared(SECRET, SECRET.replace('"Bearer "', '"bearer "'), "header", SECRET_TEST)
    assert evidence.verdict is Ruling.FAIL
    whole = evidence.detail + "".join(file.text for file in evidence.attachments)
    assert "a8Hd72nf" not in whole


TYPED = """export interface Row {
  kind: string;
  sizes: readonly number[];
}

export const weight = (row: Row, factor: number): number =>
  row.kind === "crate" && row.sizes.length === 3 ? row.sizes[2] * factor : 0;
"""
TYPED_TEST = """import test from "node:test";
import assert from "node:assert";
import { weight } from "./code";

test("weight", () => {
  assert.ok(weight({ kind: "crate", sizes: [1, 2, 8] }, 11.03125) > 0);
});
"""


@needs("esbuild")
async def test_calls_of_typescript_are_captured(compared: Compared) -> None:
    wrong = TYPED.replace("row.sizes[2] * factor", "row.sizes[2] * factor + (factor === 11.03125 ? 1 : 0)")
    evidence = await compared(TYPED, wrong, "weight", TYPED_TEST, "code.ts")
    assert evidence.verdict is Ruling.FAIL
    assert "was: 88.25, now: 89.25" in evidence.detail
    assert "(from a test)" in evidence.detail


def test_an_object_of_a_class_whose_fields_change_is_not_used() -> None:
    known = CapturedCalls((
        CapturedCall("Cart.add", {"0": "1", "this": "Object.assign(Object.create(Cart.prototype), {_items: []})"}),
    ))  # fmt: skip
    code = "class Cart {\n  constructor() { this._items = []; }\n  add(item) { return this._items.push(item); }\n}\n"
    assert captured_inputs(known, code, code.replace("item)", "one)"), "javascript", "Cart.add").calls
    renamed = captured_inputs(known, code, code.replace("_items", "_rows"), "javascript", "Cart.add")
    assert (renamed.calls, dict(renamed.uncaptured)) == ((), {"holds an object of the changed `Cart`": 1})


MEMBERS = """export class Cart {
  #owner = "";
  constructor(limits, { step = 1 } = {}) {
    this.limit = limits.total / step;
    this.items = [];
  }
  add(item) {
    this.items.push(item);
    return this;
  }
  get free() {
    return this.limit % 9973 === 41 && this.items.includes("k" + 86_028) ? 1 : 0;
  }
  set free(value) {
    this.limit = this.items.length + (value % 9973 === 57 ? 1 : 2);
  }
  total(prices) {
    return prices.get(this.items[0]) + (this.limit % 9973 === 41 ? 1 : 0);
  }
}

export const label = ({ name, size = 10 }, [first] = []) =>
  size % 9973 === 41 && first === name.length ? name + "!" : name;
"""
MEMBERS_TEST = """import test from "node:test";
import assert from "node:assert";
import { Cart, label } from "./code.mjs";

test("members", () => {
  const total = 9973 * 17 + 41;
  const cart = new Cart({ total: total * 8 }, { step: 8 }).add("k" + 86_028);
  assert.ok(cart.free >= 0);
  assert.ok(cart.total(new Map([["k" + 86_028, total]])) > 0);
  cart.free = 9973 * 3 + 57;
  assert.ok(cart.limit > 0);
  assert.ok(label({ name: "box", size: total }, [3]));
});
"""


@pytest.mark.parametrize(
    ("unit", "old", "new", "shown"),
    [
        ("Cart.total", "=== 41 ? 1 : 0);", "=== 41 ? 2 : 0);", "169582"),
        ("Cart.free", '86_028) ? 1 : 0', '86_028) ? 2 : 0', "was: 1, now: 2"),
        ("Cart.free", "57 ? 1 : 2", "57 ? 3 : 2", "argument0 = 29976"),
        ("Cart.constructor", "limits.total / step", "limits.total / (limits.total === 1_356_656 ? 4 : step)", "169582"),
        ("label", 'name + "!"', 'name + "?"', "box!"),
    ],
    ids=["method", "getter", "setter", "constructor", "arrow function that takes its arguments apart"],
)  # fmt: skip
async def test_members_of_all_kinds_are_called_as_tests_do(
    compared: Compared, unit: str, old: str, new: str, shown: str
) -> None:
    evidence = await compared(MEMBERS, MEMBERS.replace(old, new), unit, MEMBERS_TEST)
    assert evidence.verdict is Ruling.FAIL, evidence
    assert "(from a test)" in evidence.detail, evidence
    whole = evidence.detail + "".join(file.text for file in evidence.attachments)
    assert shown in whole, whole


def test_an_object_is_made_again_where_its_fields_change() -> None:
    life = (("new", "7"), ("add", '"a"'), ("size=", "3"))
    known = CapturedCalls((
        CapturedCall("Cart.add", {"0": "1", "this": "Object.assign(Object.create(Cart.prototype), {})"}, life=life),
    ))  # fmt: skip
    code = "class Cart {\n  constructor(size) { this._items = []; }\n  add(item) {}\n  set size(value) {}\n}\n"
    renamed = captured_inputs(known, code, code.replace("_items", "_rows"), "javascript", "Cart.add")
    (call,) = renamed.calls
    lines = [
        "const item = 1",
        "const obj = new Cart(7)",
        'try { obj.add("a") } catch {}',
        "try { obj.size = 3 } catch {}",
    ]
    assert (call.setup.splitlines(), call.body) == (lines, "__out__(obj.add(item))")
    other = captured_inputs(known, code, code.replace("(size)", "(size, more)"), "javascript", "Cart.add")
    assert (other.calls, dict(other.uncaptured)) == ((), {"holds an object of the changed `Cart`": 1})


@pytest.mark.parametrize(
    "life",
    [
        (("new", "process.exit()"),), (("new",), ("exit", "1")), (("new",), ("add", "fetch('x')")), (("add", "1"),),
        (("new",), ("add; process.exit(); obj.add", "1")),
    ],
)  # fmt: skip
def test_only_calls_of_methods_with_values_are_taken_from_a_life(life: tuple[tuple[str, ...], ...]) -> None:
    known = CapturedCalls((CapturedCall("Cart.add", {"0": "1"}, life=life),))
    code = "class Cart {\n  #items = [];\n  add(item) {}\n}\n"
    assert not captured_inputs(known, code, code, "javascript", "Cart.add").calls
