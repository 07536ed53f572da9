"""Searches small edits of the target that make what failed pass, in one run of the sandbox."""

from __future__ import annotations

import ast
import asyncio
import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stet_ls.engine.actions import box_program
from stet_ls.engine.actions.syntax_edits.edit import UNLIKELY, EditedFunction, SyntaxEdit
from stet_ls.engine.actions.syntax_edits.edits import edits_of, functions_in
from stet_ls.engine.errors import StetError
from stet_ls.engine.execution.python.inputs.subject import Function, read_module
from stet_ls.engine.execution.python.module_location import ModuleLocation, locate_module
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.doctest import Example, expected_outputs
from stet_ls.engine.judges.project_tests.judge import TestsBefore
from stet_ls.engine.sandbox.spec import TESTS, Overlay, RunSpec
from stet_ls.validators.source import Source, Span, Splice

SECONDS = 3.0
"""For trying edits; starting and loading come on top."""
NamedEdit = tuple[SyntaxEdit, str]
"""An edit and the unit that it changes."""
_INSIDE = {
    "run.py": Path(__file__).with_name("inside.py").read_bytes(),
    "inside_checks.py": Path(__file__).with_name("inside_checks.py").read_bytes(),
    "box_program.py": Path(box_program.__file__).read_bytes(),
}
MOST_EDITS = 4000
"""Edits that are tried at most, the likeliest first."""
MOST_LINES = 500
"""Lines of a target beyond which nothing is searched: there are too many edits to try in that time."""
MOST_GOOD = 30
"""Repairs after which a search ends."""
_MOST_TESTS = 40
_SLOTS = 4


@dataclass(frozen=True, slots=True)
class Repair:
    """A text with which all checks pass, and its edits, also in words; the likeliest has the lowest cost.

    `unit` is the function that is changed, `edits` how many there are.
    """

    text: str
    splices: tuple[Splice, ...]
    change: str
    cost: float
    unit: str = ""
    edits: int = 1


@dataclass(frozen=True, slots=True)
class Repairs:
    """The repairs that were found among `tried` edits, or the `problem` that kept any from being tried.

    Each passes so many `checks`: examples and tests.
    """

    found: tuple[Repair, ...] = ()
    tried: int = 0
    checks: int = 0
    problem: str = ""


async def search(
    case: Case, span: Span, examples: Sequence[Example], tests: TestsBefore | None, seconds: float = SECONDS
) -> Repairs:
    """The edits of the functions within `span` with which the examples hold and the tests pass.

    Cancelling ends all processes.
    """
    runtime = case.runtime
    if runtime is None or runtime.python is None:
        return Repairs(problem="no code can run")
    made = await asyncio.to_thread(_job, case, runtime, span, examples, tests, seconds)
    if isinstance(made, str):
        return Repairs(problem=made)
    job, edits, spec = made
    try:
        result = await runtime.sandbox.run(spec)
    except (StetError, ValueError, OSError) as error:
        return Repairs(problem=f"code cannot run here: {error}")
    return read_repairs(result.report, job["nonce"], case.before, edits)


def _job(
    case: Case, runtime: Runtime, span: Span, examples: Sequence[Example], tests: TestsBefore | None, seconds: float
) -> tuple[dict[str, Any], list[NamedEdit], RunSpec] | str:
    text = case.before.text
    module = read_module(text)
    if module is None:
        return "the code does not parse"
    functions = list(_functions(case.before, module.tree, span))
    if not functions:
        return "no function to change"
    if sum((each.node.end_lineno or 0) - each.node.lineno + 1 for each in functions) > MOST_LINES:
        return f"the code is longer than {MOST_LINES} lines"
    made = ((number, edit) for number, each in enumerate(functions) for edit in edits_of(each))
    found = [(number, edit) for number, edit in made if edit.cost < UNLIKELY and _is_within(edit, span)]
    found = sorted(found, key=lambda each: each[1].cost)[:MOST_EDITS]
    place = locate_module(case.path, (text,), runtime)
    overlay, files, path, roots = _laid_out(case, place, tests)
    passing = sorted(tests.passing)[:_MOST_TESTS] if tests else []
    nonce = secrets.token_hex(8)
    job = {
        "nonce": nonce,
        "text": text,
        "path": path,
        "name": place.name,
        "roots": roots,
        "functions": [_row(each, module.tree) for each in functions],
        "edits": [_edit(number, each) for number, each in found],
        "examples": [[each.call.setup, each.call.body, expected_outputs(each.want), each.error] for each in examples],
        "tests": [*tests.failing, *passing] if tests else [],
        "seconds": min(seconds, max(runtime.left() - 2, 0.5)),
        "most": MOST_GOOD,
        "slots": _SLOTS,
    }
    folder = f".stet-{nonce}"
    assert runtime.python is not None
    spec = RunSpec(
        (str(runtime.python.path), "-s", "-B", f"{folder}/run.py", f"{folder}/job.json"),
        files={
            **files,
            **{f"{folder}/{name}": text for name, text in _INSIDE.items()},
            f"{folder}/job.json": json.dumps(job).encode(),
        },
        binds=runtime.python.binds,
        overlay=overlay,
        env={**runtime.python.env, "PYTHONHASHSEED": "0"},
        limits=replace(TESTS, seconds=4 * seconds + 10).within(runtime.left()),
        report=True,
    )
    return job, [(edit, _qualified(functions[number], module.tree)) for number, edit in found], spec


