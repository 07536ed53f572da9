"""Runs a JavaScript module and its port in Python on the same inputs.

The inputs are those that the tests of the module show, written out there, variants of them of the same kinds, and
values of the kinds that its documentation names (`@param {number} price`). Others say nothing: JavaScript converts
what it is not meant to get, and Python raises.
"""

from __future__ import annotations

import json
import math
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.plurals import plural
from stet_ls.engine.runners import toolchain
from stet_ls.engine.runners.languages.node import NODE
from stet_ls.engine.runners.toolchain import MissingToolError
from stet_ls.engine.sandbox.spec import TESTS, Overlay, RunResult, RunSpec, RunStatus

_INSIDE = Path(__file__).parent / "inside"
_MOST = 150
"""Calls of one function."""
_CALL = re.compile(r"(?<![\w$])(?P<name>[A-Za-z_$][\w$]*)\(")
_DOC = re.compile(r"/\*\*(?P<doc>(?:(?!\*/).)*)\*/\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:function\s+|const\s+)"
                  r"(?P<name>[\w$]+)", re.DOTALL)  # fmt: skip
_PARAM = re.compile(r"@param\s+\{(?P<kind>[^}]*)\}")
_LONGEST, _SHOWN = 500, 3


@dataclass(frozen=True, slots=True)
class JavaScriptCalls:
    """What a module did: its functions, the classes that are not compared, and calls with what they returned."""

    functions: tuple[str, ...]
    skipped: tuple[str, ...]
    calls: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class PortComparison:
    """How a port differs: `difference` shows the first call of each function that does, "" if none does."""

    difference: str
    calls: int
    functions: int
    uncompared: tuple[str, ...] = ()


async def javascript_calls(runtime: Runtime, root: Path, source: str, text: str, tests: str) -> JavaScriptCalls | str:
    """The calls of the module `source` (a path below `root`); or why they could not be run."""
    try:
        node = toolchain.find("node", install=NODE)
    except MissingToolError as missing:
        return f"{missing} is not installed: {missing.install}"
    place = f".stet-{secrets.token_hex(8)}"
    module_copy = str(Path(source).with_name(f"{Path(source).stem}-{place[6:]}.mjs"))
    job = {
        "modules": [source, module_copy],
        "calls": [call for part in (tests, text) for call in shown_calls(part)],
        "typed": typed_parameters(text),
        "most": _MOST,
    }
    files = {
        f"{place}/calls.mjs": (_INSIDE / "calls.mjs").read_bytes(),
        f"{place}/job.json": json.dumps(job).encode(),
        module_copy: text.encode("utf-8", "surrogatepass"),  # for a module with `export` in a project of CommonJS
    }
    argv = (str(node.path), "--no-warnings", f"{place}/calls.mjs", f"{place}/job.json")
    env = {"TZ": "UTC", "NO_COLOR": "1", "PATH": f"{node.path.parent}:/usr/bin:/bin"}
    buffers = {source: text.encode("utf-8", "surrogatepass")}
    spec = RunSpec(
        argv, files=files, binds=node.binds, overlay=Overlay(root, buffers), env=env, limits=TESTS, report=True
    )
    ran = await runtime.sandbox.run(spec)
    found = _report(ran)
    if found is None:
        return f"{source} could not be run: {_why(ran)}"
    return JavaScriptCalls(tuple(found["functions"]), tuple(found["skipped"]), tuple(found["calls"]))


