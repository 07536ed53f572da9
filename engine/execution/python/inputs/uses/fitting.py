"""Guessed inputs whose arguments do not fit together, by how the code uses them: they are changed or left out.

`source[i] != target[i]` compares two texts or two lists, never one with the other; `n % 2 == 1` asks a whole number.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.mutations import literal, related, text_of
from stet_ls.engine.execution.inputs.rows import EDGE_CASE, GUESSED
from stet_ls.engine.execution.python.inputs.docstrings.exclusions import numbers
from stet_ls.engine.execution.python.inputs.subject import Subject, known_module, subject_of

_HOLDERS = (str, bytes, list, tuple, set, frozenset, dict)
_SINGLE_HINTS = {"str": "str", "bytes": "bytes", "int": "number", "float": "number", "bool": "number"}
_Pair = frozenset[str]
_PREDICATE = re.compile(r"pred|predicate|condition|matches|is_\w+|key|key_?func\w*|cmp|compare|comparator")


def fitting(calls: tuple[Call, ...], texts: tuple[str, str], unit: str) -> tuple[Call, ...]:
    """The calls, with guesses of kinds that the code before the change never meets together changed or left out.

    Where it returns a text, the code after may say of what that is a part.
    """
    modules = map(known_module, texts)
    subject, after = (subject_of(module, unit) if module else None for module in modules)
    if subject is None:
        return calls
    hinted = {each.name: each.annotation.id for each in subject.parameters if isinstance(each.annotation, ast.Name)}
    calls = tuple(each for each in calls if each.origin not in (GUESSED, EDGE_CASE) or _is_as_hinted(each, hinted))
    if not any(_handles_errors(each.node) for each in (subject, after) if each is not None):
        calls = tuple(each for each in calls if not _has_failing_predicate(each))
    if _asks_for_kinds(subject.node):
        return calls
    alike, within = set(_linked(subject)), set(_memberships(subject))
    whole = _whole_numbers(subject)
    parts = {} if after is None or not _returns_text(subject) else dict(_returned_parts(after))
    parts |= dict(_returned_parts(subject))

    random = Random(len(calls))  # noqa: S311 - inputs must be reproducible

    def made_fit(call: Call) -> Call | None:
        agreeing = _agreeing(call, alike, random) if call.origin in (GUESSED, EDGE_CASE) else call
        if agreeing is None or agreeing.origin not in (GUESSED, EDGE_CASE):
            return agreeing
        values = _values(agreeing)
        are_texts = all(_is_no_holder(values[name], depth) for name, depth in parts.items() if name in values)
        return agreeing if are_texts and _fits(values, within, whole) else None

    return tuple(dict.fromkeys(made for each in calls if (made := made_fit(each)) is not None))


def _is_as_hinted(call: Call, hinted: Mapping[str, str]) -> bool:
    """Whether a guess has no container where a text is hinted, and no text where a number is."""
    values = _values(call)
    kinds = {name: _kind(value) for name, value in values.items() if hinted.get(name) in _SINGLE_HINTS}
    return all(kind == _SINGLE_HINTS[hinted[name]] for name, kind in kinds.items())


def _has_failing_predicate(call: Call) -> bool:
    """Whether a function that only decides raises: that shows how often it is asked, which is no behavior."""
    return any(_PREDICATE.fullmatch(name) and ".throw(" in text for name, text in call.bindings().items())


def _values(call: Call) -> dict[str, Any]:
    return {name: value for name, text in call.bindings().items() if (value := literal(text)) is not None}


def _agreeing(call: Call, alike: set[_Pair], random: Random) -> Call | None:
    """The call with an argument of another kind made of the one that it is compared with; None if that cannot be."""
    values = _values(call)
    for pair in sorted(map(sorted, alike)):
        kinds = {_kind(values[name]) for name in pair if name in values}
        if len(kinds) < 2 or not kinds & {each.__name__ for each in _HOLDERS}:
            continue
        held = next((name for name in pair if isinstance(values.get(name), str | list)), None)
        if held is None:
            return None
        made = {name: related(values[held], random) for name in pair if name != held}
        values |= made
        call = call.with_bindings({name: text_of(value) for name, value in made.items()})
    return call


def _fits(values: dict[str, Any], within: set[tuple[str, str]], whole: set[str]) -> bool:
    if any(isinstance(values.get(one), list | tuple | set | dict) and type(values[one]) is type(values.get(other))
           for one, other in within):  # fmt: skip
        return False
    asked = numbers([value for name, value in values.items() if name in whole])
    return all(each == int(each) for each in asked if abs(each) < 2**63)


def _kind(value: Any) -> str:
    return next((each.__name__ for each in _HOLDERS if isinstance(value, each)), "number")


def _linked(subject: Subject) -> Iterator[_Pair]:
    """The parameters that are compared with or added to each other, whole or in parts, or that change places."""
    names = [each.name for each in subject.parameters if each.annotation is None]
    for node in ast.walk(subject.node):
        found: Sequence[ast.expr] = ()
        if isinstance(node, ast.Compare) and all(isinstance(each, ast.Eq | ast.NotEq) for each in node.ops):
            found = [_sized(each) for each in (node.left, *node.comparators)]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            found = [node.left, node.right]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == subject.callee:
            for name, given in zip((each.name for each in subject.parameters), node.args, strict=False):
                yield from _pairs([name, *([given.id] if isinstance(given, ast.Name) else [])], names)
        yield from _pairs([_base(each) for each in found], names)


def _pairs(found: Sequence[str], names: Sequence[str]) -> Iterator[_Pair]:
    kept = dict.fromkeys(each for each in found if each in names)
    return map(frozenset, itertools.combinations(kept, 2))


def _returns_text(subject: Subject) -> bool:
    returned = (each.value for each in ast.walk(subject.node) if isinstance(each, ast.Return))
    return any(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in returned)


def _returned_parts(subject: Subject) -> Iterator[tuple[str, int]]:
    """The parameters of which code returns a part where it returns a text elsewhere, and how deep the part lies."""
    if _returns_text(subject):
        names = {each.name for each in subject.parameters if each.annotation is None}
        for value in (each.value for each in ast.walk(subject.node) if isinstance(each, ast.Return)):
            if isinstance(value, ast.Name | ast.Subscript) and _base(value) in names:
                yield _base(value), sum(isinstance(each, ast.Subscript) and not isinstance(each.slice, ast.Slice)
                                        for each in ast.walk(value))  # fmt: skip


def _is_no_holder(value: Any, depth: int) -> bool:
    """Whether no list or the like lies where a text may be expected. A number may: "" often stands for "none"."""
    if depth == 0 or not isinstance(value, list | tuple):
        return not isinstance(value, list | tuple | set | dict)
    return all(_is_no_holder(each, depth - 1) for each in value)


def _memberships(subject: Subject) -> Iterator[tuple[str, str]]:
    """Parameters with the one that they are looked up in, if they have a length themselves: a text is in a text."""
    names = {each.name for each in subject.parameters if each.annotation is None}
    sized = {_base(each.args[0]) for each in ast.walk(subject.node)
             if isinstance(each, ast.Call) and getattr(each.func, "id", "") == "len" and each.args}  # fmt: skip
    for node in ast.walk(subject.node):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            one, other = _base(node.left), _base(_first(node.comparators[0]))
            if {one, other} <= names and one in sized and one != other:
                yield one, other


def _sized(node: ast.expr) -> ast.expr:
    """What `len()` is asked of; any other expression as it is."""
    is_length = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "len" and len(node.args) == 1
    return node.args[0] if isinstance(node, ast.Call) and is_length else node


def _base(node: ast.expr) -> str:
    """The name whose value or part an expression is; "" for any other."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _first(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        node = node.left
    return node


