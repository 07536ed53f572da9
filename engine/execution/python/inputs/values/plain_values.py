"""Strategies of plain values by the name of their kind: numbers, texts, dates, functions; and of lists of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from stet_ls.engine.execution.inputs import strategies as st
from stet_ls.engine.execution.inputs.mutations import text_of
from stet_ls.engine.execution.python.inputs.subject import Module, Parameter
from stet_ls.engine.execution.python.inputs.values.texts.word_texts import (
    CLOCKS,
    LINKS,
    MOST_UNITS,
    commands,
    structured,
)
from stet_ls.validators.ast_text import literal_eval

TextStrategy = st.SearchStrategy[str]

# An alphabet of few letters: values coincide, and Unicode tables are not built.
LETTERS = list("abcABxyz0159 _-.,!()[]{}:/'\"\n\té")
LINES = ["", "a", "  ", "  b c", "\tab-c, d.", "    A=1", "--x", "1,2", "# a", "a:80", "12:30", "2024-02-29", "k=v&k=w"]
_LONGEST_PART = 3
MOST_KEYS = 8
MANY, FEW = 8, 4
"""The most items of a list, and of one of several."""
KEY = re.compile(r"'[A-Za-z_]\w*'")
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
LABELS = ("'a'", "'b'", "'cd'", "'B'", "''", "'a b'")


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
    own += [repr(text[1:-1].title()) for text in own if KEY.fullmatch(text) and text.islower()][:MOST_KEYS]
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
    "Label": lambda known: st.sampled_from(LABELS[:4]),
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
_WRITTEN = {
    "list": "[{}]",
    "iterable": "[{}]",
    "later": "__later__([{}])",
    "set": "set([{}])",
    "frozenset": "frozenset([{}])",
    "tuple": "tuple([{}])",
    "deque": "__import__('collections').deque([{}])",
}


def lists(item: TextStrategy, kind: str = "list", *, most: int = MANY) -> TextStrategy:
    """Sequences and sets of at most so many items, with occasional repetitions."""
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
