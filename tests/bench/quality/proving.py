"""What of good tests is offered, and what it notices: `DATA=folder CASES=20 make bench ONLY=proving`.

The folder holds `mbpp_release_v1.jsonl` (MBPP with its canonical solutions and tests); nothing of it is part of the
project. Each assertion becomes a test of a model that is scripted, so what is measured is the proof, not a model.
Without the folder, functions of the standard library with tests written by hand stand in.
"""

from __future__ import annotations

import ast
import asyncio
import html
import inspect
import json
import os
import random
import re
import string
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from bench.row import Row
from pydantic import SecretStr
from support.servers.scripted import ScriptedModel

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.evidence import Check
from stet_ls.engine.api.request import Request, Selection, Workspace
from stet_ls.engine.run import Engine
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report import CaseOutcome
from stet_ls.engine.runners.run_tests import run_tests
from stet_ls.engine.sandbox.environments.interpreter import Interpreter, bare_environment
from stet_ls.engine.sandbox.files import mounts
from stet_ls.engine.sandbox.isolation import IsolationLevel
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.table_schemas import Provider
from stet_ls.engine.storage.paths import user_paths
from stet_ls.validators.source import Source, Span

Task = tuple[str, str, str]
"""The text, the unit, its tests as a reply holds them."""

_SEEDS = tuple(range(10, 15))
_COUNTED = re.compile(r"(\d+) of (\d+) mutants detected")


def rows() -> Iterator[Row]:
    """Mutants noticed by what was offered, tests among it that do not pass each time, code without an offer."""
    tasks = list(_tasks())
    killed, tried, tests, flaky, reasons = asyncio.run(_measured(tasks))
    yield Row("functions for which tests were offered", f"{len(tasks) - len(reasons)} of {len(tasks)}")
    for reason in reasons:
        yield Row("  none was", reason[:100])
    yield Row("mutants detected", f"{killed} of {tried} ({100 * killed / max(tried, 1):.1f} %)", ">= 80 %")
    yield Row(f"flaky of {tests} tests in {len(_SEEDS)} more runs", str(flaky), "0")


async def _measured(tasks: list[Task]) -> tuple[int, int, int, int, list[str]]:
    killed = tried = tests = flaky = 0
    reasons: list[str] = []
    interpreter = Interpreter(Path(sys.executable), sys.version_info[:3], mounts.interpreter())
    with tempfile.TemporaryDirectory() as folder, ScriptedModel() as model:
        os.environ["STET_HOME"] = f"{folder}/home"
        provider = Provider(name="s", base_url=model.base_url, model=model.models[0], api_key=SecretStr("k"))
        engine = Engine(Settings(providers=(provider,), deadline=300), user_paths())
        box = Sandbox(IsolationLevel.STRONG, Path(folder) / "sandbox")
        for number, task in enumerate(tasks):
            root = Path(folder) / f"project{number}"
            answer = await _answer(engine, model, root, task)
            found = _COUNTED.search(" ".join(item.detail for item in answer.evidence if item.check is Check.MUTANTS))
            if not answer.success or answer.tests is None or found is None:
                reasons.append(f"{task[1]}: {answer.message}")
                continue
            killed, tried = killed + int(found[1]), tried + int(found[2])
            files = {"target.py": task[0].encode(), "test_target.py": answer.tests.encode()}
            plan = TestPlan("python", tests=("test_target.py",), files=files, environment=bare_environment(interpreter))
            reports = [await run_tests(box, replace(plan, seed=seed)) for seed in _SEEDS]
            count = answer.tests.count("def test_")
            passed = [sum(each.outcome is CaseOutcome.PASSED for each in report.cases) for report in reports]
            tests, flaky = tests + count, flaky + count - min(passed)
        await engine.close()
        await box.close()
    return killed, tried, tests, flaky, reasons


async def _answer(engine: Engine, model: ScriptedModel, root: Path, task: Task) -> Answer:
    text, unit, tests = task
    root.mkdir()
    (root / "target.py").write_text(text)
    model.default = f"PLAN: test it\nTESTS:\n```python\n{tests}```\n"
    at = text.encode().index(f"def {unit}".encode())
    selection = Selection(Span(at, at))
    request = Request(
        "test", "python", Source(text), selection, path=root / "target.py", workspace=Workspace((root,))
    )  # fmt: skip
    return await engine.run(request)


def _tasks() -> Iterator[Task]:
    file = Path(os.environ.get("DATA", ".")) / "mbpp_release_v1.jsonl"
    most = int(os.environ.get("CASES", "20"))
    if not file.is_file():
        yield from _of_the_standard_library()
        return
    read = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    solved = [row for row in read if row.get("canonical_solution")]
    for row in random.Random(1).sample(solved, min(most, len(solved))):
        yield row["prompt"] + row["canonical_solution"] + "\n", row["entry_point"], _as_tests(row)


def _as_tests(row: dict[str, str]) -> str:
    """Each assertion of the task as a test of its own, with what stands before it."""
    unit = row["entry_point"]
    body = next(node for node in ast.parse(row["test"]).body if isinstance(node, ast.FunctionDef)).body
    before = [node for node in body if not isinstance(node, ast.Assert)]
    tests = [f"import math\nfrom target import {unit}\n"]
    for number, node in enumerate(node for node in body if isinstance(node, ast.Assert)):
        said = "\n".join(ast.unparse(each) for each in (*before, node)).replace("candidate", unit)
        tests.append(f"def test_{unit}_{number}():\n{textwrap.indent(said, '    ')}\n")
    return "\n\n".join(tests)


def _of_the_standard_library() -> Iterator[Task]:
    by_hand = {
        string.capwords: ["capwords('a  bC') == 'A Bc'", "capwords('x,y z', ',') == 'X,Y z'", "capwords('') == ''"],
        html.escape: [
            "escape('<a & b>') == '&lt;a &amp; b&gt;'",
            "escape(chr(34) + chr(39)) == '&quot;&#x27;'",
            "escape(chr(34) + chr(39), False) == chr(34) + chr(39)",
        ],
        textwrap.indent: [
            "indent('a\\n\\nb', '> ') == '> a\\n\\n> b'",
            "indent('a\\n b', '-', lambda line: line.startswith(' ')) == 'a\\n- b'",
            "indent('', ' ') == ''",
        ],
    }
    for function, checks in by_hand.items():
        name = function.__name__
        tests = [f"def test_{name}_{n}():\n    assert {each}\n" for n, each in enumerate(checks)]
        yield inspect.getsource(function), name, "\n\n".join([f"from target import {name}\n", *tests])
