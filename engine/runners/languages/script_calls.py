"""Which calls the tests of a JavaScript or TypeScript project make of a file's functions, with copies of the arguments.

The tests run once more, on a copy of the file whose functions write down how they are called. That run has no other
result: code may behave otherwise with a line more in it. Values are written as source text, so that a call can be made
again from it; what cannot be written (functions, promises, objects of other classes) is counted.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from stet_ls.engine.runners import report_channel
from stet_ls.engine.runners.box_steps import BoxStep, BoxStepOutput
from stet_ls.engine.runners.captured_calls import CapturedCalls, captured_calls
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report_channel import FOLDER, Event
from stet_ls.validators.source import Source
from stet_ls.validators.structure.units import captures, find, tree_of

if TYPE_CHECKING:
    import tree_sitter

OWN = "this"
"""The name under which the texts of a call hold the object of a method; the others are numbers of arguments."""
_SECONDS, _LEAST_LEFT = 8.0, 40.0
"""Seconds for each step that is made once more, and what the job has to have left: the tests themselves come first."""
_RECORD = f"{FOLDER}/calls"
_STEP, _PLACE, _AGAIN = "calls", "place ", " for its calls"
_SCRIPT = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")
_CLASSES = frozenset({"class_declaration", "class", "abstract_class_declaration"})
_WITH_ARGUMENTS = frozenset({
    "function_declaration", "generator_function_declaration", "function_expression", "generator_function",
    "method_definition",
})  # fmt: skip
"""Functions with `arguments` of their own; an arrow function has none."""
_MODULE = re.compile(r"(?m)^\s*(?:import\b(?!\s*\()|export\b)")
_PRIVATE = frozenset({"private_property_identifier"})


@dataclass(frozen=True, slots=True)
class CallSteps:
    """The further steps of a run that find calls, and the files that they need; none if nothing is asked for.

    `seconds` is what they take at most, besides the run itself.
    """

    steps: tuple[BoxStep, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    seconds: float = 0.0


def call_steps(plan: TestPlan, steps: Sequence[BoxStep]) -> CallSteps:
    """The steps of a test run once more, with the files whose calls the plan asks for changed to write them down."""
    if plan.until - time.monotonic() < _LEAST_LEFT:
        return CallSteps()
    noting = {}
    for number, path in enumerate(plan.captured):
        text = plan.text(path) if path.endswith(_SCRIPT) else None
        if text is not None and (made := with_calls_noted(text, path, number)) is not None:
            noting[path] = made
    if not noting:
        return CallSteps()
    files = {f"{_RECORD}/{n}": text.encode("utf-8", "surrogatepass") for n, text in enumerate(noting.values())}
    place = ("sh", "-c", 'cat "$1" > "$2"', "sh")
    placing = [
        BoxStep(f"{_PLACE}{number}", (*place, f"{_RECORD}/{number}", path), 5.0, needed=True)
        for number, path in enumerate(noting)
    ]
    env = {"STET_CALLS": f"@TMP@/stet-calls-{len(noting)}"}
    again = [
        replace(step, name=f"{step.name}{_AGAIN}", needed=False, seconds=_SECONDS, env={**step.env, **env})
        for step in steps
    ]
    print_calls = BoxStep(_STEP, ("sh", "-c", 'cat "$STET_CALLS"'), 5.0, env=env)
    found = (*placing, *again, print_calls)
    return CallSteps(found, files, sum(each.seconds for each in found))


def own_steps(steps: Mapping[str, BoxStepOutput]) -> dict[str, BoxStepOutput]:
    """The steps of the test run itself: how the run for the calls ends says nothing about the tests."""
    return {name: step for name, step in steps.items() if not _is_for_calls(name)}


def _is_for_calls(name: str) -> bool:
    return name == _STEP or name.endswith(_AGAIN) or name.startswith(_PLACE)


def found_calls(steps: Mapping[str, BoxStepOutput], plan: TestPlan) -> Mapping[str, CapturedCalls]:
    """The calls that a run found, by file."""
    step = steps.get(_STEP)
    return captured_calls(_events(step.out, plan.captured)) if step is not None else {}


def _events(lines: Sequence[str], paths: Sequence[str]) -> Iterator[Event]:
    for line in lines:
        try:
            event = json.loads(line)
            number, _, unit = event["unit"].partition(" ")
            path = paths[int(number)]
        except (ValueError, LookupError, TypeError, AttributeError):  # cut off, or printed by the tests
            continue
        if event.get("event") in ("called", "uncaptured"):
            texts = {str(n): str(text) for n, text in enumerate(event.get("given") or ())}
            own = {OWN: str(event["own"])} if event.get("own") else {}
            yield {
                "event": event["event"],
                "path": path,
                "unit": unit,
                "why": event.get("why"),
                "texts": {**texts, **own},
                "life": event.get("life"),
            }


def with_calls_noted(text: str, path: str, number: int = 0) -> str | None:
    """A text whose functions write down how they are called; None if it has none, or cannot be read.

    Everything stays on its line. `number` goes with each call, as the mark of the file.
    """
    language = "typescript" if path.endswith((".ts", ".mts", ".cts")) else "typescriptreact"
    parsed = tree_of(Source(text), language)
    if parsed is None or parsed.root.has_error:
        return None
    found = [(each.unit.qualified, each.node) for each in find(parsed)]
    private = [each.start_byte for each in captures(parsed, _PRIVATE)]
    classes = {
        name: _Owner(node, any(node.start_byte < each < node.end_byte for each in private))
        for name, node in found
        if node.type in _CLASSES
    }
    edits: list[tuple[int, str]] = []
    for name, node in found:
        owner, _, callee = name.rpartition(".")
        if node.type in _CLASSES and not owner:
            edits += _noted_without_constructor(f"{number} {name}", node, {each for each, _ in found})
        elif not owner or owner in classes:
            edits += _noted(f"{number} {name}", callee, node, classes.get(owner))
    if not edits:
        return None
    data = parsed.data.removesuffix(b"\n")
    for place, added in sorted(edits, reverse=True):
        data = data[:place] + added.encode() + data[place:]
    is_typed = path.endswith((".ts", ".tsx", ".mts", ".cts"))
    helper = _helper(is_module=_MODULE.search(text) is not None, is_typed=is_typed)
    return f"{data.decode('utf-8', 'surrogatepass')}\n{helper}"


@dataclass(frozen=True, slots=True)
class _Owner:
    """A class, and whether it has private fields: its objects cannot be copied."""

    node: tree_sitter.Node
    hides: bool

    def called(self, marks: set[str], callee: str) -> str:
        """What a member says of its object: none if it has none, or none yet."""
        is_made = callee == "constructor"
        if "static" in marks or (is_made and _extends(self.node)):  # there is no object before `super()`
            return ""
        how = "new" if is_made else next((how for mark, how in _HOW.items() if mark in marks), "step")
        return f', this, "{how}"{", true" if self.hides else ""}'


_Edits = Iterator[tuple[int, str]]
"""What is put where in a text, by bytes."""


def _noted(unit: str, callee: str, node: tree_sitter.Node, owner: _Owner | None) -> _Edits:
    """The edits by which a function writes down its calls; a method says when it ends, too."""
    body = node.child_by_field_name("body")
    if body is None or "." in unit.partition(".")[2] or callee[:1] in "#[\"'":
        return
    member = node.parent if node.type == "arrow_function" and node.parent is not None else node
    own = owner.called({each.type for each in (*node.children, *member.children)}, callee) if owner is not None else ""
    name = json.dumps(unit.removesuffix(".constructor"))
    if node.type == "arrow_function":
        yield node.end_byte, f"{own})"
        yield node.start_byte, f"__stet_calls__().arrow({name}, "
    elif node.type in _WITH_ARGUMENTS and body.type == "statement_block":
        begins, ends = (" try {", " } finally { __stet_calls__().over(this); }") if own else ("", "")
        yield body.end_byte - 1, ends
        yield body.start_byte + 1, f" __stet_calls__()({name}, arguments{own});{begins}"


def _noted_without_constructor(unit: str, node: tree_sitter.Node, names: set[str]) -> _Edits:
    """The edit by which a class without a constructor of its own writes down that an object is made."""
    body = node.child_by_field_name("body")
    is_declared = node.parent is not None and node.parent.type == "ambient_declaration"
    if body is None or is_declared or _extends(node) or f"{unit.partition(' ')[2]}.constructor" in names:
        return
    made = f'__stet_calls__()({json.dumps(unit)}, [], this, "new"); __stet_calls__().over(this);'
    yield body.start_byte + 1, f" constructor() {{ {made} }}"


_HOW = {"get": "read", "set": "set", "async": "late", "*": "late"}
"""How a member of a class is called, by the word before its name; others are methods."""


_TYPE = (
    "{ (...given: any[]): void; over(own: any): void; "
    "arrow<F>(unit: string, arrow: F, own?: any, how?: string, hides?: boolean): F }"
)
"""What functions call, for a compiler that checks types."""


def _extends(node: tree_sitter.Node) -> bool:
    heritage = (each for each in node.children if each.type == "class_heritage")
    return any(part.type == "extends_clause" for each in heritage for part in each.children)


def _helper(*, is_module: bool, is_typed: bool) -> str:
    """What functions call, for the end of a text: declarations and imports count before they stand."""
    any_ones, anything, returned = (": any[]", "as any", f": {_TYPE}") if is_typed else ("", "", "")
    body = json.dumps(report_channel.inside("called.js").decode())
    load = (
        'import { appendFileSync as __stet_append__ } from "node:fs";' if is_module
        else f'function __stet_append__(...given{any_ones}) {{ require("node:fs").appendFileSync(...given); }}'
    )  # fmt: skip
    if is_typed and not is_module:
        load = load.replace("appendFileSync(...given)", "appendFileSync(...(given as [any, any]))")
    space = f"(globalThis {anything})" if is_typed else "globalThis"
    # A test may replace what the text imports, but not this; it is there from Node 20.16 on.
    append = f'{space}.process.getBuiltinModule?.("node:fs").appendFileSync ?? __stet_append__'
    return (
        f"{load}\nfunction __stet_calls__(){returned} {{\n"
        f"  return {space}.__stet_calls__ ??= new Function('append', 'record', {body})"
        f"({append}, {space}.process.env.STET_CALLS);\n}}\n"
    )
