"""Strategies of values for type hints. The values are texts, so that they can name the module's own classes."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from stet_ls.engine.execution.inputs import strategies as st
from stet_ls.engine.execution.inputs.mutations import text_of
from stet_ls.engine.execution.python.inputs.arguments import arguments
from stet_ls.engine.execution.python.inputs.subject import Module, Parameter
from stet_ls.engine.execution.python.inputs.values.kinds.dates import compares, ends_of, in_order
from stet_ls.engine.execution.python.inputs.values.kinds.described_items import is_plural
from stet_ls.engine.execution.python.inputs.values.kinds.kind_names import named_kind
from stet_ls.engine.execution.python.inputs.values.texts.word_texts import (
    CLOCKS,
    LINKS,
    MOST_UNITS,
    commands,
    structured,
)
from stet_ls.validators.ast_text import literal_eval, try_parse_expression, unparse

TextStrategy = st.SearchStrategy[str]

# An alphabet of few letters: values coincide, and Unicode tables are not built.
LETTERS = list("abcABxyz0159 _-.,!()[]{}:/'\"\n\té")
LINES = ["", "a", "  ", "  b c", "\tab-c, d.", "    A=1", "--x", "1,2", "# a", "a:80", "12:30", "2024-02-29", "k=v&k=w"]
_DEEPEST = 3
_LONGEST_PART = 3
_MOST_KEYS = 8
_KEY = re.compile(r"'[A-Za-z_]\w*'")
_CALLBACKS = (
    "(lambda *given, **named: print('called', *given, *sorted(named.items())))",
    "(lambda *given, **named: print('called with', len(given) + len(named)))",
    "(lambda *given, **named: print('called', *given)"
    " or sum(map(ord, str(given))) % 3 or (_ for _ in ()).throw({error}('failed')))",
)
"""Their output shows when they are called, and with what. The last one fails for some arguments."""
_FAILING = (
    "(lambda *args, **kw: len(str(args)) if sum(map(ord, str(args))) % 3 else (_ for _ in ()).throw({error}('failed')))"
)
_FAILURE = "OSError"
_LABELS = ("'a'", "'b'", "'cd'", "'B'", "''", "'a b'")


@dataclass(frozen=True, slots=True)
class ModuleContext:
    """What is known about the module whose hints are read.

    `of_parameter` gives the strategy of a parameter of a function, with a hint or without; `constants` are texts of
    literals in the code, `matching` those of texts that its regular expressions match, `compared` those that it
    compares with, `caught` the errors that it handles; `decimals`: its numbers are `Decimal`.
    """

    module: Module
    of_parameter: Callable[[Parameter, ast.AST, ModuleContext], TextStrategy]
    constants: tuple[str, ...] = ()
    matching: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    caught: tuple[str, ...] = ()
    decimals: bool = False
    depth: int = 0

    def deeper(self) -> ModuleContext:
        """The same context, one level deeper."""
        return replace(self, depth=self.depth + 1)


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
    made = lists(item, kind, small=known.depth > 0)
    if known.compared and inner and _name(inner[0]) == "str":  # a program runs only as far as its first wrong word
        return st.one_of(made, lists(commands(known.compared, known.constants), kind, small=known.depth > 0))
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
    return [text for text in known.constants if _KEY.fullmatch(text)][:_MOST_KEYS]


def _record(keys: Sequence[str]) -> TextStrategy:
    """Dictionaries with these keys, and for each of them values of the kind that its name suggests."""

    def value(key: str) -> TextStrategy:
        kind = named_kind(key) or ("list[int]" if is_plural(key) else "")
        if kind == "str":
            return st.sampled_from(_LABELS)
        return st.integers(0, 9).map(repr) if kind in ("", "int", "float") else of_kind(kind)

    def of_kind(kind: str) -> TextStrategy:
        items = st.one_of(st.integers(0, 9).map(repr), st.sampled_from(keys))
        return st.sampled_from(("True", "False")) if kind == "bool" else lists(items, small=True)

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


def INTEGERS(known: ModuleContext) -> TextStrategy:
    """Mostly small, so that they coincide and match counts; sometimes larger; and those that the code names."""
    own = [text for text in known.constants if text.lstrip("-").isdigit()]
    options: list[TextStrategy] = [
        st.integers(0, 4).map(repr), st.integers(-10, 30).map(repr), st.integers(-1000, 1000).map(repr),
    ]  # fmt: skip
    return st.one_of([*options, st.sampled_from(own)] if own else options)


def SHORT(known: ModuleContext) -> TextStrategy:
    """Texts of a few letters, of a few lines, and those that the code names."""
    own = [text for text in known.constants if text[0] in "'\""]
    own += [repr(text[1:-1].title()) for text in own if _KEY.fullmatch(text) and text.islower()][:_MOST_KEYS]
    options: list[TextStrategy] = [
        st.lists(st.sampled_from(LINES), min_size=1, max_size=5).map("\n".join).map(repr),
        st.text(st.sampled_from("abcAB 01"), max_size=8).map(repr),
        st.text(st.sampled_from(LETTERS), max_size=14).map(repr),
    ]
    options += [st.sampled_from(known.matching)] * 3 if known.matching else []
    options += [st.sampled_from(known.compared), commands(known.compared, own)] if known.compared else []
    forms = [text for text in own if len(text) > MOST_UNITS and any(map(str.isdigit, text))]
    options += [st.sampled_from(forms)] * 2 if forms else []
    return st.one_of([*options, options[0], st.sampled_from(own), _joined(own), structured(own)] if own else options)


def _places(known: ModuleContext) -> TextStrategy:
    """Numbers of items, which lists of a few items have."""
    return st.one_of(*[st.integers(0, 2).map(repr)] * 3, INTEGERS(known))


_RUN = 3
"""Of a sign, side by side."""


def _joined(own: Sequence[str]) -> TextStrategy:
    """Texts of what the code names and of letters, side by side: one that is searched for a separator has some."""
    parts = [text for each in own if isinstance(text := literal_eval(each), str) and 0 < len(text) <= _LONGEST_PART]
    runs = [each * _RUN for each in parts if len(each) == 1 and not each.isalnum()][:_RUN]
    return st.lists(st.sampled_from([*parts, *runs, "a", "b", " ", "1"]), max_size=9).map("".join).map(repr)


def _bytes(known: ModuleContext) -> TextStrategy:
    own = [text for text in known.constants if text.startswith("b")]
    written = st.text(st.sampled_from(LETTERS), max_size=10).map(lambda each: repr(each.encode()))
    options: list[TextStrategy] = [written, st.binary(max_size=10).map(repr)]
    return st.one_of([*options, st.sampled_from(own)] if own else options)


def _floats(_: ModuleContext) -> TextStrategy:
    return st.one_of(
        st.integers(0, 2).map(float), st.integers(-10, 30).map(float),
        st.sampled_from([0.5, -0.25, 1.5, 1e6, -1e-3, float("inf"), float("nan")]), st.floats(-1000, 1000),
    ).map(text_of)  # fmt: skip


def _of_texts(*texts: str) -> Callable[[ModuleContext], TextStrategy]:
    return lambda _: st.sampled_from(texts)


def _date(kind: str, parts: str) -> Callable[[ModuleContext], TextStrategy]:
    def strategy(_: ModuleContext) -> TextStrategy:
        any_one = st.tuples(st.integers(1999, 2030), st.integers(1, 12), st.integers(1, 28), st.integers(0, 23))
        near = st.tuples(st.just(2024), st.just(2), st.integers(24, 29), st.integers(8, 12))  # each other: they meet
        return st.one_of(any_one, near, near).map(lambda each: f"__import__('datetime').{kind}({parts.format(*each)})")

    return strategy


PLAIN: dict[str, Callable[[ModuleContext], TextStrategy]] = {
    "int": INTEGERS,
    "SupportsInt": INTEGERS,
    "Index": _places,
    "float": _floats,
    "Number": _floats,
    "Real": _floats,
    "complex": lambda known: _floats(known).map(lambda each: f"complex({each}, 1)"),
    "bool": _of_texts("True", "False"),
    "str": SHORT,
    "AnyStr": SHORT,
    "Label": lambda known: st.sampled_from(_LABELS[:4]),
    "LiteralString": SHORT,
    "bytes": lambda known: _bytes(known),  # noqa: PLW0108 - it is defined below
    "bytearray": lambda known: _bytes(known).map(lambda each: f"bytearray({each})"),
    "object": lambda known: st.one_of(INTEGERS(known), SHORT(known), st.just("None")),
    "Decimal": lambda known: st.integers(-999, 9999).map(lambda each: f"__import__('decimal').Decimal('{each / 100}')"),
    "Fraction": lambda known: st.tuples(st.integers(-20, 20), st.integers(1, 12)).map(
        lambda each: f"__import__('fractions').Fraction({each[0]}, {each[1]})"
    ),
    "date": _date("date", "{}, {}, {}"),
    "datetime": _date("datetime", "{}, {}, {}, {}"),
    "timedelta": lambda known: st.integers(-100_000, 100_000).map(
        lambda each: f"__import__('datetime').timedelta(seconds={each})"
    ),
    "Path": lambda known: st.sampled_from(["a", "a/b.txt", "/x/y.tar.gz", "..", "c.d/e"]).map(
        lambda each: f"__import__('pathlib').Path({each!r})"
    ),
    "Callable": lambda known: callables(known),  # noqa: PLW0108 - it is defined below
    "AwaitedCallable": lambda known: awaited_callables(known),  # noqa: PLW0108 - it is defined below
    "Clock": lambda known: st.sampled_from(CLOCKS),
    "Links": lambda known: LINKS,
    "Loader": lambda known: st.integers(0, 40).map(lambda seed: f"__double__('loaded', {seed})"),
    "Callback": lambda known: st.sampled_from([*_CALLBACKS[:2], *_failing(_CALLBACKS[2], known)]),
}  # fmt: skip

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
_WRITTEN = {
    "list": "[{}]",
    "iterable": "[{}]",
    "later": "__later__([{}])",
    "set": "set([{}])",
    "frozenset": "frozenset([{}])",
    "tuple": "tuple([{}])",
    "deque": "__import__('collections').deque([{}])",
}


def lists(item: TextStrategy, kind: str = "list", *, small: bool = False) -> TextStrategy:
    """Sequences and sets, with occasional repetitions."""
    most = 4 if small else 8
    items = st.lists(item, max_size=most)
    repeated = st.tuples(st.lists(item, min_size=1, max_size=3), st.lists(st.integers(0, 2), max_size=most)).map(
        lambda each: [each[0][number % len(each[0])] for number in each[1]]
    )
    written = _WRITTEN[kind]
    return st.one_of(items, repeated).map(lambda texts: written.format(", ".join(texts)))


def dicts(key: TextStrategy, value: TextStrategy, name: str = "dict") -> TextStrategy:
    """Dictionaries; of the standard library's variants if the hint names one."""
    made_by = {
        "OrderedDict": "__import__('collections').OrderedDict({})",
        "Counter": "__import__('collections').Counter({})",
    }.get(name, "{}")
    pairs = st.lists(st.tuples(key, value), max_size=5)
    return pairs.map(lambda each: made_by.format("{" + ", ".join(f"{k}: {v}" for k, v in each) + "}"))


def _failing(function: str, known: ModuleContext) -> list[str]:
    """A function that fails, once with an error that nothing expects and once with each that the code handles."""
    return [function.format(error=each) for each in dict.fromkeys((_FAILURE, *known.caught))]


def callables(known: ModuleContext) -> TextStrategy:
    """Functions that accept anything, and return something about it."""
    return st.sampled_from([
        "(lambda *args, **kw: args[0] if args else None)",
        "(lambda *args, **kw: str(args))",
        "(lambda *args, **kw: len(str(args)) % 2 == 0)",
        "(lambda *args, **kw: len(str(args)))",
        "(lambda *args, **kw: None)",
        *_failing(_FAILING, known),
    ])  # fmt: skip


def awaited_callables(known: ModuleContext) -> TextStrategy:
    """Coroutine functions that accept anything, and return something about it after others that were called later."""
    return callables(known).map("__awaited__({})".format)
