"""Sizes that the texts of a unit mention, sizes larger than any draw, and whole numbers beyond a float's precision.

`rows[:500]` differs on 499, 500 and 501 rows; a recursion in place of a loop on some thousands; `/` in place of `//`
beyond 2**53.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.mutations import literal, text_of
from stet_ls.engine.execution.inputs.rows import UNSURE
from stet_ls.engine.execution.python.inputs.examples import literals, named_literals
from stet_ls.engine.execution.python.inputs.grown import grown_item
from stet_ls.engine.execution.python.inputs.subject import Function, Module, Subject, known_module, subject_of
from stet_ls.engine.execution.python.inputs.values.objects.chains import (
    LONG,
    chained_objects,
    chains,
    lengthened_objects,
)

_MOST_KINDS = 14
_AHEAD = 30
"""The number of other calls that come first."""
_SMALLEST, _LARGEST, _MOST_SIZES, _MOST_TEXTS = 5, 2_500, 9, 2
_BELOW = 40
"""The first node of a long chain, so that a small number is one of it."""
_ITEMS = 4
"""The number of distinct items in a long argument."""
_EXACT = (2**53 + 1, 2**60 + 3, 2**62 + 2, 2**60 - 1)
_SMALL_OTHERS = ("1", "2")
"""Other whole numbers next to a large one: by a larger divisor, rounding would not show."""
_FLOATS = {"float", "round", "sqrt", "log", "log2", "log10", "ceil", "floor", "isqrt", "fmod", "pow", "trunc"}
_NUMBER = re.compile(r"\d+(\.\d+)?")
ValueChange = Callable[[Any], str | None]
"""The replacement text for a value; None if it does not fit."""


def with_sizes(calls: tuple[Call, ...], texts: tuple[str, str], unit: str) -> tuple[Call, ...]:
    """The calls of a unit of two texts, and some of them with larger arguments."""
    modules = [known_module(text) for text in texts]
    subjects = [subject_of(module, unit) if module else None for module in modules]
    pairs = [(module, subject) for module, subject in zip(modules, subjects, strict=True) if module and subject]
    if len(pairs) < len(texts) or pairs[0][1].how == "class":
        return calls
    known = list(dict.fromkeys(each for pair in pairs for each in _constants(*pair)))
    sizes = _sizes(known)
    changes = [_of_size(size) for size in sizes]
    changes += [change(size) for size in sizes if size != LONG for change in (_of_distinct, _mixed)]
    changes += [_repeated(each) for each in known if isinstance(each, str) and 0 < len(each) < 5][:_MOST_TEXTS]
    if _traded([subject for _, subject in pairs]):
        changes += [_of_number(number) for number in _EXACT]
    elif any(isinstance(each, ast.While | ast.For) for _, subject in pairs for each in ast.walk(subject.node)):
        changes.append(_of_number(LONG))
    more = {(each.setup, each.body): each for each in _larger(calls, changes)}
    both = [subject for _, subject in pairs]
    if _recurs(both):
        more |= {(each.setup, each.body): each for each in (*_of_each_kind(calls), *_linked(calls))}
    nested = (*_nested(calls, both), *chained_objects(pairs), *(lengthened_objects(calls) if _recurs(both) else ()))
    return (*calls[:_AHEAD], *more.values(), *nested, *calls[_AHEAD:])


def _recurs(subjects: list[Subject]) -> bool:
    """Whether a text of the unit, or a function in it, calls itself."""
    inner = (each for subject in subjects for each in ast.walk(subject.node) if isinstance(each, Function))
    return any(_called(part) == each.name for each in inner for part in ast.walk(each) if isinstance(part, ast.Call))


def _called(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def _of_each_kind(calls: tuple[Call, ...]) -> Iterator[Call]:
    """A call with a long argument for each combination of kinds: next to a wrong kind, depth does not show."""
    seen: set[str] = set()
    for call in calls:
        values = {name: literal(text) for name, text in call.bindings().items()}
        kinds = " ".join(_kind(value) for value in values.values())
        long = {name: made for name, value in values.items() if (made := _of_size(LONG)(value))}
        if kinds in seen or not long:
            continue
        seen.add(kinds)
        for chosen in (*((name,) for name in long), *([tuple(long)] if len(long) > 1 else [])):
            yield call.with_bindings({name: long[name] for name in chosen}, origin=_origin(call))
        if len(seen) == _MOST_KINDS:
            return


def _kind(value: Any) -> str:
    items = {type(each).__name__ for each in value} if isinstance(value, list | tuple) else ()
    return f"{type(value).__name__}[{','.join(sorted(items))}]"


def _linked(calls: tuple[Call, ...]) -> Iterator[Call]:
    """Calls with a dictionary in which each text leads to the next one, and the first of them as the other texts."""
    for call in calls:
        values = {name: literal(text) for name, text in call.bindings().items()}
        new = {name: made for name, value in values.items() if (made := _links(value))}
        if new:
            new |= {name: "'0'" for name, value in values.items() if isinstance(value, str)}
            yield call.with_bindings(new, origin=_origin(call))
            return


def _links(value: Any) -> str:
    if not isinstance(value, dict) or not value:
        return ""
    key, item = next(iter(value.items()))
    if not isinstance(key, str):
        return ""
    if isinstance(item, str):
        return f"{{str(n): str(n + 1) for n in range({LONG})}}"
    if isinstance(item, list | tuple | set) and all(isinstance(each, str) for each in item):
        return f"{{str(n): {type(item).__name__}([str(n + 1)]) for n in range({LONG})}}"
    return ""


def _nested(calls: tuple[Call, ...], subjects: list[Subject]) -> Iterator[Call]:
    """A call with lists in lists beyond Python's recursion limit, if one of the texts calls itself.

    Such an argument cannot be written as text, so it is not compared afterwards.
    """
    if not any(getattr(each.func, "id", getattr(each.func, "attr", "")) == subject.callee
               for subject in subjects for each in ast.walk(subject.node) if isinstance(each, ast.Call)):  # fmt: skip
        return
    yield from chains(subjects)
    for call in calls:
        if len(call.names) == 1 and any(isinstance(literal(text), list) for text in call.bindings().values()):
            name = call.names[0]
            deep = f"{name} = 1\nfor _ in range({LONG}): {name} = [{name}]"
            yield replace(call, setup=deep, names=(), origin=_origin(call))
            return


def _origin(call: Call) -> str:
    """The origin of a call that is like another one but for the size of its arguments."""
    return call.origin if call.origin in UNSURE else "grown"


def _constants(module: Module, subject: Subject) -> list[Any]:
    """The values of the literals of a unit, and of those in the module constants that it uses."""
    texts = (*literals(subject.node), *named_literals(module, subject))
    return [value for text in texts if (value := literal(text)) is not None]


def _sizes(known: list[Any]) -> list[int]:
    sizes = [each for each in known if type(each) is int and _SMALLEST <= each <= _LARGEST]
    return [*dict.fromkeys(sizes[:_MOST_SIZES]), LONG]


def _traded(subjects: list[Subject]) -> bool:
    """Whether a change exchanges whole numbers and floats, and large numbers do not cause long loops."""
    nodes = [list(ast.walk(subject.node)) for subject in subjects]
    if any(_grows(each) for found in nodes for each in found):
        return False
    return len({frozenset(_float_signs(found)) for found in nodes}) > 1


def _grows(node: ast.AST) -> bool:
    """Whether a large number would keep it running for long."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow | ast.LShift):
        return not isinstance(node.right, ast.Constant)
    if isinstance(node, ast.While):  # one that divides is over soon
        return not any(isinstance(each, ast.FloorDiv | ast.RShift | ast.Div) or _called_name(each) == "divmod"
                       for part in node.body for each in ast.walk(part))  # fmt: skip
    # Digits are few, however large the number is.
    return isinstance(node, ast.For | ast.comprehension) and _called_name(node.iter) not in ("str", "reversed")


