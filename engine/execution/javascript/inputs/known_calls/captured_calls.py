"""Inputs with which the project's tests call the code: the most trusted ones, since someone means them.

They come from a run of foreign code, and stand in files that a person may run: only texts of values are taken.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.qualified_names import is_of
from stet_ls.engine.execution.inputs.rows import CAPTURED
from stet_ls.engine.execution.javascript.inputs.arguments import arguments, bound
from stet_ls.engine.execution.javascript.inputs.subject import (
    Module,
    Parameter,
    Subject,
    read_module,
    shape_of,
    subject_of,
)
from stet_ls.engine.execution.javascript.inputs.values.value_kinds import part_of, text_of
from stet_ls.engine.runners.captured_calls import CapturedCall, CapturedCalls
from stet_ls.engine.runners.languages.script_calls import OWN
from stet_ls.validators.source import Source
from stet_ls.validators.structure.units import tree_of

if TYPE_CHECKING:
    import tree_sitter

MOST_CAPTURED = 120
"""Calls that are made again."""
_MAKING = "constructor"
_ON_OBJECTS = frozenset({"method", "getter", "setter"})
_CALLED = {
    "function": "__out__({name}({0}))", "static": "__out__({name}({0}))", "class": "__out__(new {name}({0}))",
    "method": "__out__(obj.{callee}({0}))", "getter": "__out__(obj.{callee})", "setter": "obj.{callee} = {0}",
}  # fmt: skip
"""How a subject is called, by what it is; a getter and a setter may share a name."""
_PRINTER = "console.log"
_SET = re.compile(r"\bthis\.(\w+)\s*(?:[-+*/|&?]{0,2}=)(?!=)")
_ATOMS = frozenset({"number", "string", "true", "false", "null", "undefined", "regex"})
_NAMES = frozenset({b"undefined", b"NaN", b"Infinity"})
_MADE = frozenset({
    b"Map", b"Set", b"Date", b"Int8Array", b"Uint8Array", b"Uint8ClampedArray", b"Int16Array", b"Uint16Array",
    b"Int32Array", b"Uint32Array", b"Float32Array", b"Float64Array", b"BigInt64Array", b"BigUint64Array",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class CapturedInputs:
    """Calls that tests made of a unit. `uncaptured` counts those that could not be copied, by the reason."""

    calls: tuple[Call, ...] = ()
    uncaptured: Mapping[str, int] = field(default_factory=dict)


def captured_inputs(known: CapturedCalls, before: str, after: str, language: str, unit: str) -> CapturedInputs:
    """The captured calls of a unit of the text `before`; of a class, those of its constructor and all of its methods.

    A copied object of a class whose fields the new text changes is none of the new class: what made it is called again.
    """
    module, new = (read_module(text, language) if known != CapturedCalls() else None for text in (before, after))
    if module is None or new is None:
        return CapturedInputs()
    unit = unit.removesuffix(f".{_MAKING}")
    made = _Again(module, new)
    uncaptured: Counter[str] = Counter()
    for name, reasons in known.uncaptured.items():
        uncaptured.update(reasons if is_of(name, unit) else {})
    calls = []
    for each in known.calls:
        subject = subject_of(module, each.unit) if is_of(each.unit, unit) else None
        if subject is None or subject.name != each.unit or not made.is_known(each.texts.values()):
            continue
        object_ = made.object_of(subject, each)
        if object_ is not None:
            calls.append(_call(subject, module, each, object_))
        else:
            uncaptured[f"holds an object of the changed `{subject.owner}`"] += 1
    return CapturedInputs(tuple(dict.fromkeys(calls))[:MOST_CAPTURED], uncaptured)


@dataclass(frozen=True, slots=True)
class _Again:
    """How objects that tests used are made again, for the old text and the new one."""

    module: Module
    new: Module

    def object_of(self, subject: Subject, call: CapturedCall) -> tuple[str, ...] | None:
        """The statements that make a method's object, none for what needs none; None if it cannot be made."""
        if subject.how not in _ON_OBJECTS:
            return ()
        if OWN in call.texts and subject.owner not in self._changed():
            return (f"const obj = {call.texts[OWN]}",)
        return self._life(subject.owner, call.life)

    def is_known(self, texts: Iterable[str]) -> bool:
        """Whether texts make values and do nothing else."""
        return all(_is_value(text, self.module.classes) for text in texts)

    def _changed(self) -> set[str]:
        return {name for name in self.module.classes if _layout(self.module, name) != _layout(self.new, name)}

    def _life(self, owner: str, rows: Sequence[Sequence[str]]) -> tuple[str, ...] | None:
        """The object as it came to be, if the new text's constructor takes the same."""
        is_same = owner in self.new.classes and _takes(self.module, owner) == _takes(self.new, owner)
        if not is_same or not rows or rows[0][0] != "new":
            return None
        made = [f"const obj = new {owner}({', '.join(rows[0][1:])})"]
        for name, *given in rows[1:]:
            member = name.removesuffix("=")
            if f"{owner}.{member}" not in self.module.found:
                return None
            step = f"obj.{member} = {given[0]}" if name != member and given else f"obj.{member}({', '.join(given)})"
            made.append(f"try {{ {step} }} catch {{}}")
        return tuple(made) if self.is_known(text for _, *given in rows for text in given) else None


