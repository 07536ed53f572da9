"""Inputs with which the project's tests call the code: the most trusted ones, since somebody means them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.rows import CAPTURED
from stet_ls.engine.execution.javascript.inputs.calls import arguments, bound
from stet_ls.engine.execution.javascript.inputs.subject import Subject, read_module, subject_of
from stet_ls.engine.runners.captured_calls import CapturedCall, CapturedCalls
from stet_ls.engine.runners.languages.script_calls import OWN

_MOST = 120
"""Calls that are made again."""
_PRINTER = "console.log"


@dataclass(frozen=True, slots=True)
class CapturedInputs:
    """Calls that tests made of a unit. `uncaptured` counts those that could not be copied, by the reason."""

    calls: tuple[Call, ...] = ()
    uncaptured: Mapping[str, int] = field(default_factory=dict)


def captured_inputs(known: CapturedCalls, text: str, language: str, unit: str) -> CapturedInputs:
    """The captured calls of a unit; of a class, those of all of its methods."""
    module = read_module(text, language) if known != CapturedCalls() else None
    if module is None:
        return CapturedInputs()
    uncaptured: Counter[str] = Counter()
    for name, reasons in known.uncaptured.items():
        uncaptured.update(reasons if _is_of(name, unit) else {})
    calls = []
    for each in known.calls:
        subject = subject_of(module, each.unit) if _is_of(each.unit, unit) else None
        if subject is not None and subject.how in ("function", "method", "static"):
            calls.append(_call(subject, each))
    return CapturedInputs(tuple(dict.fromkeys(calls))[:_MOST], uncaptured)


def _is_of(name: str, unit: str) -> bool:
    """Whether a function is the unit, or a method of it."""
    return name == unit or name.rpartition(".")[0] == unit


def _call(subject: Subject, each: CapturedCall) -> Call:
    """The call made again, on a copy of its object if it is a method's."""
    given = [text for name, text in each.texts.items() if name != OWN]
    row = {}
    for number, parameter in enumerate(subject.parameters):
        if parameter.rest:
            row[parameter.name] = f"[{', '.join(given[number:])}]"
        elif number < len(given):
            row[parameter.name] = given[number]
    own = each.texts.get(OWN, "")
    setup, names = bound(subject.parameters, row, "obj" if own else subject.name.partition(".")[0])
    called = f"obj.{subject.callee}" if own else subject.name
    lines = [setup, f"const obj = {own}" if own else ""]
    held = (*names.values(), *(["obj"] if own else []))
    body = f"__out__({called}({arguments(subject.parameters, names)}))"
    return Call("\n".join(filter(None, lines)), body, held, CAPTURED, _PRINTER)