def _whole_numbers(subject: Subject) -> set[str]:
    """The parameters whose remainder, or that of their items, is compared: `n % 2 == 1`."""
    asked = {name for each in ast.walk(subject.node) for name in _compared_remainder(each)}
    loops = [each for each in ast.walk(subject.node) if isinstance(each, ast.For | ast.comprehension)]
    held = {name for each in loops if asked & _names(each.target) for name in _names(each.iter)}
    return (asked | held) & {each.name for each in subject.parameters}


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _compared_remainder(node: ast.AST) -> set[str]:
    """The names whose remainder by a whole number is compared in an expression."""
    match node:
        case ast.Compare(left=ast.BinOp(left=left, op=ast.Mod(), right=ast.Constant(value=int())), ops=[op, *_]):
            return _names(left) if isinstance(op, ast.Eq | ast.NotEq) else set()
    return set()


def _handles_errors(node: ast.AST) -> bool:
    """Whether code handles errors: then it matters what a function that it calls raises."""
    return any(isinstance(each, ast.Try) or "suppress" in (getattr(each, "id", ""), getattr(each, "attr", ""))
               for each in ast.walk(node))  # fmt: skip


def _asks_for_kinds(node: ast.AST) -> bool:
    """Whether the code distinguishes kinds itself."""
    asked = {"isinstance", "type", "callable", "hasattr"}
    return any(isinstance(each, ast.Call) and getattr(each.func, "id", "") in asked for each in ast.walk(node))
