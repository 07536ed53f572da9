"""Measures what each test covers and detects: the lines of a unit that it runs, and the mutants that it fails on."""

from __future__ import annotations

import ast
import asyncio
import json
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from stet_ls.engine.actions import box_program
from stet_ls.engine.actions.generated_tests.flakiness import name_without_parameters
from stet_ls.engine.actions.generated_tests.mutants import Mutant, mutants_of
from stet_ls.engine.errors import StetError
from stet_ls.engine.execution.python.inputs.subject import Function, read_module, subject_of
from stet_ls.engine.execution.python.statements import is_text
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.runners import idle_plugins
from stet_ls.engine.runners.plan import SuiteOwner, TestPlan
from stet_ls.engine.sandbox.processes import procfs
from stet_ls.engine.sandbox.spec import TESTS, RunSpec
from stet_ls.validators.ast_text import dump, try_parse

_INSIDE = {
    "run.py": Path(__file__).with_name("inside.py").read_bytes(),
    "box_program.py": Path(box_program.__file__).read_bytes(),
    "processes.py": Path(procfs.__file__).read_bytes(),
}
_SECONDS = 12.0
_LEAST_SECONDS = 2.0
MOST_MUTANTS = 24


@dataclass(frozen=True, slots=True)
class MutantResults:
    """The results of a trial, by the tests' ids after the file name. `tried` is how many of `mutants` were tried.

    `lines` are the covered lines of the unit, from 1; `wanted` all that could run. `why_not` is the reason if nothing
    was measured.
    """

    kills: Mapping[str, frozenset[int]] = field(default_factory=dict)
    lines: Mapping[str, frozenset[int]] = field(default_factory=dict)
    mutants: tuple[Mutant, ...] = ()
    tried: int = 0
    wanted: frozenset[int] = frozenset()
    why_not: str = ""

    def of(self, test: str) -> frozenset[tuple[str, int]]:
        """Lines and mutants of one test, as comparable pairs."""
        kills = {("mutant", each) for each in self.kills.get(test, ())}
        return frozenset(kills | {("line", each) for each in self.lines.get(test, ()) if each in self.wanted})

    def survivors(self, tests: Sequence[str]) -> tuple[Mutant, ...]:
        """The mutants that none of these tests detects."""
        noticed = {each for one in tests for each in self.kills.get(one, ())}
        return tuple(mutant for at, mutant in enumerate(self.mutants[: self.tried]) if at not in noticed)

    def uncovered(self, tests: Sequence[str]) -> tuple[int, ...]:
        """The lines that none of these tests reaches."""
        return tuple(sorted(self.wanted.difference(*(self.lines.get(one, frozenset()) for one in tests))))


def mutants_for(text: str, unit: str) -> tuple[Mutant, ...]:
    """Mutants of a unit; of all functions and classes of a text if no unit is named."""
    if unit:
        return tuple(mutants_of(text, unit, MOST_MUTANTS))
    module = read_module(text)
    names = [node.name for node in module.tree.body if isinstance(node, Function | ast.ClassDef)] if module else []
    each = max(1, MOST_MUTANTS // max(1, len(names)))
    return tuple(mutant for name in names for mutant in mutants_of(text, name, each))[:MOST_MUTANTS]


def lines_of(text: str, unit: str) -> frozenset[int]:
    """The lines, from 1, at which a unit's statements begin: those that a run can reach."""
    module = read_module(text)
    if module is None:
        return frozenset()
    subject = subject_of(module, unit) if unit else None
    found: set[int] = set()
    for owner in ast.walk(subject.node if subject else module.tree):
        if isinstance(owner, Function):
            for node in ast.walk(owner):
                if isinstance(node, ast.stmt) and node is not owner and not is_text(node):
                    found.add(node.lineno)
    return frozenset(found)


def whole_statements(text: str, lines: Collection[int]) -> frozenset[int]:
    """All lines of the statements that begin at some lines; of one that holds others, those of its head."""
    tree, found = try_parse(text), set[int]()
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.stmt) and node.lineno in lines:
            inner = [each.lineno for each in ast.walk(node) if isinstance(each, ast.stmt) and each is not node]
            last = min(inner) - 1 if inner else node.end_lineno or node.lineno
            found.update(range(node.lineno, max(last, node.lineno) + 1))
    return frozenset(found)


