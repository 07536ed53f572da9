"""What a module and its port did with the same calls, compared."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stet_ls.engine.plurals import plural
from stet_ls.engine.sandbox.spec import RunResult, RunStatus

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class ModuleCalls:
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


def port_compared(known: ModuleCalls, found: Mapping[str, Any] | None, target: str, problem: str) -> PortComparison:
    """What the program of the port `target` reports against what the module did; `problem`: why there is no report."""
    called = {each["name"] for each in known.calls}
    uncompared = (*known.skipped, *(name for name in known.functions if name not in called))
    if found is None:
        return PortComparison(f"{target} could not be run: {problem}", 0, 0, uncompared)
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


def report_of(ran: RunResult) -> dict[str, Any] | None:
    """What a program in the sandbox reports; None if it did not finish."""
    try:
        found = json.loads(ran.report)
    except ValueError:
        return None
    return found if ran.status is RunStatus.OK and isinstance(found, dict) else None


def why_failed(ran: RunResult) -> str:
    """The last error of a program in the sandbox."""
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