def _is_within(edit: SyntaxEdit, span: Span) -> bool:
    return all(span.contains(each.span) for each in edit.splices)


def _qualified(function: EditedFunction, tree: ast.Module) -> str:
    owners = _owners(tree, function.node) or []
    return ".".join([*(each.name for each in owners if isinstance(each, ast.ClassDef)), function.node.name])


def _laid_out(
    case: Case, place: ModuleLocation, tests: TestsBefore | None
) -> tuple[Overlay | None, dict[str, bytes], str, list[str]]:
    """The workspace, further files, and the module's path and import folders relative to the working folder."""
    data = case.before.data
    if tests is not None and case.path is not None and tests.plan.overlay is not None:
        root = tests.plan.overlay.root
        roots = place.roots or (case.path.parent,)
        return tests.plan.overlay, {}, _relative(case.path, root), [_relative(each, root) for each in roots]
    if place.overlay is None:
        return None, {place.path.name: data}, place.path.name, ["."]
    root = place.overlay.root
    own = Overlay(root, {**place.overlay.buffers, _relative(place.path, root): data})
    return own, {}, _relative(place.path, root), [_relative(each, root) for each in place.roots]


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def _functions(source: Source, tree: ast.Module, span: Span) -> Iterator[EditedFunction]:
    """The outermost functions that a span touches."""
    for node in functions_in(tree):
        function = EditedFunction(source, node)
        if function.span(node).overlaps(span):
            yield function


def _row(function: EditedFunction, tree: ast.Module) -> dict[str, Any]:
    """A function as the program finds it: its first line with decorators, and what has to stand around its text."""
    node = function.node
    owners = _owners(tree, node) or []
    first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    source, starts = function.source, function.source.starts
    margin = source.slice(Span(starts[node.lineno - 1], starts[node.lineno - 1] + node.col_offset))
    names = [each.name for each in owners if isinstance(each, ast.ClassDef)]
    head = "".join(f"{' ' * level}class {name}:\n" for level, name in enumerate(names))
    if not names and node.col_offset:
        head = "if True:\n"
    return {
        "name": node.name,
        "line": first,
        "start": function.span(node).start,
        "end": function.span(node).end,
        "head": head + margin,
        "path": [*names, node.name],
    }


def _owners(tree: ast.AST, node: Function) -> list[ast.AST] | None:
    """What holds a function, the outermost first; None if it is elsewhere."""
    for child in ast.iter_child_nodes(tree):
        if child is node:
            return []
        if (found := _owners(child, node)) is not None:
            return [child, *found]
    return None


def _edit(number: int, edit: SyntaxEdit) -> dict[str, Any]:
    return {
        "function": number,
        "splices": [[each.span.start, each.span.end, each.text] for each in edit.splices],
        "first": edit.lines[0],
        "last": edit.lines[1],
        "header": edit.header,
    }


def read_repairs(data: bytes, nonce: str, before: Source, edits: Sequence[NamedEdit]) -> Repairs:
    """Reads the report. It comes from the sandbox, so it may be incomplete or malformed."""
    try:
        answer: dict[str, Any] = json.loads(data)
        if answer["nonce"] != nonce:
            return Repairs(problem="the run's report is forged, so it proves nothing")
        if answer.get("problem"):
            return Repairs(problem=str(answer["problem"]))
        chosen = [[edits[int(n)] for n in numbers] for numbers in answer["good"]]
        return Repairs(tuple(_repair(before, each) for each in chosen), int(answer["tried"]), int(answer["checks"]))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        return Repairs(problem="the run ended before it reported its results")


def _repair(before: Source, edits: Sequence[NamedEdit]) -> Repair:
    splices = tuple(sorted((splice for edit, _ in edits for splice in edit.splices), key=lambda each: each.span))
    words = " and ".join(edit.change for edit, _ in edits)
    text = before.splice(splices).text
    return Repair(text, splices, words, sum(edit.cost for edit, _ in edits), edits[0][1], len(edits))
