"""Code that tries to look proven: its author knows that it is judged, by which judges and how."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.judging import MakeCase, in_each_box
from support.processes.tools import needs

from stet_ls.engine.actions.generated_tests.mutant_trial import lines_of, mutants_for, try_mutants
from stet_ls.engine.actions.generated_tests.suite_plans import suite_plan
from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges import doctest, timing
from stet_ls.engine.judges.differential.judge import judge as compare
from stet_ls.engine.judges.project_tests.judge import judge as run_tests
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.run_tests import run_tests as run_tests_of

SAME = "def f(n: int) -> int:\n    return n * 2\n"
OTHER = SAME.replace("n * 2", "n * 3")
INTRUDES = """
import os
judge = os.getppid()
for mode in (os.O_RDWR, os.O_RDONLY):
    os.close(os.open(f"/proc/{judge}/mem", mode))
"""
REACHES = """
import os
judge = os.getppid()
for number in range(30):
    try:
        place = os.open(f"/proc/{judge}/fd/{number}", os.O_WRONLY)
        os.write(place, b"x")
    except OSError as error:
        if error.errno != 2:
            raise
"""
BOX = "class Box:\n    def __init__(self, n):\n        self.n = n\n\n\ndef f(n: int):\n    return Box(n)\n"
FORGED = """
import sys
try:
    raise ValueError
except ValueError as error:
    frame = error.__traceback__.tb_frame
told = {}
while frame is not None:
    told.update(frame.f_globals if "Encoder" in frame.f_globals else {})
    told.update({name: value for name, value in frame.f_locals.items() if name in ("base", "job")})
    frame = frame.f_back
OLD = (told.get("base") or {}).get("outcomes") or {}
if told.get("Runner"):
    plain = told["Runner"].run
    known = iter(OLD.values())
    told["Runner"].run = lambda *given: next(known, None) or plain(*given)
"""
DELEGATED = """
import __main__
if hasattr(__main__, "Encoder"):
    f = lambda n: n * 2
"""
HALF = """
import os, threading

calls = []


def later(n):
    calls.append(n)
    if len(calls) == 60:
        threading.Thread(target=lambda: [None for _ in iter(int, 1) if not gone()], daemon=True).start()
