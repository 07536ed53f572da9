"""Inputs with which the project's tests call the code: the most trusted ones, since someone means them."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from stet_ls.engine.execution.harness_run import Call, CapturedData
from stet_ls.engine.execution.inputs.qualified_names import is_of
from stet_ls.engine.execution.inputs.rows import CAPTURED
from stet_ls.engine.execution.python.inputs.arguments import arguments
from stet_ls.engine.execution.python.inputs.subject import Function, Module, Subject, known_module, subject_of
from stet_ls.engine.privacy.secrets.scan import find_secrets
from stet_ls.engine.runners.captured_calls import CapturedCall, CapturedCalls
from stet_ls.validators.ast_text import dump, parse_expression, unparse

MOST_CAPTURED, _MOST_WRITTEN = 120, 30
"""Calls that are made again, and those of which near misses are made."""
_MAKING = ("__init__", "__new__", "__post_init__", "__setstate__", "__getstate__", "__reduce__")


@dataclass(frozen=True, slots=True)
class CapturedInputs:
    """Calls that tests made of a unit. `data` are objects that they use, `written` those without any as Python text.

    `uncaptured` counts the calls that could not be copied, by the reason.
    """

    calls: tuple[Call, ...] = ()
    data: CapturedData = field(default_factory=CapturedData)
    written: str = field(default="", repr=False)
    uncaptured: Mapping[str, int] = field(default_factory=dict)


def captured_inputs(known: CapturedCalls, before: str, after: str, unit: str) -> CapturedInputs:
    """The captured calls of a unit of the text `before`; of a class, those of all of its methods."""
    old, new = known_module(before), known_module(after)
    if old is None or new is None or known == CapturedCalls():
        return CapturedInputs()
    uncaptured = Counter(
        {why: n for name, reasons in known.uncaptured.items() if is_of(name, unit) for why, n in reasons.items()}
    )
    changed = {name for name, shape in old.shapes.items() if _layout(shape.node) != _layout(_node(new, name))}
    calls: list[Call] = []
    written: list[str] = []
    data: list[str] = []
    for each in known.calls:
        subject = subject_of(old, each.unit) if is_of(each.unit, unit) else None
        if subject is None or len(calls) == MOST_CAPTURED or _is_gone(subject, after):
            continue
        if lost := sorted(each.classes & changed) if _holds(each, subject) else ():
            uncaptured[f"holds an object of the changed `{lost[0]}`"] += 1
            continue
        call = _call(subject, each, len(data))
        calls.append(call)
        if _holds(each, subject):
            data.append(each.data)
        elif not call.is_secret and len(written) < _MOST_WRITTEN:
            written.append(f"{subject.callee}({arguments(subject.parameters, each.texts)})\n")
    return CapturedInputs(
        tuple(dict.fromkeys(calls)), CapturedData(tuple(data), known.module, known.files if data else {}),
        "".join(written), uncaptured,
    )  # fmt: skip


def _is_gone(subject: Subject, after: str) -> bool:
    """Whether it is a private helper that the new text does not have: another judge says if it is missed."""
    name = subject.callee
    return name.startswith("_") and not name.endswith("__") and re.search(rf"\bdef {name}\b", after) is None


def _holds(call: CapturedCall, subject: Subject) -> bool:
    """Whether it needs captured objects. An object under construction, or a class that has a name, is none."""
    wanted = {each.name for each in subject.parameters}
    return any(name in wanted for name in call.held) or (bool(call.held) and subject.how in ("method", "property"))


def _call(subject: Subject, each: CapturedCall, number: int) -> Call:
    """The call made again, on the captured object if it is a method's."""
    known = {parameter.name for parameter in subject.parameters}
    held = {name: f"__captured__[{number}][{name!r}]" for name in each.held}
    given = {**each.texts, **{name: text for name, text in held.items() if name in known}}
    names = {name: name.lstrip("*") for name in given if name in known}
    lines = [f"{names[name]} = {_tidy(given[name])}" for name in names]
    called, own = subject.name, next((text for name, text in held.items() if name not in known), "")
    if subject.how in ("method", "property"):
        lines.append(f"__own = {own or subject.owner}")
        called = f"__own.{subject.callee}"
    called_with = "" if subject.how == "property" else f"({arguments(subject.parameters, names)})"
    is_secret = bool(find_secrets("\n".join([*lines, *_named(each.words)])))
    shown = _shown(subject, each, is_secret=is_secret) if is_secret or _holds(each, subject) else ""
    bound = (*names.values(), *(["__own"] if subject.how in ("method", "property") else []))
    return Call(
        "\n".join(lines), f"__out__({called}{called_with})", bound, CAPTURED, shown=shown, is_secret=is_secret
    )  # fmt: skip


def _tidy(text: str) -> str:
    """A value as other inputs are written, so that equal ones are found to be equal."""
    try:
        return unparse(parse_expression(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text


def _shown(subject: Subject, each: CapturedCall, *, is_secret: bool) -> str:
    """The call for a person, without what objects hold, and without any value if it has a secret."""
    parts = []
    for parameter in subject.parameters:
        name = parameter.name
        if name in each.held:
            parts.append(f"{name}=<{each.held[name]}>")
        elif name in each.texts:
            parts.append(f"{name}={'...' if is_secret else each.texts[name]}")
    return subject.name if subject.how == "property" else f"{subject.name}({', '.join(parts)})"


def _named(words: Iterable[str]) -> Iterator[str]:
    """Each text after the one before it, which is its name if it belongs to an attribute or a key."""
    yield from (f"{name} = {text!r}" for name, text in pairwise(words) if name.isidentifier())


def _node(module: Module, name: str) -> ast.ClassDef | None:
    return module.shapes[name].node if name in module.shapes else None


def _layout(node: ast.ClassDef | None) -> tuple[str, ...]:
    """What the state of a class' objects depends on: an object of another layout is none of the class."""
    if node is None:
        return ()
    outside = [each for each in node.body if not isinstance(each, Function) or each.name in _MAKING]
    stored = {
        each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)
    }
    documentation = [each for each in outside if isinstance(each, ast.Expr)]
    return (*map(dump, node.bases), *(dump(each) for each in outside if each not in documentation), *sorted(stored))