async def try_mutants(
    runtime: Runtime,
    plan: TestPlan,
    target: str,
    tests: Sequence[str],
    mutants: Sequence[Mutant],
    wanted: frozenset[int],
) -> MutantResults:
    """Runs tests, which have to pass, on the text `target` (a path in the plan) and on each mutant of it."""
    left = runtime.left() / 2
    if left < _LEAST_SECONDS:
        return MutantResults(why_not="the job is out of time")
    own = plan.text(target) or ""
    nonce = secrets.token_hex(8)
    place = f".stet-{nonce}"
    script, job = f"{place}/run.py", f"{place}/job.json"
    seconds = min(_SECONDS, left)
    generated = plan.suite is SuiteOwner.GENERATED
    request = {
        "nonce": nonce,
        "target": target,
        "file": plan.tests[0],
        "tests": list(tests),
        "texts": [mutant.text for mutant in mutants],
        # A mutant without a change: a test that fails on it detects no bug.
        "same": own,
        "seconds": seconds,
        "wall": left,
        "plain": _are_plain(plan.files.get(plan.tests[0], b""), tests),
        "arguments": ["-c", "/dev/null", "--rootdir=.", "--confcutdir=."]
        if generated
        else await asyncio.to_thread(lambda: [*idle_plugins.arguments(plan)]),
    }
    spec = RunSpec(
        (str(plan.python()), "-s", "-B", script, job),
        files={
            **plan.files,
            **{f"{place}/{name}": text for name, text in _INSIDE.items()},
            job: json.dumps(request).encode(),
        },
        overlay=plan.overlay,
        binds=(*plan.python_binds(), *plan.binds),
        env={
            **(plan.environment.env if plan.environment else {}),
            **({"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} if generated else {}),
            "PYTHONHASHSEED": "0",
            **plan.env,
        },
        limits=replace(TESTS, seconds=seconds + 5).within(left + 5),
        report=True,
    )
    try:
        result = await runtime.sandbox.run(spec)
    except (StetError, ValueError, OSError) as error:
        return MutantResults(why_not=f"code cannot run here: {error}")
    return _read(result.report, nonce, tests, mutants, wanted)


def _are_plain(text: bytes, tests: Sequence[str]) -> bool:
    """True if these tests only have to be called: functions without fixtures, marks and setup, or unittest's cases."""
    tree = try_parse(text)
    if tree is None:
        return False
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    set_up = any(name.startswith(("setup", "teardown", "setUp")) for name in functions) or b"autouse" in text
    return not set_up and all(
        _is_case(classes, each.partition("::")[0]) if "::" in each else _is_plain_function(functions.get(each))
        for each in tests
    )


def _is_plain_function(node: ast.FunctionDef | None) -> bool:
    return node is not None and not node.decorator_list and not dump(node.args).count("arg(")


def _is_case(classes: Mapping[str, ast.ClassDef], name: str) -> bool:
    """Whether a class is one of unittest's, which makes and cleans up all that its tests need."""
    while name in classes:
        node = classes[name]
        if node.decorator_list or len(node.bases) != 1:
            return False
        base = node.bases[0]
        name = base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
        classes = {key: each for key, each in classes.items() if each is not node}
    return name == "TestCase"


def _read(
    data: bytes, nonce: str, tests: Sequence[str], mutants: Sequence[Mutant], wanted: frozenset[int]
) -> MutantResults:  # fmt: skip
    """Reads the report. It comes from the sandbox, so it may be incomplete or malformed."""
    try:
        report: dict[str, Any] = json.loads(data)
        if report["nonce"] != nonce:
            return MutantResults(why_not="the run's report is forged, so it proves nothing")
        if report["own"]["starved"] or report["same"]["starved"]:
            return MutantResults(why_not="the machine was too busy to finish the tests")
        if not report["own"]["done"]:
            return MutantResults(why_not="the tests did not finish")
        own = _by_test(report["own"]["tests"])
        same = _by_test(report["same"]["tests"])
        good = {test for test in tests if all(run.get(test) and all(run[test]) for run in (own, same))}
        kills: dict[str, set[int]] = {test: set() for test in good}
        for at, row in enumerate(report["changed"]):
            ended = _by_test(row["tests"])
            for test in good:
                # A test that began and did not end hangs; if none began, the module could not be loaded.
                hangs = test in {name_without_parameters(each) for each in row["began"]} and test not in ended
                if hangs or not row["began"] or not all(ended.get(test, [True])):
                    kills[test].add(at)
        lines: dict[str, set[int]] = {test: set() for test in good}
        for name, numbers in report["own"]["lines"].items():
            lines.get(name_without_parameters(name), set()).update(map(int, numbers))
    except (ValueError, KeyError, TypeError, AttributeError):
        return MutantResults(why_not="the run ended before it reported its results")
    return MutantResults(
        {test: frozenset(each) for test, each in kills.items()},
        {test: frozenset(each) & wanted for test, each in lines.items()},
        tuple(mutants),
        min(len(report["changed"]), len(mutants)),
        wanted,
    )


def _by_test(rows: Mapping[str, bool]) -> dict[str, list[bool]]:
    """The outcomes of each test's cases: a parametrized test has several."""
    found: dict[str, list[bool]] = {}
    for name, good in rows.items():
        found.setdefault(name_without_parameters(name), []).append(bool(good))
    return found