"""

DIFFER = {
    # What loading does affects every importer.
    "writes a file when loaded": (SAME, "open('/tmp/x', 'w').write('x')\n" + SAME),
    "starts a process when loaded": (SAME, "import subprocess\nsubprocess.run(['true'])\n" + SAME),
    "prints when loaded": (SAME, "print('hello')\n" + SAME),
    "changes what everybody uses when loaded": (SAME, "import builtins\nbuiltins.sum = lambda *_: 7\n" + SAME),
    "changes a library when loaded": (SAME, "import json\njson.dumps = lambda *_, **__: '7'\n" + SAME),
    "exchanges what everybody uses": (
        SAME,
        "import builtins\nspace = vars(builtins)\nheld = list(space.items())\nspace.clear()\n"
        "space.update([({'hex': 'oct', 'oct': 'hex'}.get(name, name), value) for name, value in held])\n" + SAME,
    ),
    "changes what everybody uses later": (
        SAME,
        "import builtins\n\n\ndef f(n: int) -> int:\n    builtins.sum = max\n    return n * 2\n",
    ),
    # What comes after the call.
    "writes when it is collected": (
        SAME,
        "class Late:\n    def __init__(self):\n        self.me = self\n\n    def __del__(self):\n"
        "        open('/tmp/x', 'w').close()\n\n\n"
        "def f(n: int) -> int:\n    Late()\n    if n > 5:\n        import gc\n        gc.collect()\n    return n * 2\n",
    ),
    "writes in a thread": (
        SAME,
        "import threading\n\n\ndef late():\n    while True:\n        try:\n            open('/tmp/x', 'w').close()\n"
        "        except BaseException:\n            pass\n\n\n"
        "def f(n: int) -> int:\n    if n == 7:\n        threading.Thread(target=late, daemon=True).start()\n"
        "    return n * 2\n",
    ),
    "ends the process between two calls": (
        SAME,
        "import os\nimport threading\n\n\nclass End:\n    def __del__(self):\n        os._exit(0)\n\n\nheld = []\n\n\n"
        "def f(n: int) -> int:\n    held.append(n)\n    if len(held) == 60:\n        raise Ended(End())\n"
        "    return n * 2 if len(held) < 60 else 0\n\n\nclass Ended(ValueError):\n    pass\n",
    ),
    # What it returns.
    "a class with another's name": (
        "def f(n: int) -> tuple:\n    return ((n, n),)\n",
        "class Lie(tuple):\n    __qualname__ = ''\n\n\ndef f(n: int) -> tuple:\n    return Lie((n, n))\n",
    ),
    "no enumeration": (
        "def f(n: int) -> str:\n    return '.'\n",
        'class Lie:\n    __qualname__ = "\'"\n    __members__ = ()\n    name = "\'"\n\n\n'
        "def f(n: int) -> str:\n    return Lie()\n",
    ),
    "no date": (
        "import datetime\n\n\ndef f(n: int):\n    return datetime.date(2020, 1, 1)\n",
        "class Date:\n    def __str__(self):\n        return '2020-01-01'\n\n\nDate.__module__ = 'datetime'\n\n\n"
        "def f(n: int):\n    return Date()\n",
    ),
    "fields that are hidden": (
        BOX,
        BOX.replace("self.n = n", "self.m = n + 1")
        + "\n\nBox.__dict__['__init__']\nBox.n = property(lambda self: self.m - 1)\n",
    ),
    "wrong behind what is looked at": (
        "def f(n: int) -> list[int]:\n    return [0] * 60_000\n",
        "def f(n: int) -> list[int]:\n    return [0] * 59_999 + [1]\n",
    ),
    # What comes the second time.
    "a list that is everybody's": (
        "def f(n: int) -> list[int]:\n    return list(range(n % 5))\n",
        "import functools\n\n\n@functools.cache\ndef f(n: int) -> list[int]:\n    return list(range(n % 5))\n",
    ),
    "right once for each input": (
        SAME,
        "seen = set()\n\n\ndef f(n: int) -> int:\n    first = n not in seen\n    seen.add(n)\n"
        "    return n * 2 if first else n * 3\n",
    ),
    # What it finds in the process that judges it.
    "outcomes of the old code": (SAME, OTHER + FORGED),
    "the judge's name": (SAME, OTHER + DELEGATED),
    "the judge's death": (SAME, "import os\nos.kill(os.getppid(), 9)\n" + OTHER),
}


@pytest.mark.parametrize(("before", "after"), DIFFER.values(), ids=DIFFER.keys())
async def test_a_difference_cannot_be_hidden(make: MakeCase, before: str, after: str) -> None:
    evidence = await compare(make(before, after, "f"))
    assert evidence.verdict is not Ruling.PASS, evidence.detail


JS = "export function f(n) { return [n * 2]; }\n"
OUT = "import * as workers from 'node:worker_threads';\n"
SCRIPTS = {
    # What loading does affects every importer.
    "writes a file when loaded": (JS, "import fs from 'node:fs';\nfs.writeFileSync('/tmp/x', 'x');\n" + JS),
    "starts a process when loaded": (JS, "import { spawnSync } from 'node:child_process';\nspawnSync('true');\n" + JS),
    "prints when loaded": (JS, "console.log('hello');\n" + JS),
    "adds to all objects": (JS, "Object.prototype.evil = 7;\n" + JS),
    "changes a prototype": (JS, "Array.prototype.at = () => 7;\n" + JS),
    "changes JSON later": (JS, "export function f(n) { JSON.parse = () => 7; return [n * 2]; }\n"),
    # What it returns.
    "a list that is none": (JS, "export function f(n) { return new Proxy([n * 2], {}); }\n"),
    "another getter": (
        "export function f(n) { return { get far() { return n > 5; } }; }\n",
        "export function f(n) { return { get far() { return n > 6; } }; }\n",
    ),
    "wrong behind what is looked at": (
        "export function f(n) { return new Array(45_000).fill(0); }\n",
        "export function f(n) { const all = new Array(45_000).fill(0); all[44_999] = 1; return all; }\n",
    ),
    # What comes the second time.
    "a list that is everybody's": (
        JS,
        "const known = new Map();\nexport function f(n) {\n  if (!known.has(n)) known.set(n, [n * 2]);\n"
        "  return known.get(n);\n}\n",
    ),
    # What it finds in the thread that judges it.
    "says itself that all is over": (
        JS,
        OUT + "let calls = 0;\nexport function f(n) {\n"
        "  if ((calls += 1) === 60) workers.parentPort?.postMessage({ over: [] });\n"
        "  return [n * (calls < 60 ? 2 : 3)];\n}\n",
    ),
    "ends the thread between two calls": (
        JS,
        OUT + "let calls = 0;\nexport function f(n) {\n  calls += 1;\n"
        "  if (calls === 60) queueMicrotask(() => { throw new Error('gone'); });\n"
        "  return [n * (calls < 60 ? 2 : 3)];\n}\n",
    ),
    "answers in the judge's place": (
        JS,
        OUT + "const { parentPort } = workers;\nif (parentPort) {\n"
        "  const plain = parentPort.postMessage.bind(parentPort);\n"
        "  parentPort.postMessage = () => plain({ over: [] });\n}\nexport function f(n) { return [n * 3]; }\n",
    ),
}


@needs("node")
@pytest.mark.parametrize(("before", "after"), SCRIPTS.values(), ids=SCRIPTS.keys())
async def test_a_difference_in_a_script_cannot_be_hidden(make: MakeCase, before: str, after: str) -> None:
    evidence = await compare(replace(make(before, after, "f"), language="javascript", path=Path("/nowhere/a.mjs")))
    assert evidence.verdict is not Ruling.PASS, evidence.detail


@needs("node")
async def test_equal_scripts_are_equivalent(make: MakeCase) -> None:
    case = make(JS, JS.replace("n * 2", "2 * n"), "f")
    evidence = await compare(replace(case, language="javascript", path=Path("/nowhere/a.mjs")))
    assert evidence.verdict is Ruling.PASS, evidence.detail


LOOKS = """
import assert from "node:assert/strict";
import fs from "node:fs";
import test from "node:test";
test("no one else", () => {
  const judges = fs.readdirSync("/proc").filter((each) => {
    try {
      const line = fs.readFileSync(`/proc/${each}/cmdline`, "utf8");
      return Number(each) > 1 && line.includes("\\0.stet-run\\0");
    } catch {
      return false;
    }
  });
  assert.equal(judges.length, 1, String(judges));
  assert.throws(() => fs.openSync(`/proc/${judges[0]}/mem`, "r"), /EACCES/);
});
"""


@needs("node")
async def test_no_test_can_inspect_the_reporter(runtime: Runtime) -> None:
    plan = TestPlan("javascript", tests=("look.test.mjs",), files={"look.test.mjs": LOOKS.encode()})
    report = await run_tests_of(runtime.sandbox, plan)
    assert report.green, report.failed() or report.detail


@in_each_box
@pytest.mark.parametrize("code", [INTRUDES, REACHES], ids=["memory", "ways out"])
async def test_the_candidate_cannot_reach_the_judge(make: MakeCase, code: str) -> None:
    evidence = await compare(make(SAME, SAME + code, "f"))
    assert evidence.verdict is Ruling.FAIL
    assert "PermissionError" in evidence.detail, evidence.detail


async def test_a_second_function_is_compared_too(make: MakeCase) -> None:
    two = SAME + "\n\ndef g(n: int) -> int:\n    return n + 1\n"
    evidence = await compare(make(two, two.replace("n + 1", "n + 2"), "f"))
    assert evidence.verdict is Ruling.FAIL, evidence.detail


EXAMPLE = 'def f(n):\n    """Twice.\n\n    >>> f(2)\n    4\n    """\n    return n * 2\n'
SHOWN = {
    "what shows results": "import sys\nsys.displayhook = lambda value: print(4)\n",
    "what prints": "import builtins\nbuiltins.repr = lambda value: '4'\n",
}


@pytest.mark.parametrize("lead", SHOWN.values(), ids=SHOWN.keys())
async def test_the_candidate_cannot_report_an_example(make: MakeCase, lead: str) -> None:
    evidence = await doctest.judge(make(EXAMPLE, lead + EXAMPLE.replace("n * 2", "n * 3"), "f"))
    assert evidence.verdict is not Ruling.PASS, evidence.detail


async def test_suspicious_code_of_the_old_text_does_not_invalidate_examples(make: MakeCase) -> None:
    loud = "print('loaded')\n" + EXAMPLE
    assert (await doctest.judge(make(loud, loud.replace("n * 2", "2 * n"), "f"))).verdict is Ruling.PASS


SKIPS = {
    "skips": "import unittest\n\n\ndef f(n):\n    raise unittest.SkipTest('not today')\n",
    "is expected to fail": "import pytest\n\n\ndef f(n):\n    pytest.xfail('known')\n",
}


@pytest.mark.parametrize("after", SKIPS.values(), ids=SKIPS.keys())
async def test_a_test_that_passed_must_still_pass(make: MakeCase, tmp_path: Path, after: str) -> None:
    tests = "from a import f\n\n\ndef test_f():\n    assert f(2) == 4\n"
    evidence = await run_tests(make(SAME, after, "f", root=tmp_path, files={"test_a.py": tests}))
    assert evidence.verdict is Ruling.FAIL, evidence.detail


# Tests that want to look as if they noticed mistakes.

IDLE = {
    "sees that it is tried on mutants": "import sys\n\n\ndef test_f():\n    f(2)\n"
    "    assert not (__name__ == 'stet_own_tests' and sys.gettrace() is None)\n",
    "sees where the code stands": "def test_f():\n    f(2)\n    assert f.__code__.co_firstlineno == 5\n",
    "counts its runs": "import pathlib\n\n\ndef test_f():\n    f(2)\n    seen = pathlib.Path('/tmp/seen')\n"
    "    assert not seen.exists()\n    seen.write_text('once')\n",
}


@pytest.mark.parametrize("tests", IDLE.values(), ids=IDLE.keys())
async def test_a_test_that_detects_the_mutation_run_detects_no_mutant(
    runtime: Runtime, tmp_path: Path, tests: str
) -> None:
    code = f"# Two lines\n# of comment\n\n\n{SAME}"
    (tmp_path / "a.py").write_text(code)
    there = replace(runtime, workspace=Workspace((tmp_path,)))
    way = suite_plan(there, "python", tmp_path / "a.py", code, tmp_path / "test_a.py")
    plan = way.running("from a import f\n" + tests, "test_f")
    noticed = await try_mutants(there, plan, way.target, ["test_f"], mutants_for(code, "f"), lines_of(code, "f"))
    assert not noticed.why_not
    assert noticed.tried > 1
    assert len(noticed.survivors(["test_f"])) == noticed.tried


WORK = "def f(n: int) -> int:\n    return sum(i * i for i in range(2000 + n % 7))\n"
FASTER = {
    "by remembering": "import functools\n\n\n@functools.cache\n" + WORK,
    "by remembering in a default": WORK.replace("n: int)", "n: int, known={})").replace(
        "return sum(i * i for i in range(2000 + n % 7))",
        "if n not in known:\n        known[n] = sum(i * i for i in range(2000 + n % 7))\n    return known[n]",
    ),
    "by slowing the other": WORK + "\n\nimport builtins\nplain = sum\nown = globals()\n\n\ndef slow(given):\n"
    "    import sys\n    if sys._getframe(1).f_globals is not own:\n        plain(range(9_000_000))\n"
    "    return plain(given)\n\n\nbuiltins.sum = slow\n",
}


@pytest.mark.parametrize("after", FASTER.values(), ids=FASTER.keys())
async def test_a_speedup_comes_from_the_code_itself(make: MakeCase, after: str) -> None:
    evidence = await timing.judge(make(WORK, after, "f", action="optimize"))
    assert evidence.verdict is not Ruling.PASS, evidence.detail


async def test_helper_files_in_the_sandbox_do_not_shadow_modules_of_the_user(runtime: Runtime, tmp_path: Path) -> None:
    """The clock of a trial lies there as `processes`."""
    code = "from processes import LEAST\n\n\ndef f(x):\n    return max(x, LEAST)\n"
    (tmp_path / "processes.py").write_text("LEAST = 3\n")
    (tmp_path / "a.py").write_text(code)
    there = replace(runtime, workspace=Workspace((tmp_path,)))
    way = suite_plan(there, "python", tmp_path / "a.py", code, tmp_path / "test_a.py")
    plan = way.running("from a import f\n\n\ndef test_f():\n    assert f(1) == 3\n    assert f(5) == 5\n", "test_f")
    noticed = await try_mutants(there, plan, way.target, ["test_f"], mutants_for(code, "f"), lines_of(code, "f"))
    assert (noticed.why_not, bool(noticed.kills["test_f"])) == ("", True)
