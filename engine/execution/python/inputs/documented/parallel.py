"""Parameters of which the code tells the size.

`values[i] * weights[i]` is called with as many weights as values, and `point[0] * point[1]` with two numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.mutations import literal, text_of
from stet_ls.engine.execution.python.inputs.subject import Parameter, Subject

_WRITTEN = ("example", "captured")


def of_one_length(calls: tuple[Call, ...], subject: Subject) -> tuple[Call, ...]:
    """The calls with parallel arguments cut to the shortest one; without those that cannot be cut."""
    groups = list(_parallel(subject))
    if not groups:
        return calls
    made = (call if call.origin in _WRITTEN else _cut(call, groups) for call in calls)
    return tuple(dict.fromkeys(call for call in made if call is not None))


def of_fixed_size(calls: tuple[Call, ...], subject: Subject) -> tuple[Call, ...]:
    """The calls with arguments of as many parts as the code takes from them; without those made very long."""
    sizes = {name: size for each in subject.parameters if (name := each.name) and (size := _parts(each, subject.node))}
    if not sizes:
        return calls
    made = (call if call.origin in _WRITTEN else _cut_to(call, sizes) for call in calls)
    return tuple(dict.fromkeys(call for call in made if call is not None))


def _parts(parameter: Parameter, node: ast.AST) -> int:
    """The number of parts that a hint names, or that are subscripted if nothing else is done with it; 0 if unknown."""
    hint = parameter.annotation
    if isinstance(hint, ast.Subscript) and getattr(hint.value, "id", "").lower() == "tuple":
        parts = hint.slice.elts if isinstance(hint.slice, ast.Tuple) else [hint.slice]
        return 0 if any(isinstance(each, ast.Constant) for each in parts) else len(parts)
    nodes = list(ast.walk(node))
    keys = [each.slice.value for each in nodes if isinstance(each, ast.Subscript)
            and isinstance(each.slice, ast.Constant) and getattr(each.value, "id", "") == parameter.name]  # fmt: skip
    used = sum(isinstance(each, ast.Name) and each.id == parameter.name for each in nodes)
    places = {key for key in keys if type(key) is int and key >= 0}
    return max(places) + 1 if len(places) > 1 and len(keys) == used and places >= set(keys) else 0


def _cut_to(call: Call, sizes: Mapping[str, int]) -> Call | None:
    bound, cut = call.bindings(), {}
    for name, size in sizes.items():
        text = bound.get(name, "")
        value = literal(text)
        if value is None and text.endswith("]") and "[:" in text:
            return None
        if isinstance(value, list | tuple | str | bytes) and value and len(value) != size:
            value *= size  # the code fails on one that is too short
            cut[name] = text_of(value[:size])
    return call.with_bindings(cut)


def _parallel(subject: Subject) -> Iterator[set[str]]:
    """The parameters that one loop over the length of one of them subscripts by the same name."""
    names = {each.name for each in subject.parameters}
    for loop in ast.walk(subject.node):
        if not isinstance(loop, ast.For | ast.comprehension) or not isinstance(loop.target, ast.Name):
            continue
        measured = {part.args[0].id for part in ast.walk(loop.iter) if isinstance(part, ast.Call) and part.args
                    and getattr(part.func, "id", "") == "len" and isinstance(part.args[0], ast.Name)}  # fmt: skip
        held = {part.value.id for part in ast.walk(subject.node) if isinstance(part, ast.Subscript)
                and isinstance(part.value, ast.Name) and getattr(part.slice, "id", "") == loop.target.id}  # fmt: skip
        if len(measured) == 1 and measured <= names and len(held & names) > 1:
            yield held & names


def _cut(call: Call, groups: list[set[str]]) -> Call | None:
    bound = call.bindings()
    for group in groups:
        values = {name: literal(bound[name]) for name in group if name in bound}
        sized = {name: value for name, value in values.items() if isinstance(value, list | tuple | str)}
        if len(sized) < len(values):
            if len({text.rpartition("[:")[2] for name, text in bound.items() if name in group}) > 1:
                return None  # only some of them were enlarged
            continue
        shortest = min(map(len, sized.values()), default=0)
        bound |= {name: text_of(value[:shortest]) for name, value in sized.items() if len(value) > shortest}
    return call.with_bindings(bound)