def _takes(module: Module, name: str) -> str:
    """The parameters of a class' constructor, as they are written."""
    found = module.found.get(f"{name}.{_MAKING}")
    return " ".join(text_of(part_of(found.node, "parameters")).split()) if found is not None else ""


def _layout(module: Module, name: str) -> tuple[str, ...]:
    """What the state of objects depends on: the head, constructor and fields of a class, and what is set on `this`."""
    found = module.found.get(name)
    body = found.node.child_by_field_name("body") if found is not None else None
    if found is None or body is None:
        return ()
    head = text_of(found.node).partition("{")[0]
    outside = [each for each in body.named_children if each.type != "comment" and (
        each.type != "method_definition" or text_of(each).lstrip().startswith("constructor"))]  # fmt: skip
    written = (" ".join(text_of(each).split()) for each in outside)
    return (" ".join(head.split()), *written, *sorted({*_SET.findall(text_of(body))}))


def _is_value(text: str, classes: frozenset[str]) -> bool:
    """Whether a text makes a value and does nothing else."""
    parsed = tree_of(Source(f"x = {text};"), "typescript")
    statements = parsed.root.named_children if parsed is not None and not parsed.root.has_error else []
    assigned = statements[0].named_children[0] if len(statements) == 1 and statements[0].named_children else None
    value = part_of(assigned, "right")
    return value is not None and _makes_value(value, classes)


def _makes_value(node: tree_sitter.Node, classes: frozenset[str]) -> bool:
    inner = [each for each in node.named_children if each.type != "comment"]
    if node.type in _ATOMS:
        return True
    if node.type == "identifier":
        return node.text in _NAMES
    if node.type == "unary_expression":
        return node.children[0].type == "-" and _makes_value(inner[0], classes)
    if node.type == "array":
        return all(_makes_value(each, classes) for each in inner)
    if node.type == "object":
        return all(each.type == "pair" and _is_pair(each, classes) for each in inner)
    if node.type == "new_expression":
        return inner[0].text in _MADE and all(_makes_value(each, classes) for each in inner[-1].named_children)
    return node.type == "call_expression" and _is_object(inner, classes)


def _is_pair(pair: tree_sitter.Node, classes: frozenset[str]) -> bool:
    key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
    if key is None or value is None:
        return False
    computed = key.type == "computed_property_name" and all(each.type in _ATOMS for each in key.named_children)
    return (computed or key.type in ("property_identifier", "string", "number")) and _makes_value(value, classes)


def _is_object(parts: list[tree_sitter.Node], classes: frozenset[str]) -> bool:
    """Whether a call is `Object.assign(Object.create(C.prototype), {…})`, for a class of the file."""
    if len(parts) != 2 or parts[0].text != b"Object.assign" or len(parts[1].named_children) != 2:
        return False
    made, fields = parts[1].named_children
    known = {f"Object.create({name}.prototype)".encode() for name in classes}
    return made.text in known and fields.type == "object" and _makes_value(fields, classes)


def _call(subject: Subject, module: Module, each: CapturedCall, making: Sequence[str]) -> Call:
    """The call made again, on its object if it is a method's."""
    given = [text for name, text in each.texts.items() if name != OWN]
    parameters = shape_of(module, subject.name).init.parameters if subject.how == "class" else subject.parameters
    parameters = parameters or tuple(Parameter(f"argument{number}") for number in range(len(given)))
    row = {}
    for number, parameter in enumerate(parameters):
        if parameter.rest:
            row[parameter.name] = f"[{', '.join(given[number:])}]"
        elif number < len(given):
            row[parameter.name] = given[number]
    setup, names = bound(parameters, row, "obj" if making else subject.name.partition(".")[0])
    how = ("setter" if given else "getter") if subject.how in ("getter", "setter") else subject.how
    body = _CALLED[how].format(arguments(parameters, names), name=subject.name, callee=subject.callee)
    held = (*names.values(), *(["obj"] if making else []))
    return Call("\n".join(filter(None, (setup, *making))), body, held, CAPTURED, _PRINTER)
