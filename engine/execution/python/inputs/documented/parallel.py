"""Parameters whose items belong together: `values[i] * weights[i]` is called with as many weights as values."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.mutations import literal, text_of
from stet_ls.engine.execution.python.inputs.subject import Subject

_WRITTEN = ("example", "captured")


def of_one_length(calls: tuple[Call, ...], subject: Subject) -> tuple[Call, ...]:
    """The calls with parallel arguments cut to the shortest one; without those that cannot be cut."""
    groups = list(_parallel(subject))
    if not groups:
        return calls
    made = (call if call.origin in _WRITTEN else _cut(call, groups) for call in calls)
    return tuple(dict.fromkeys(call for call in made if call is not None))


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
    lines = dict(line.partition(" = ")[::2] for line in call.setup.splitlines())
    for group in groups:
        values = {name: literal(lines[name]) for name in group if name in lines}
        sized = {name: value for name, value in values.items() if isinstance(value, list | tuple | str)}
        if len(sized) < len(values):
            if len({text.rpartition("[:")[2] for name, text in lines.items() if name in group}) > 1:
                return None  # only some of them were enlarged
            continue
        shortest = min(map(len, sized.values()), default=0)
        lines |= {name: text_of(value[:shortest]) for name, value in sized.items() if len(value) > shortest}
    return replace(call, setup="\n".join(f"{name} = {text}" for name, text in lines.items() if text))
