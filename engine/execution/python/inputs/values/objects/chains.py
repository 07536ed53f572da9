"""Arguments deeper than Python's recursion limit: nodes that lead to other nodes, and objects grown by many calls."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.mutations import literal, text_of
from stet_ls.engine.execution.inputs.rows import GUESSED, UNSURE
from stet_ls.engine.execution.python.inputs.subject import Module, Subject
from stet_ls.validators.ast_text import unparse

LONG = 2_500
"""More than Python's recursion limit."""
_MOST_INDEX = 5
_OTHERS = ("1", "[]", "'a'")
"""What a node may hold besides the link of a node."""
_STEP = re.compile(r"(?m)^try: (obj\.(\w+)\(.*\))\n")
_LENGTHENED = 3
Part = ast.Subscript | ast.Attribute


def chains(subjects: Sequence[Subject]) -> Iterator[Call]:
    """Calls with a node that leads to another one, and so on, if a text calls itself with a part of its argument.

    The part is the next node, or holds it among others: `walk(node.next)`, `for each in node["parts"]: walk(each)`.
    """
    made = {call.setup: call for call in _linked_keys(subjects)}
    for subject in subjects:
        given = [each.name for each in subject.parameters if each.default is None]
        if len(given) != 1:
            continue
        name = given[0]
        followed = list(_followed(subject, name))
        for part, is_among in followed:
            ends = [each for each, is_list in followed if not is_list]
            for other in _OTHERS:
                end = "None" if not is_among else _node(part, subjects, "[]", other, ends)
                node = _node(part, subjects, f"[{name}]" if is_among else name, other, ends)
                setup = f"{name} = {end}\nfor _ in range({LONG}): {name} = {node}"
                made[setup] = Call(setup, f"__out__({subject.name}({name}))", (), GUESSED)
    yield from made.values()


def _linked_keys(subjects: Sequence[Subject]) -> Iterator[Call]:
    """Calls with a dictionary whose keys lead to others, if a text calls itself with `parents[node]` for `node`."""
    for subject in subjects:
        given = [each.name for each in subject.parameters if each.default is None]
        for call in _own_calls(subject):
            for at, each in enumerate(call.args[: len(given)]):
                part = _as_part(each)
                if not isinstance(part, ast.Subscript) or getattr(part.slice, "id", "") != given[at]:
                    continue
                holder = getattr(part.value, "id", "")
                if len(given) == 2 and holder in given:
                    setup = f"{holder} = {{n: n + 1 for n in range({LONG})}}\n{given[at]} = 0"
                    yield Call(setup, f"__out__({subject.name}({', '.join(given)}))", tuple(given), GUESSED)


def _own_calls(subject: Subject) -> Iterator[ast.Call]:
    for each in ast.walk(subject.node):
        if isinstance(each, ast.Call) and getattr(each.func, "id", "") == subject.name:
            yield each


def _as_part(node: ast.expr) -> ast.expr:
    """`node["next"]` for `node.get("next")`; anything else as it is."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        return ast.Subscript(node.func.value, node.args[0], ast.Load())
    return node


def _followed(subject: Subject, name: str) -> Iterator[tuple[Part, bool]]:
    """The parts of `name` with which the subject calls itself, and whether the call takes one of its items."""
    bound = {each.targets[0].id: each.value for each in ast.walk(subject.node)
             if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)}  # fmt: skip
    loops = {each.target.id: each.iter for each in ast.walk(subject.node)
             if isinstance(each, ast.For | ast.comprehension) and isinstance(each.target, ast.Name)}  # fmt: skip
    for call in _own_calls(subject):
        for each in call.args:
            looped = loops.get(each.id) if isinstance(each, ast.Name) else None
            held = looped or _as_part(bound.get(each.id, each) if isinstance(each, ast.Name) else each)
            if isinstance(held, Part) and getattr(held.value, "id", "") == name:
                yield held, held is looped


def _node(part: Part, subjects: Sequence[Subject], link: str, other: str, ends: Sequence[Part]) -> str:
    """A node with `link` as that part, None as the other parts that lead to nodes (`ends`), and `other` as each further
    part that a text uses of anything.
    """
    nodes = [each for subject in subjects for each in ast.walk(subject.node)]
    if isinstance(part, ast.Attribute):
        used = (each.attr for each in nodes if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name))
        ended = dict.fromkeys((each.attr for each in ends if isinstance(each, ast.Attribute)), "None")
        fields = {**dict.fromkeys(sorted(used), other), **ended, part.attr: link}
        return f"__import__('types').SimpleNamespace({', '.join(f'{key}={value}' for key, value in fields.items())})"
    key = literal(unparse(part.slice))
    if type(key) is int and 0 <= key < _MOST_INDEX:
        return "(" + f"{other}, " * key + f"{link},)"
    found = {each.slice.value for each in nodes if isinstance(each, ast.Subscript)
             and isinstance(each.slice, ast.Constant) and isinstance(each.slice.value, str)}  # fmt: skip
    ended = {text_of(literal(unparse(each.slice))): "None" for each in ends if isinstance(each, ast.Subscript)}
    keys = {**{text_of(each): other for each in sorted(found)}, **ended, text_of(key): link}
    return "{" + ", ".join(f"{each}: {value}" for each, value in keys.items()) + "}"


def chained_objects(pairs: Sequence[tuple[Module, Subject]]) -> Iterator[Call]:
    """Calls of a method on an object that holds another one, and so on, if a text calls the method on what it holds."""
    for module, subject in pairs:
        if subject.how not in ("method", "property") or any(each.default is None for each in subject.parameters):
            continue
        init = module.shapes[subject.owner].init
        held = {each.value.attr for each in ast.walk(subject.node) if isinstance(each, ast.Attribute)
                and each.attr == subject.callee and isinstance(each.value, ast.Attribute)}  # fmt: skip
        for name in sorted(held & {each.name for each in init}):
            for other in ("1", "'a'"):
                given = [f"{each.name}={'obj' if each.name == name else other}" for each in init
                         if each.name == name or each.default is None]  # fmt: skip
                setup = f"obj = None\nfor _ in range({LONG}): obj = {subject.owner}({', '.join(given)})"
                called = "()" if subject.how == "method" else ""
                yield Call(setup, f"__out__(obj.{subject.callee}{called})", (), GUESSED)


def lengthened_objects(calls: Sequence[Call]) -> Iterator[Call]:
    """A method's calls after one earlier step was made many times; such an object is not compared afterwards."""
    found: dict[str, Call] = {}
    for call in calls:
        for step, method in _STEP.findall(call.setup):
            if method not in found:
                start = call.setup.index("try: ")
                setup = f"{call.setup[:start]}for _ in range({LONG}): {step}"
                origin = call.origin if call.origin in UNSURE else "grown"
                found[method] = replace(call, setup=setup, names=(), origin=origin)
    yield from itertools.islice(found.values(), _LENGTHENED)
