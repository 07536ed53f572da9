"""Containers in containers, for code that calls itself on what is in its argument: drawn ones seldom go deep enough."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.mutations import literal
from stet_ls.engine.execution.inputs.rows import UNSURE
from stet_ls.engine.execution.python.inputs.subject import Parameter, Subject, known_module, subject_of
from stet_ls.validators.ast_text import unparse

_DICTS = (
    "{'a': 1, 'b': {'a': 2, 'c': {'a': 3, 'd': 4}}}",
    "{'b': {'c': {'d': 5, 'e': {}}, 'f': 6}}",
    "{'b': {'c': 7}, 'g': [8]}",
    "{'b': 9}",
)
"""Dictionaries that agree in some keys on each level."""
_LISTS = ("[1, [2, [3, [4, []]]]]", "[[[5]], 6, [7, 8]]", "[[], [[9]], ['ab']]")
_LOOKED_AT, _BEHIND = 60, 30


def with_nested_values(calls: tuple[Call, ...], texts: tuple[str, str], unit: str) -> tuple[Call, ...]:
    """The calls of a unit of two texts, and some with nested values if one of the texts calls itself."""
    subjects = [subject for text in texts if (module := known_module(text)) and (subject := subject_of(module, unit))]
    if not any(_calls_itself(subject) for subject in subjects):
        return calls
    nestable = {each.name for each in subjects[0].parameters if _is_nestable(each)}
    found = {each.setup: each for kind, nested in ((dict, _DICTS), (list, _LISTS))
             for each in itertools.islice(_nested(calls[:_LOOKED_AT], nestable, kind, nested), _BEHIND)}  # fmt: skip
    return (*calls[:_BEHIND], *found.values(), *calls[_BEHIND:])


def _calls_itself(subject: Subject) -> bool:
    calls = (each.func for each in ast.walk(subject.node) if isinstance(each, ast.Call))
    return any(subject.name in (getattr(each, "id", ""), getattr(each, "attr", "")) for each in calls)


def _is_nestable(parameter: Parameter) -> bool:
    """Whether a hint, if there is one, says nothing of what is in a container."""
    return parameter.annotation is None or "[" not in unparse(parameter.annotation)


def _nested(calls: tuple[Call, ...], names: set[str], kind: type, nested: tuple[str, ...]) -> Iterator[Call]:
    """Calls with each choice of nested values for the arguments that are of a kind."""
    for call in calls:
        if call.origin not in UNSURE:
            continue
        held = [name for name, text in call.bindings().items() if name in names and isinstance(literal(text), kind)]
        for values in itertools.product(nested, repeat=len(held)) if 0 < len(held) <= 2 else ():
            yield call.with_bindings(dict(zip(held, values, strict=True)))
