"""Unusual inputs, in addition to those that were drawn.

Texts that the change is about or that the code parses, letters of other scripts, numbers in various notations, items of
mixed kinds, arguments that are all of one kind, and the contents of module constants that a unit uses.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.mutations import literal, text_of
from stet_ls.engine.execution.inputs.rows import EDGE_CASE, GUESSED
from stet_ls.engine.execution.python.inputs.calls import call_of
from stet_ls.engine.execution.python.inputs.examples import literals, named_literals, rows_for
from stet_ls.engine.execution.python.inputs.subject import Module, Parameter, Subject, known_module, subject_of
from stet_ls.engine.execution.python.inputs.values.observed_types import with_observed_hints
from stet_ls.engine.execution.python.inputs.values.texts.derived_texts import derived_texts
from stet_ls.engine.execution.python.inputs.values.texts.parsed_texts import parsed_texts
from stet_ls.validators.ast_text import unparse

_BEHIND = 60
"""The number of other calls that come first."""
_TEXTS = (
    ("Straße", "STRASSE"), ("ǆ ﬁn", "Ǆ fin"), ("e\u0301a", "éa"), ("٣²", "32"), ("a\u00a0b\u2003", " a b"),
    ("İi", "i̇I"), ("-1.5", "2"), ("1e3", "0x1f"), (" 7 ", "007"), ("1_000", "1,000"), ("a\r\nb\x0bc\n", "a\nb"),
    ("True", "None"), ("%s {} \\n", "$1"),
)  # fmt: skip
"""Pairs of texts for one call, the second for every other argument: some are equal under one kind of comparison."""
_ITEMS: tuple[Any, ...] = (True, 1.5, None, "a")
_ALIKE = ("{'a': 1, 'b': 2}", "[1, 2, 3]", "'ab'", "3", "(1, 2)", "{1, 2}")
_MOST = _LEAVES = 8
_EMPTY = ("''", "[]", "{}", "None", "()", "0")
_MOST_CHANGED, _MOST_DIGITS = 24, 60
_DEFAULT = "'another'"
_EQUAL = 24
_SET_TO = ("2", "http://a.b/c/", "")
_CONVERTS, _CONVERTED = ("int", "float", "Decimal"), ("5s", "12", "", "1.5")
"""Functions that make a number of a text, and texts for the numbers in a container: some are none."""
LiteralChange = Callable[[str, Any], str | None]
"""The replacement text for a parameter's value; None to keep it."""


def with_edge_cases(
    calls: tuple[Call, ...], text: str, unit: str, besides: tuple[str, ...] = (), tests: tuple[str, ...] = ()
) -> tuple[Call, ...]:
    """The calls of a unit and some more like them; `besides` are literals that count as the unit's own."""
    module = known_module(text)
    subject = subject_of(module, unit) if module else None
    if module is None or subject is None or subject.how == "class":
        return calls
    own = (*besides, *literals(subject.node), *named_literals(module, subject))
    known = [literal(each) for each in dict.fromkeys(own)]
    parameters = with_observed_hints(
        subject.parameters, rows_for(module, subject, tests)
    )  # examples show the intended kinds
    open_ones = {each.name.lstrip("*") for each in parameters if each.annotation is None}
    free = [{each.name.lstrip("*") for each in parameters if _takes(each, kind)} for kind in ("str", "int")]
    enums = {each.name for each in parameters if _is_enum(each, module)}
    origin = GUESSED if _refuses_kinds(subject) else EDGE_CASE
    changed = [value for each in besides if isinstance(value := literal(each), str)]
    digits = _digits(subject) if _converts_parts(subject) else []
    derived = map(ast.literal_eval, derived_texts(module, subject))
    words = [*changed[:_MOST_CHANGED], *parsed_texts(subject.node), *derived, *digits]
    found = (*_with_words(calls, words, free[0], open_ones),
             *_more(calls, known, open_ones, free, enums, origin), *_without_leaves(calls, subject))  # fmt: skip
    if any(isinstance(each, ast.Call) and getattr(each.func, "id", "") in _CONVERTS for each in ast.walk(subject.node)):
        as_texts = tuple(replace(each, origin=origin) for each in calls)
        found = (*found, *_each(as_texts, [_of_leaves(each, open_ones) for each in _CONVERTED]))
    found = (*found, *_with_environment(calls, module), *_with_equal_arguments(calls))
    more = {(each.setup, each.body): each for each in found}
    return (*calls[:_BEHIND], *more.values(), *calls[_BEHIND:])