async def compared(runtime: Runtime, root: Path, target: str, text: str, known: JavaScriptCalls) -> PortComparison:
    """The port `target` on the calls of the module."""
    assert runtime.python is not None, "the caller asks for a Python first"
    place = f".stet-{secrets.token_hex(8)}"
    job = {
        "module": target,
        "name": Path(target).stem,
        "functions": known.functions,
        "calls": [{"name": each["name"], "values": each["values"]} for each in known.calls],
    }
    files = {f"{place}/calls.py": (_INSIDE / "calls.py").read_bytes(), f"{place}/job.json": json.dumps(job).encode()}
    spec = RunSpec(
        (str(runtime.python.path), f"{place}/calls.py", f"{place}/job.json"), files=files, binds=runtime.python.binds,
        overlay=Overlay(root, {target: text.encode("utf-8", "surrogatepass")}), env=runtime.python.env, limits=TESTS,
        report=True,
    )  # fmt: skip
    ran = await runtime.sandbox.run(spec)
    found = _report(ran)
    called = {each["name"] for each in known.calls}
    uncompared = (*known.skipped, *(name for name in known.functions if name not in called))
    if found is None:
        return PortComparison(f"{target} could not be run: {_why(ran)}", 0, 0, uncompared)
    if found["missing"]:
        return PortComparison(f"`{found['missing'][0]}` has no counterpart in {target}", 0, 0, uncompared)
    wrong: dict[str, str] = {}
    for call, outcome in zip(known.calls, found["outcomes"], strict=True):
        if call["name"] not in wrong and not _agree(call, outcome):
            wrong[call["name"]] = _difference(call, outcome, target)
    return PortComparison("; ".join(list(wrong.values())[:_SHOWN]), len(known.calls), len(called), uncompared)


def comparison_text(found: PortComparison, source: str) -> str:
    """The result in a phrase."""
    rest = f"; not compared: {', '.join(found.uncompared)}" if found.uncompared else ""
    if found.difference:
        return found.difference + rest
    if not found.calls:
        return f"no call of {source} is known to compare{rest}"
    return f"{plural(found.calls, 'call')} of {plural(found.functions, 'function')} agree with {source}{rest}"


def shown_calls(text: str) -> list[tuple[str, str]]:
    """The calls that a text writes out: the function and its arguments as source text. Definitions are among them."""
    found = dict[tuple[str, str], None]()
    for match in _CALL.finditer(text):
        end = _closing(text, match.end())
        if end is not None:
            found[match["name"], text[match.end() : end]] = None
    return list(found)


def _closing(text: str, start: int) -> int | None:
    """Where the bracket that precedes `start` is closed; None if that is far away. Brackets in texts do not count."""
    depth, quote = 1, ""
    for at in range(start, min(start + _LONGEST, len(text))):
        char = text[at]
        if quote:
            quote = "" if char == quote and text[at - 1] != "\\" else quote
        elif char in "\"'`":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if not depth:
                return at
    return None


def typed_parameters(text: str) -> dict[str, list[str]]:
    """The kinds of the parameters of each function, as its documentation names them."""
    found = {}
    for match in _DOC.finditer(text):
        if kinds := [each["kind"].strip().lower() for each in _PARAM.finditer(match["doc"])]:
            found[match["name"]] = kinds
    return found


def _report(ran: RunResult) -> dict[str, Any] | None:
    try:
        found = json.loads(ran.report)
    except ValueError:
        return None
    return found if ran.status is RunStatus.OK and isinstance(found, dict) else None


def _why(ran: RunResult) -> str:
    lines = [line.strip() for line in ran.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"\w*(?:Error|Exception)\b", line)]
    return (errors or lines or [str(ran.status)])[-1][:300]


def _agree(call: Mapping[str, Any], outcome: Mapping[str, Any] | None) -> bool:
    if outcome is None or ("error" in call) != ("error" in outcome):
        return False
    return "error" in call or _same(call["value"], outcome["value"])


def _same(one: Any, other: Any) -> bool:
    """Whether two values of JSON are the same: numbers by their value, the rounding of their last digits aside."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    return bool(one == other)


def _difference(call: Mapping[str, Any], outcome: Mapping[str, Any] | None, target: str) -> str:
    here = "is not run" if outcome is None else _described(outcome)
    return f"`{call['name']}({_written(call['values'])})` {_described(call)} there, and {here} in {target}"


def _written(values: Sequence[Any]) -> str:
    return ", ".join(json.dumps(value, ensure_ascii=False) for value in values)


def _described(outcome: Mapping[str, Any]) -> str:
    if "error" in outcome:
        return f"raises {outcome['error']}"
    return f"returns {json.dumps(outcome['value'], ensure_ascii=False)[:200]}"
