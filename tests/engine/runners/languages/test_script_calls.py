"""JavaScript whose functions write down how they are called: what it says, and what it leaves as it is."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from support.processes.tools import needs

from stet_ls.engine.runners.box_steps import BoxStep, BoxStepOutput
from stet_ls.engine.runners.languages.script_calls import call_steps, found_calls, own_steps, with_calls_noted
from stet_ls.engine.runners.plan import TestPlan

FORMS = """#!/usr/bin/env node
function plain(a, { b } = {}) { return [a, b]; }
const short = (a, ...rest) => ({ a, rest });
const single = a => a + 1;
const block = async (a) => { return a; };
const apart = ({ a }) => a;
function* numbers(from) { yield from; }
class Box {
  static of(size) { return new Box(size); }
  constructor(size) { this.size = size; }
  grow(by) { this.size += by; return this; }
  get half() { return this.size / 2; }
  set half(value) { this.size = 2 * value; }
  shrink = ({ by = 1 }) => { this.size -= by; };
}
class Safe {
  #held = [];
  put(...items) { for (const each of items) this.keep(each); return this; }
  keep(item) { this.#held.push(item); }
  async all() { return this.#held; }
}
class Small extends Array { constructor(size) { super(size); } }
function outer(a) {
  const inner = (b) => a + b;
  return inner(1);
}
"""


def calls(text: str, script: str, folder: Path) -> list[dict[str, Any]]:
    """The lines that a script behind a text writes."""
    noted = with_calls_noted(text, "a.cjs")
    assert noted is not None
    (folder / "a.cjs").write_text(f"{noted}\n{script}")
    record = folder / "record"
    subprocess.run(["node", "a.cjs"], cwd=folder, env={**os.environ, "STET_CALLS": str(record)}, check=True)
    return [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []


@needs("node")
def test_functions_of_all_forms_write_down_their_calls(tmp_path: Path) -> None:
    script = """
plain(1, { b: 2 }); short("x", 2, 3); single(4); block(undefined); apart({ a: 5 }); [...numbers(6)];
Box.of(7).grow(8); outer(9);
"""
    found = [(each["unit"], each["given"]) for each in calls(FORMS, script, tmp_path)]
    assert found == [
        ("0 plain", ["1", "{b: 2}"]),
        ("0 short", ['"x"', "2", "3"]),
        ("0 single", ["4"]),
        ("0 block", ["undefined"]),
        ("0 apart", ["{a: 5}"]),
        ("0 numbers", ["6"]),
        ("0 Box.of", ["7"]),
        ("0 Box", ["7"]),
        ("0 Box.grow", ["8"]),
        ("0 outer", ["9"]),
    ]


MADE = ["new", "7"]


@needs("node")
@pytest.mark.parametrize(
    ("script", "own", "life"),
    [
        ("box.grow(8);", "", [MADE]),
        ("box.half; box.half = 4; box.shrink({ by: 2 }); box.grow(8);", "",
         [MADE, ["half=", "4"], ["shrink", "{by: 2}"]]),
        ("delete box.shrink; box.grow(8);", "Object.assign(Object.create(Box.prototype), {size: 7})", [MADE]),
        ("const put = new Safe().put(1, 2); put.keep(3);", "", [["new"], ["put", "1", "2"]]),
    ],
    ids=["made", "used", "without functions of its own", "with private fields"],
)  # fmt: skip
def test_an_object_is_written_by_its_fields_or_by_its_life(
    tmp_path: Path, script: str, own: str, life: list[list[str]]
) -> None:
    found = calls(FORMS, f"const box = new Box(7); {script}", tmp_path)[-1]
    assert (found["event"], found["own"], found["life"]) == ("called", own, life)


@needs("node")
@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("safe.put(() => 1); safe.keep(1);", "private fields"),
        ("safe.all(); safe.keep(1);", "private fields"),
        ("for (let i = 0; i < 30; i += 1) safe.put(); safe.keep(1);", "private fields"),
        ("class More extends Safe {} new More().keep(1);", "object of class More"),
    ],
    ids=["function", "waits", "long", "of a class below"],
)
def test_a_life_with_unknown_steps_is_not_written(tmp_path: Path, script: str, why: str) -> None:
    found = calls(FORMS, f"const safe = new Safe(); {script}", tmp_path)[-1]
    assert (found["event"], found["why"]) == ("uncaptured", why)


@needs("node")
def test_functions_look_as_before(tmp_path: Path) -> None:
    script = "console.log = () => {}; plain([apart.name, apart.length, new Box(1).shrink.name, new Small(3).length]);"
    found = calls(FORMS, script, tmp_path)
    assert found[-1]["given"] == ['["apart", 1, "shrink", 3]']
    assert ("0 Small", ["3"]) in [(each["unit"], each["given"]) for each in found]


@needs("node")
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("-0", "-0"), ("NaN", "NaN"), ("10n", "10n"), ('"a\\n"', '"a\\n"'), ("[1, , 3]", "[1, undefined, 3]"),
        ("new Date(5)", "new Date(5)"), ("/a\\/b/g", "/a\\/b/g"), ("new Map([[1, 2]])", "new Map([[1, 2]])"),
        ("new Set([[1]])", "new Set([[1]])"),
        ("new Uint8Array([1, 2])", "new Uint8Array([1, 2])"), ('{ "a b": null, c: true }', '{["a b"]: null, c: true}'),
        ('JSON.parse(\'{"__proto__": 1}\')', '{["__proto__"]: 1}'), ("Object.create(null)", "{}"),
    ],
)  # fmt: skip
def test_a_value_is_written_as_it_is(tmp_path: Path, value: str, text: str) -> None:
    (found,) = calls("function take(value) {}\n", f"take({value});", tmp_path)
    assert found["given"] == [text]


@needs("node")
@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("() => 1", "function"), ("Promise.resolve(1)", "promise"), ("new (class Own {})()", "object of class Own"),
        ("(() => { const a = []; a.push(a); return a; })()", "cycle"), ('"x".repeat(13_000)', "larger than 12 KB"),
        ("{ get a() { return 1; } }", "getter"), ("{ [Symbol()]: 1 }", "symbol"),
        ("new Proxy({}, { ownKeys() { throw new Error('no'); } })", "throws when it is read"),
        ("(() => { let a = 1; for (let i = 0; i < 20; i += 1) a = [a]; return a; })()", "nested too deep"),
    ],
)  # fmt: skip
def test_what_cannot_be_written_is_counted_by_its_reason(tmp_path: Path, value: str, why: str) -> None:
    (found,) = calls("function take(value) { return value; }\n", f"take({value});", tmp_path)
    assert (found["event"], found["why"]) == ("uncaptured", why)


@needs("node")
def test_calls_are_written_once_and_fifty_at_most(tmp_path: Path) -> None:
    found = calls("function take(value) {}\n", "for (let i = 0; i < 200; i += 1) { take(i); take(1); }", tmp_path)
    assert len(found) == 50
    assert len({each["given"][0] for each in found}) == 50


def test_each_line_stays_where_it_is() -> None:
    noted = with_calls_noted(FORMS, "a.mjs")
    assert noted is not None
    for old, new in zip(FORMS.splitlines(), noted.splitlines(), strict=False):
        assert new == old or "__stet_calls__" in new


def test_a_text_without_functions_or_with_errors_is_left_alone() -> None:
    assert with_calls_noted("const a = 1;\n", "a.mjs") is None
    assert with_calls_noted("function broken( {\n", "a.mjs") is None


def test_a_run_without_a_file_to_watch_has_no_further_steps() -> None:
    steps = [BoxStep("test", ("node", "--test"), 9.0)]
    files = {"a.mjs": FORMS.encode(), "b.py": b"def f(): pass\n"}
    assert not call_steps(TestPlan("javascript", files=files), steps).steps
    assert not call_steps(TestPlan("javascript", files=files, captured=("b.py", "gone.mjs")), steps).steps
    made = call_steps(TestPlan("javascript", files=files, captured=("b.py", "a.mjs")), steps)
    assert [each.name for each in made.steps] == ["place 0", "test for its calls", "calls"]
    outputs = {each.name: BoxStepOutput() for each in (*steps, *made.steps)}
    assert list(own_steps(outputs)) == ["test"]


def test_a_run_that_has_little_time_does_not_look_for_calls() -> None:
    plan = TestPlan("javascript", files={"a.mjs": FORMS.encode()}, captured=("a.mjs",), until=time.monotonic() + 30)
    assert not call_steps(plan, [BoxStep("test", ("node", "--test"), 9.0)]).steps


def test_lines_that_tests_forge_are_no_calls() -> None:
    plan = TestPlan("javascript", captured=("a.mjs",))
    lines = [
        "not JSON", "[]", '{"event": "called"}', '{"event": "called", "unit": "7 f", "given": []}',
        '{"event": "other", "unit": "0 f"}', '{"event": "called", "unit": "0 f", "given": ["1"], "own": ""}',
    ]  # fmt: skip
    found = found_calls({"calls": BoxStepOutput(out=lines)}, plan)
    assert [(each.unit, dict(each.texts)) for each in found["a.mjs"].calls] == [("f", {"0": "1"})]