def _with_environment(calls: tuple[Call, ...], module: Module) -> Iterator[Call]:
    """A few calls with the environment variables set that the code asks for."""
    names = [name for each in ast.walk(module.tree) if (name := _variable(each))]
    for name, value in itertools.product(dict.fromkeys(names), _SET_TO):
        for call in calls[1 : _BEHIND : _BEHIND // 3]:
            setup = f"__import__('os').environ[{name!r}] = {value!r}\n{call.setup}"
            yield replace(call, setup=setup.rstrip("\n"), origin=EDGE_CASE)


def _with_equal_arguments(calls: tuple[Call, ...]) -> Iterator[Call]:
    """Some calls with one argument for two parameters: what is compared with each other is equal then."""
    made = (_equal(call) for call in calls[: 2 * _BEHIND])
    yield from itertools.islice((each for each in made if each is not None), _EQUAL)


def _equal(call: Call) -> Call | None:
    """The call with a text or a number for the next argument of its kind as well; None if there are no two."""
    bound = call.bindings()
    values = {name: value for name, text in bound.items() if isinstance(value := literal(text), str | int | float)}
    for one, other in itertools.combinations(values, 2):
        if type(values[one]) is type(values[other]) and values[one] != values[other]:
            origin = "near an example" if call.origin == "example" else call.origin
            return call.with_bindings({other: bound[one]}, origin)
    return None


def _variable(node: ast.AST) -> str:
    """The environment variable that a node asks for; "" if it asks for none."""
    if isinstance(node, ast.Subscript):
        holder, key = unparse(node.value), node.slice
    elif isinstance(node, ast.Call) and node.args and isinstance(node.func, ast.Attribute):
        holder, key = unparse(node.func.value if node.func.attr == "get" else node.func), node.args[0]
    else:
        return ""
    is_asked = holder in ("os.environ", "environ", "os.getenv")
    return str(key.value) if is_asked and isinstance(key, ast.Constant) else ""


def _takes(parameter: Parameter, kind: str) -> bool:
    """Whether any value of a kind is intended: for a `Literal`, or an alias of one, only some are."""
    words = re.findall(r"\w+", unparse(parameter.annotation)) if parameter.annotation is not None else [kind]
    return not {kind, "Any", "object"}.isdisjoint(words) and "Literal" not in words


def _is_enum(parameter: Parameter, module: Module) -> bool:
    hint = parameter.annotation
    return isinstance(hint, ast.Name) and hint.id in module.shapes and bool(module.shapes[hint.id].members)


def _refuses_kinds(subject: Subject) -> bool:
    """Whether it raises a TypeError on purpose: then that is part of its behavior."""
    raised = (each.exc for each in ast.walk(subject.node) if isinstance(each, ast.Raise) and each.exc is not None)
    return any(isinstance(name, ast.Name) and name.id == "TypeError" for each in raised for name in ast.walk(each))


def _more(
    calls: tuple[Call, ...], known: list[Any], open_ones: set[str], free: list[set[str]], enums: set[str], origin: str
) -> Iterator[Call]:
    words = [each for each in known if isinstance(each, str) and 0 < len(each) < 12][:_MOST]
    texts = [*_TEXTS, *((text, each) for each in words for text in (f"1.5{each}", f"12{each.upper()}"))]
    yield from _each(calls, [_of_texts(pair, free[0]) for pair in texts])
    numbers = [each for each in known if type(each) is int]
    yield from _each(calls, [_of_number(each, free[1]) for each in numbers[:_MOST]])
    guessed = tuple(replace(each, origin=origin) for each in calls)
    yield from _each(guessed, [_of_items(each, open_ones) for each in _ITEMS])
    yield from _each(guessed, [_of_tuples(open_ones)])
    yield from _each(guessed, [_of_kind(each, open_ones) for each in _ALIKE])
    yield from _each(guessed, [_of_none(enums)])


def _with_words(calls: tuple[Call, ...], words: list[str], free: set[str], open_ones: set[str]) -> Iterator[Call]:
    """A call with each of these texts, for each parameter that is a text or a list, one at a time.

    The other arguments are those of calls without empty ones, if there are any: lists are met side by side.
    """
    full = tuple(sorted(calls[:_BEHIND], key=lambda call: sum(text in _EMPTY for text in call.bindings().values())))
    for name in sorted(free):
        texts = [_of_word(each, name) for each in words]
        lists = [_of_words(each, name, is_open=name in open_ones) for each in words[:_MOST_CHANGED]]
        for changes in (texts, lists):
            yield from _each(full, [*changes, *changes[:_MOST], *changes[:_MOST]])


def _of_word(word: str, wanted: str) -> LiteralChange:
    return lambda name, value: repr(word) if name == wanted and isinstance(value, str) else None


def _of_words(word: str, wanted: str, *, is_open: bool) -> LiteralChange:
    def change(name: str, value: Any) -> str | None:
        is_list = name == wanted and isinstance(value, list | tuple) and len(value) > 0
        if not is_list or not (is_open or all(isinstance(each, str) for each in value)):
            return None
        return text_of(type(value)([word] * len(value)))

    return change


_MAPPED = ["map", "int"]


def _converts_parts(subject: Subject) -> bool:
    """Whether the code makes numbers of the letters of a text: `int(n) for n in number`, `map(int, number)`."""
    for each in ast.walk(subject.node):
        if isinstance(each, ast.Call) and [getattr(part, "id", "") for part in (each.func, *each.args[:1])] == _MAPPED:
            return True
        if isinstance(each, ast.comprehension | ast.For):
            bound = {part.id for part in ast.walk(each.target) if isinstance(part, ast.Name)}
            if bound & _converted(subject.node):
                return True
    return False


def _converted(node: ast.AST) -> set[str]:
    """The names that a code makes a whole number of."""
    calls = (each for each in ast.walk(node) if isinstance(each, ast.Call) and getattr(each.func, "id", "") == "int")
    return {each.args[0].id for each in calls if each.args and isinstance(each.args[0], ast.Name)}


def _digits(subject: Subject) -> list[str]:
    """Texts of digits, of the lengths that the code names or has tables of: a remainder shows for one in some tens."""
    random = Random(0)  # noqa: S311 - inputs must be reproducible
    tables = (len(each.elts) for each in ast.walk(subject.node) if isinstance(each, ast.Tuple | ast.List))
    named = (each.value for each in ast.walk(subject.node) if isinstance(each, ast.Constant))
    lengths = [each for each in (*tables, *named) if type(each) is int and 3 <= each <= 20] or [4, 7, 10]
    return ["".join(random.choice("0123456789") for _ in range(random.choice(lengths))) for _ in range(_MOST_DIGITS)]


def _without_leaves(calls: tuple[Call, ...], subject: Subject) -> Iterator[Call]:
    """Examples in which one value within a dictionary is None: `get` treats it as missing, and `in` does not.

    What may be omitted is given, so that a default shows.
    """
    if subject.how != "function" or not any(map(_asks_for_keys, ast.walk(subject.node))):
        return
    open_ones = {each.name for each in subject.parameters if each.annotation is None}
    spare = {each.name: _DEFAULT for each in subject.parameters if each.default is not None and each.name[0] != "*"}
    for call in calls[:_BEHIND]:
        bound = call.bindings()
        if call.origin != "example" or set(bound) != set(call.names):
            continue
        for name in open_ones & bound.keys():
            value = literal(bound[name])
            made = _each_leaf(value) if isinstance(value, dict) else ()
            yield from (call_of(subject, {**spare, **bound, name: text_of(new)}, "near an example") for new in made)


def _asks_for_keys(node: ast.AST) -> bool:
    is_in = isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn)
    return is_in or (isinstance(node, ast.Attribute) and node.attr == "get")


