"""Strategies of values for type hints. The values are texts, so that they can name the module's own classes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from stet_ls.engine.execution.inputs import strategies as st
from stet_ls.engine.execution.python.inputs.arguments import arguments
from stet_ls.engine.execution.python.inputs.subject import Parameter
from stet_ls.engine.execution.python.inputs.values.kinds.dates import compares, ends_of, in_order
from stet_ls.engine.execution.python.inputs.values.kinds.described_items import is_plural
from stet_ls.engine.execution.python.inputs.values.kinds.kind_names import named_kind
from stet_ls.engine.execution.python.inputs.values.plain_values import (
    FEW,
    INTEGERS,
    KEY,
    LABELS,
    MANY,
    MOST_KEYS,
    PLAIN,
    SHORT,
    ModuleContext,
    TextStrategy,
    awaited_callables,
    callables,
    dicts,
    lists,
)
from stet_ls.engine.execution.python.inputs.values.texts.word_texts import commands
from stet_ls.validators.ast_text import try_parse_expression, unparse

_DEEPEST = 3


def of_hint(hint: ast.expr | None, known: ModuleContext) -> TextStrategy | None:
    """The strategy of a hint; None for one without meaning here (Any, a foreign class)."""
    if hint is None or known.depth > 6:
        return None
    if isinstance(hint, ast.Constant):
        return _of_constant(hint, known)
    if isinstance(hint, ast.BinOp) and isinstance(hint.op, ast.BitOr):
        return _union([hint.left, hint.right], known)
    if isinstance(hint, ast.Subscript):
        inner = hint.slice.elts if isinstance(hint.slice, ast.Tuple) else [hint.slice]
        return _generic(_name(hint.value), inner, known)
    return _plain(_name(hint), known)


def is_mapping(hint: ast.expr | None) -> bool:
    """Whether a hint is that of a dictionary, whatever is in it."""
    head = hint.value if isinstance(hint, ast.Subscript) else hint
    return head is not None and _CONTAINERS.get(_name(head)) == "dict"


def value_of_mapping(hint: ast.expr | None, known: ModuleContext) -> TextStrategy | None:
    """The strategy of the values of a mapping, as `Mapping[str, str]` says; None if nothing says it."""
    inner = hint.slice.elts if isinstance(hint, ast.Subscript) and isinstance(hint.slice, ast.Tuple) else []
    is_any = bool(inner) and _name(inner[-1]) in ("Any", "object")
    return None if len(inner) != 2 or is_any else of_hint(inner[1], known.deeper())


def some_keys(keys: Sequence[str], value: TextStrategy) -> TextStrategy:
    """Dictionaries with some of these keys, which are literals."""
    rows = st.fixed_dictionaries({}, optional=dict.fromkeys(keys, value))
    return rows.map(lambda row: "{" + ", ".join(f"{key}: {text}" for key, text in row.items()) + "}")


def _of_constant(hint: ast.Constant, known: ModuleContext) -> TextStrategy | None:
    if hint.value is None:
        return st.just("None")
    if isinstance(hint.value, str):
        return of_hint(try_parse_expression(hint.value), known.deeper())
    return None


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _union(hints: Sequence[ast.expr], known: ModuleContext) -> TextStrategy | None:
    options = [each for hint in hints if (each := of_hint(hint, known)) is not None]
    return st.one_of(options) if options else None


def _plain(name: str, known: ModuleContext) -> TextStrategy | None:
    if name in PLAIN:
        return PLAIN[name](known)
    if name in _CONTAINERS:
        return _generic(name, [], known)
    if name in known.module.shapes:
        return class_objects(name, known)
    if name in known.module.values:
        value = known.module.values[name]
        if isinstance(value, ast.Call) and _name(value.func) == "TypeVar":
            return INTEGERS(known)
        if isinstance(value, ast.Call) and _name(value.func) == "NewType" and len(value.args) == 2:
            return of_hint(value.args[1], known.deeper())
        return of_hint(value, known.deeper())
    return None


def _generic(name: str, inner: Sequence[ast.expr], known: ModuleContext) -> TextStrategy | None:
    below = known.deeper()
    if name in ("Optional", "Union"):
        options = _union(inner, known)
        return st.one_of(options, st.just("None")) if options is not None and name == "Optional" else options
    if name in ("Annotated", "Final", "ClassVar", "Required", "NotRequired"):
        return of_hint(inner[0], known) if inner else None
    if name == "Literal":
        return st.sampled_from([unparse(each) for each in inner]) if inner else None
    if name == "Callable":
        result = inner[1] if len(inner) == 2 else None
        is_awaited = isinstance(result, ast.Subscript) and _name(result.value) in ("Awaitable", "Coroutine")
        return awaited_callables(known) if is_awaited else callables(known)
    if name == "Type" or name == "type":
        return None
    kind = _CONTAINERS.get(name)
    if kind is None and _plain(name, below) is None and len(inner) == 2:
        kind = "dict"  # a foreign generic class with two parameters is most often a mapping
    if kind is None:
        return _plain(name, below)
    if kind == "dict":
        return _mapping(name, inner, known)
    if kind == "tuple" and inner and not isinstance(inner[-1], ast.Constant):
        parts = [of_hint(each, below) for each in inner]
        if any(part is None for part in parts):
            return None
        return st.tuples(*[part for part in parts if part is not None]).map(lambda items: "(" + ", ".join(items) + ",)")
    item = _inner(inner, 0, below, INTEGERS(known))
    most = FEW if known.depth else MANY
    made = lists(item, kind, most=most)
    if known.compared and inner and _name(inner[0]) == "str":  # a program runs only as far as its first wrong word
        return st.one_of(made, lists(commands(known.compared, known.constants), kind, most=most))
    return made


def _mapping(name: str, inner: Sequence[ast.expr], known: ModuleContext) -> TextStrategy | None:
    """Dictionaries of a kind; without hints of keys and values, mostly records with the keys in the code."""
    key = _inner(inner, 0, known.deeper(), SHORT(known))
    value = of_hint(inner[1], known.deeper()) if len(inner) > 1 else INTEGERS(known)
    if name == "Counter":
        value = st.integers(0, 5).map(repr)
    if value is None:
        return None
    any_one, keys = dicts(key, value, name), [] if inner else _named_keys(known)
    return st.one_of(*[_record(keys)] * 5, any_one) if keys else any_one


def _named_keys(known: ModuleContext) -> list[str]:
    """The texts in the code that can be keys of a record."""
    return [text for text in known.constants if KEY.fullmatch(text)][:MOST_KEYS]


def _record(keys: Sequence[str]) -> TextStrategy:
    """Dictionaries with these keys, and for each of them values of the kind that its name suggests."""

    def value(key: str) -> TextStrategy:
        kind = named_kind(key) or ("list[int]" if is_plural(key) else "")
        if kind == "str":
            return st.sampled_from(LABELS)
        return st.integers(0, 9).map(repr) if kind in ("", "int", "float") else of_kind(kind)

    def of_kind(kind: str) -> TextStrategy:
        items = st.one_of(st.integers(0, 9).map(repr), st.sampled_from(keys))
        return st.sampled_from(("True", "False")) if kind == "bool" else lists(items, most=FEW)

    fixed = st.fixed_dictionaries({text: value(text[1:-1]) for text in keys})
    return fixed.map(lambda row: "{" + ", ".join(f"{key}: {each}" for key, each in row.items()) + "}")


def _inner(inner: Sequence[ast.expr], at: int, known: ModuleContext, otherwise: TextStrategy) -> TextStrategy:
    found = of_hint(inner[at], known) if len(inner) > at else None
    return otherwise if found is None else found


def class_objects(name: str, known: ModuleContext) -> TextStrategy | None:
    """Objects of one of the module's classes."""
    shape = known.module.shapes[name]
    if shape.members:
        return st.sampled_from([f"{name}.{member}" for member in shape.members])
    if shape.abstract or known.depth > _DEEPEST:
        return None
    given = of_parameters(shape.init, known.deeper(), lambda each, below: below.of_parameter(each, shape.node, below))
    ends = ends_of([each.name for each in shape.init])
    if ends and not compares(known.module.tree, ends):
        given = given.map(lambda row: in_order(row, ends))
    return given.map(lambda row: f"{name}({arguments(shape.init, row)})")


def of_parameters(
    parameters: Sequence[Parameter], known: ModuleContext, strategy: Callable[[Parameter, ModuleContext], TextStrategy]
) -> st.SearchStrategy[dict[str, str]]:
    """Rows of arguments. Parameters with a default are left out now and then."""
    given = {each.name: strategy(each, known) for each in parameters if each.default is None}
    spare = {each.name: strategy(each, known) for each in parameters if each.default is not None}
    return st.fixed_dictionaries(given, optional=spare)


_CONTAINERS = {
    **dict.fromkeys(("list", "List", "Sequence", "MutableSequence", "Collection", "Reversible"), "list"),
    **dict.fromkeys(("Iterable", "Iterator", "Generator"), "iterable"),
    **dict.fromkeys(("AsyncIterable", "AsyncIterator", "AsyncGenerator"), "later"),
    **dict.fromkeys(("set", "Set", "AbstractSet", "MutableSet"), "set"),
    **dict.fromkeys(("frozenset", "FrozenSet"), "frozenset"),
    **dict.fromkeys(("tuple", "Tuple"), "tuple"),
    **dict.fromkeys(("deque", "Deque"), "deque"),
    **dict.fromkeys(("dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "DefaultDict", "Counter"), "dict"),
}
