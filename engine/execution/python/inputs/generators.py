"""Generators of which only the first value is requested: a complete result does not show work done ahead."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.mutations import literal
from stet_ls.engine.execution.inputs.repeated_calls import AHEAD
from stet_ls.engine.execution.inputs.rows import GUESSED
from stet_ls.engine.execution.python.inputs.subject import Function, Parameter, known_module, subject_of

MOST_ITERATORS = 30
_ONE_RESULT = re.compile(r"__out__\((.*)\)")
_LAZY = {"map", "filter", "zip", "enumerate", "iter"}
_ANY_ITERABLE = re.compile(r"(?i)\b(any|an|of) (iterable|iterator|generator|stream)\b")
_CALLED_ITERABLE = re.compile(r"iterables?|iterators?")
_ITERABLES = {"Iterable", "Iterator", "Generator"}


def with_first_values(calls: tuple[Call, ...], text: str, unit: str) -> tuple[Call, ...]:
    """The calls; for a unit that generates its values lazily, also some that request only one.

    Its iterable arguments are then passed as iterators, whose remaining items are compared afterwards.
    """
    module = known_module(text)
    subject = subject_of(module, unit) if module else None
    if subject is None or not isinstance(subject.node, Function) or not _is_lazy(subject.node):
        return calls
    open_ones = {each.name.lstrip("*") for each in subject.parameters if _may_be_iterator(each)}
    # One of each length: the first calls are often near misses of a single example.
    tried = {len(call.setup): call for call in reversed(calls)}
    first = [
        _first(call, open_ones) for call in list(tried.values())[:MOST_ITERATORS] if _ONE_RESULT.fullmatch(call.body)
    ]
    return (*calls[:AHEAD], *first, *calls[AHEAD:])


def with_iterators(calls: tuple[Call, ...], text: str, unit: str) -> tuple[Call, ...]:
    """The calls; for a unit that takes any iterable, by hint or docstring, also some with iterators: they end once."""
    module = known_module(text)
    subject = subject_of(module, unit) if module else None
    if subject is None or not isinstance(subject.node, Function):
        return calls
    is_documented = bool(_ANY_ITERABLE.search(ast.get_docstring(subject.node) or ""))
    kept = _made_lists(subject.node) | _iterated_by_hand(subject.node)
    taking = {each.name.lstrip("*") for each in subject.parameters if _may_be_iterator(each)
              and (each.annotation is not None or is_documented or each.name.lstrip("*") in kept
                   or _CALLED_ITERABLE.fullmatch(each.name.lstrip("*")))}  # fmt: skip
    made = [replace(call, setup="\n".join(_as_iterator(line, taking) for line in call.setup.splitlines()), again=True)
            for call in calls[:MOST_ITERATORS] if taking and not call.again]  # fmt: skip
    known = {call.setup for call in calls}
    return (*calls[:AHEAD], *(each for each in made if each.setup not in known), *calls[AHEAD:])


def _made_lists(node: ast.AST) -> set[str]:
    """The parameters of which code first makes a list for itself: any iterable will do."""
    return {
        each.targets[0].id for each in ast.walk(node)
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name) and isinstance(each.value, ast.Call)
        and getattr(each.value.func, "id", "") in ("list", "tuple") and len(each.value.args) == 1
        and getattr(each.value.args[0], "id", "") == each.targets[0].id
    }  # fmt: skip


def _iterated_by_hand(node: ast.AST) -> set[str]:
    """The parameters of which code asks for an iterator: `iter(items)`."""
    called = (each for each in ast.walk(node) if isinstance(each, ast.Call) and len(each.args) == 1)
    return {getattr(each.args[0], "id", "") for each in called if getattr(each.func, "id", "") == "iter"}


def _first(call: Call, open_ones: set[str]) -> Call:
    lines = [_as_iterator(line, open_ones) for line in call.setup.splitlines()]
    body = _ONE_RESULT.sub(r"taken = \1\n__out__(next(taken, None))", call.body)
    return replace(call, setup="\n".join(lines), body=body, origin=GUESSED, again=True)


def _as_iterator(line: str, open_ones: set[str]) -> str:
    name, _, text = line.partition(" = ")
    value = literal(text)
    if name not in open_ones or not isinstance(value, list):
        return line
    if value and all(isinstance(each, list) for each in value):
        return f"{name} = [iter(each) for each in {text}]"
    return f"{name} = iter({text})"


def _may_be_iterator(parameter: Parameter) -> bool:
    hint = parameter.annotation
    named = {each.id for each in ast.walk(hint) if isinstance(each, ast.Name)} if hint is not None else _ITERABLES
    return bool(named & _ITERABLES)


def _is_lazy(node: Function) -> bool:
    """True if it is a generator, or returns one."""
    for each in _own(node):
        if isinstance(each, ast.Yield | ast.YieldFrom):
            return not isinstance(node, ast.AsyncFunctionDef)
        if isinstance(each, ast.Return):
            value = each.value
            called = getattr(value.func, "id", "") if isinstance(value, ast.Call) else ""
            if isinstance(value, ast.GeneratorExp) or called in _LAZY:
                return True
    return False


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function but those of functions within."""
    pending = [node]
    while pending:
        for each in ast.iter_child_nodes(pending.pop()):
            yield each
            if not isinstance(each, Function | ast.Lambda):
                pending.append(each)