def _each_leaf(value: dict[Any, Any]) -> Iterator[dict[Any, Any]]:
    """The dictionary with each of its values as None, one at a time."""
    for key, item in list(value.items())[:_LEAVES]:
        inner = _each_leaf(item) if isinstance(item, dict) else [None]
        yield from ({**value, key: new} for new in inner)


def _each(calls: tuple[Call, ...], changes: list[LiteralChange]) -> Iterator[Call]:
    """A call changed in each of these ways, a different one each time as long as there are some."""
    first = calls[:_BEHIND]
    values = [{name: literal(text) for name, text in call.bindings().items()} for call in first]
    fitting = itertools.cycle(zip(first, values, strict=True))
    for change in changes:
        tried = (_changed(*next(fitting), change) for _ in first)
        yield from itertools.islice((each for each in tried if each is not None), 1)


def _changed(call: Call, values: Mapping[str, Any], change: LiteralChange) -> Call | None:
    tried = ((name, change(name, value)) for name, value in values.items())
    made = call.with_bindings({name: new for name, new in tried if new is not None})
    origin = "near an example" if call.origin == "example" else call.origin
    return None if made == call else replace(made, origin=origin)


def _of_texts(pair: tuple[str, str], free: set[str]) -> LiteralChange:
    turns = itertools.cycle(pair)
    return lambda name, value: text_of(next(turns)) if name in free and isinstance(value, str) else None


def _of_number(number: int, free: set[str]) -> LiteralChange:
    return lambda name, value: text_of(number) if name in free and type(value) is int else None


def _of_items(item: Any, open_ones: set[str]) -> LiteralChange:
    return lambda name, value: text_of([item, *value]) if name in open_ones and isinstance(value, list) else None


def _of_tuples(open_ones: set[str]) -> LiteralChange:
    return lambda name, value: text_of(tuple(value)) if name in open_ones and isinstance(value, list) else None


def _of_kind(text: str, open_ones: set[str]) -> LiteralChange:
    return lambda name, value: text if name in open_ones and value is not None else None


def _of_leaves(text: str, open_ones: set[str]) -> LiteralChange:
    return lambda name, value: (
        text_of(_with_leaves(value, text)) if name in open_ones and isinstance(value, list | dict) and value else None
    )


def _with_leaves(value: Any, text: str) -> Any:
    """A value with a text in place of each number in it."""
    if isinstance(value, list):
        return [_with_leaves(each, text) for each in value]
    if isinstance(value, dict):
        return {key: _with_leaves(each, text) for key, each in value.items()}
    return text if type(value) in (int, float) else value


def _of_none(enums: set[str]) -> LiteralChange:
    return lambda name, _: "None" if name in enums else None