def _called_name(node: ast.AST) -> str:
    return _called(node) if isinstance(node, ast.Call) else ""


def _float_signs(nodes: list[ast.AST]) -> Iterator[str]:
    for each in nodes:
        if isinstance(each, ast.Div):
            yield "/"
        elif isinstance(each, ast.Constant) and type(each.value) is float:
            yield "1.0"
        elif isinstance(each, ast.Name | ast.Attribute):
            name = each.id if isinstance(each, ast.Name) else each.attr
            if name in _FLOATS:
                yield name


def _larger(calls: tuple[Call, ...], changes: list[ValueChange]) -> Iterator[Call]:
    """For each parameter, one call per kind of value, changed in all ways; and one with all parameters changed."""
    for number, change in enumerate(changes):
        seen: set[tuple[str, type]] = set()
        first = 3 * number % _AHEAD  # the arguments besides the large one differ from change to change
        for call in (*calls[first : 2 * _AHEAD], *calls[:first]):
            new = {}
            for name, text in call.bindings().items():
                value = literal(text)
                if value is None or isinstance(value, bool) or (name, type(value)) in seen:
                    continue
                made = change(value)
                if made is not None:
                    seen.add((name, type(value)))
                    new[name] = made
            for chosen in dict.fromkeys([*((name,) for name in new), tuple(new)] if new else []):
                for small in ("", *(_SMALL_OTHERS if all(text.isdigit() for text in new.values()) else ())):
                    others = dict.fromkeys(new, small) if small else {}
                    texts = {**others, **{name: new[name] for name in chosen}}
                    yield call.with_bindings(texts, origin=_origin(call))


def _of_size(size: int) -> ValueChange:
    def change(value: Any) -> str | None:
        if isinstance(value, str | bytes | list | tuple) and value:
            value = value[:_ITEMS]
            return f"({text_of(value)} * {size // len(value) + 1})[:{size}]"
        if isinstance(value, dict) and value and type(next(iter(value))) in (int, str):
            key, item = next(iter(value.items()))
            if type(key) is type(item) is int:  # a chain, like the links of a graph
                return f"{{n: n + 1 for n in range(-{_BELOW}, {size})}}"
            if type(key) is int and isinstance(item, list) and all(type(each) is int for each in item):
                return f"{{n: [n + 1] for n in range(-{_BELOW}, {size})}}"
            keys = f"range({size})" if type(key) is int else f"map(str, range({size}))"
            return f"dict.fromkeys({keys}, {text_of(item)})"
        return None

    return change


def _of_distinct(size: int) -> ValueChange:
    """So many items of which no two are alike, and one more: a limit may count different ones."""

    def change(value: Any) -> str | None:
        if not isinstance(value, list) or not value or not isinstance(value[0], str | dict | tuple):
            return None
        return f"[{grown_item(value[0])} for n in range({size + 1})]"

    return change


def _mixed(size: int) -> ValueChange:
    """A text so long with letters, digits and signs in it."""
    return lambda value: f"('aB1 -_' * {size // 6 + 1})[:{size}]" if isinstance(value, str) else None


def _repeated(text: str) -> ValueChange:
    return lambda value: f"'a' + {text!r} * {LONG} + 'b'" if isinstance(value, str) else None


def _of_number(number: int) -> ValueChange:
    def change(value: Any) -> str | None:
        if type(value) is int:
            return text_of(number)
        is_number = isinstance(value, str) and _NUMBER.fullmatch(value) and number > _LARGEST
        return text_of(f"{number}{value}") if is_number else None

    return change
