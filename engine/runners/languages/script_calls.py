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
from stet_ls.validators.structure.units import find, tree_of

if TYPE_CHECKING:
    import tree_sitter

OWN = "this"
"""The name under which the texts of a call hold the object of a method; the others are numbers of arguments."""
_SECONDS, _LEAST_LEFT = 8.0, 60.0
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
_PRIVATE = re.compile(r"#[A-Za-z_$]")


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
    told = BoxStep(_STEP, ("sh", "-c", 'cat "$STET_CALLS"'), 5.0, env=env)
    found = (*placing, *again, told)
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
            }


def with_calls_noted(text: str, path: str, number: int = 0) -> str | None:
    """A text whose functions write down how they are called; None if it has none, or cannot be read.

    Everything stays on its line. `number` goes with each call, as the mark of the file.
    """
    language = "typescript" if path.endswith((".ts", ".mts", ".cts")) else "typescriptreact"
    parsed = tree_of(Source(text), language)
    if parsed is None or parsed.root.has_error:
        return None
    nodes = {each.unit.qualified: each.node for each in find(parsed)}
    edits: list[tuple[int, str]] = []
    for name, node in nodes.items():
        owner = nodes.get(name.rpartition(".")[0])
        if name.count(".") > 1 or (owner is not None and owner.type not in _CLASSES) or ("." in name and owner is None):
            continue
        edits += _noted(f"{number} {name}", node, owner)
    if not edits:
        return None
    data = parsed.data.removesuffix(b"\n")
    for place, added in sorted(edits, reverse=True):
        data = data[:place] + added.encode() + data[place:]
    is_typed = path.endswith((".ts", ".tsx", ".mts", ".cts"))
    helper = _helper(is_module=_MODULE.search(text) is not None, is_typed=is_typed)
    return f"{data.decode('utf-8', 'surrogatepass')}\n{helper}"


def _noted(name: str, node: tree_sitter.Node, owner: tree_sitter.Node | None) -> Iterator[tuple[int, str]]:
    """What is put where for a function to write down its calls."""
    body = node.child_by_field_name("body")
    callee = name.rpartition(".")[2].rpartition(" ")[2]
    marks = {each.type for each in node.children}
    if body is None or callee == "constructor" or callee[:1] in "#[\"'" or marks & {"get", "set"}:
        return
    own = ""
    if owner is not None and "static" not in marks:
        if _PRIVATE.search((owner.text or b"").decode("utf-8", "replace")):
            return
        own = ", this"
    if node.type in _WITH_ARGUMENTS and body.type == "statement_block":
        yield body.start_byte + 1, f" __stet_called__({json.dumps(name)}, arguments{own});"
    elif node.type == "arrow_function" and (given := _names(node)) is not None:
        noting = f"__stet_called__({json.dumps(name)}, [{given}])"
        if body.type == "statement_block":
            yield body.start_byte + 1, f" {noting};"
        else:
            yield body.end_byte, ")"
            yield body.start_byte, f"({noting}, "


def _names(node: tree_sitter.Node) -> str | None:
    """The parameters of an arrow function as arguments; None if it takes one apart, or has a default for one."""
    single = node.child_by_field_name("parameter")
    if single is not None:
        return (single.text or b"").decode()
    listed = node.child_by_field_name("parameters")
    names = []
    for each in listed.named_children if listed is not None else ():
        pattern = each.child_by_field_name("pattern")
        if each.type == "comment":
            continue
        if pattern is None or pattern.type not in ("identifier", "rest_pattern") or each.child_by_field_name("value"):
            return None
        names.append((pattern.text or b"").decode())
    return ", ".join(names)


def _helper(*, is_module: bool, is_typed: bool) -> str:
    """What functions call, for the end of a text: declarations and imports count before they stand."""
    any_ones, anything = (": any[]", "as any") if is_typed else ("", "")
    body = json.dumps(report_channel.inside("called.js").decode())
    load = (
        'import { appendFileSync as __stet_append__ } from "node:fs";' if is_module
        else f'function __stet_append__(...given{any_ones}) {{ require("node:fs").appendFileSync(...given); }}'
    )  # fmt: skip
    if is_typed and not is_module:
        load = load.replace("appendFileSync(...given)", "appendFileSync(...(given as [any, any]))")
    space = f"(globalThis {anything})" if is_typed else "globalThis"
    return (
        f"{load}\nfunction __stet_called__(...given{any_ones}) {{\n"
        f"  ({space}.__stet_calls__ ??= new Function('append', 'record', {body})"
        f"(__stet_append__, {space}.process.env.STET_CALLS))(...given);\n}}\n"
    )
