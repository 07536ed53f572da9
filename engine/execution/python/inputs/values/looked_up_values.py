"""A table and a key that is in it, for code that looks one argument up in another: drawn apart they seldom meet."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.rows import UNSURE
from stet_ls.engine.execution.python.inputs.examples import literals
from stet_ls.engine.execution.python.inputs.subject import Subject, known_module, subject_of
from stet_ls.engine.execution.python.inputs.values.texts.derived_texts import derived_texts

_METHODS = {"get", "pop", "setdefault"}
_ALWAYS = ("True", "False", "None", "0", "2", "''", "'a'", "1.5", "[]")
_MOST, _BEHIND = 40, 30


def with_looked_up_values(calls: tuple[Call, ...], texts: tuple[str, str], unit: str) -> tuple[Call, ...]:
    """The calls of a unit of two texts, and some in which one argument is a key of another one, with what the code
    compares as its value.
    """
    module = known_module(texts[0])
    subject = subject_of(module, unit) if module else None
    pair = next(_looked_up(subject), None) if subject else None
    base = next((each for each in calls if pair and each.origin in UNSURE and {*pair} <= {*each.bindings()}), None)
    if module is None or subject is None or pair is None or base is None:
        return calls
    words = [each for each in literals(subject.node) if each[0] in "'\"" and len(each) <= _MOST]
    values = list(dict.fromkeys((*words, *derived_texts(module, subject), *_ALWAYS)))[:_MOST]
    made = [base.with_bindings({pair[0]: f"{{'a': {value}}}", pair[1]: "'a'"}) for value in values]
    missing = base.with_bindings({pair[0]: "{'b': 1}", pair[1]: "'a'"})
    return (*calls[:_BEHIND], *made, missing, *calls[_BEHIND:])


def _looked_up(subject: Subject) -> Iterator[tuple[str, str]]:
    """The parameters of which one is looked up in the other: (table, key)."""
    names = {each.name for each in subject.parameters}
    for each in ast.walk(subject.node):
        match each:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=table), attr=method), args=[ast.Name(id=key), *_]):
                if method in _METHODS and {table, key} <= names and table != key:
                    yield table, key
            case ast.Compare(left=ast.Name(id=key), ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=table)]):
                if {table, key} <= names and _subscripts(subject.node, table, key):
                    yield table, key


def _subscripts(node: ast.AST, table: str, key: str) -> bool:
    found = (each for each in ast.walk(node) if isinstance(each, ast.Subscript))
    return any((getattr(each.value, "id", ""), getattr(each.slice, "id", "")) == (table, key) for each in found)
