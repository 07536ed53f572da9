"""Infers the values of parameters from a run with doubles in their place (`inside/values/doubles.py`).

So a list of dictionaries of dictionaries is found whatever calls lead to its keys. What acts, such as a database handle
or an HTTP client, stays a double: its calls are compared.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from stet_ls.engine.execution.harness_run import Call, CallOutcome
from stet_ls.engine.execution.inputs import strategies as st
from stet_ls.engine.execution.inputs.mutations import with_shared_elements, with_shared_keys
from stet_ls.engine.execution.inputs.rows import DOUBLE, GUESSED, ArgumentRow
from stet_ls.engine.execution.python.inputs.draw import drawn_rows
from stet_ls.engine.execution.python.inputs.subject import Module, Parameter, Subject
from stet_ls.engine.execution.python.inputs.values import plain_values, type_strategies
from stet_ls.engine.execution.python.inputs.values.kinds.kind_names import BOUNDS, METHODS, named_kind
from stet_ls.engine.execution.python.inputs.values.kinds.used_kinds import kinds_by_use
from stet_ls.engine.execution.python.inputs.values.objects.collaborators import MADE
from stet_ls.engine.execution.python.inputs.values.plain_values import ModuleContext, TextStrategy
from stet_ls.engine.execution.python.inputs.values.texts.time_texts import time_texts
from stet_ls.engine.execution.python.inputs.values.type_strategies import is_mapping, of_hint, value_of_mapping
from stet_ls.engine.execution.python.inputs.values.untyped_params import of_parameter
from stet_ls.validators.ast_text import literal_eval

_SEEDS, ROWS, _DOUBLES, _MOST_TEXTS = 4, 100, 40, 12
_STEP = re.compile(r"\.\w+|\(\)|\[(?:'(?:[^'\\]|\\.)*'|[^\]]*)\]")
_DEEPEST = 12
"""Steps into a value: code that calls itself on each item continues until the stack is full."""
_DEEP, _IN_DEEP = 3, 3
"""From so many levels of lists in the items of a list, it has so many items at most: a tree would have thousands."""
_LONG = 4_000
"""Longer arguments take long to write, to read and to run; they are left out if they are few."""
OF_DICTS = {"get", "items", "keys", "values", "setdefault"}
OF_LISTS = {"append", "extend", "insert", "sort", "reverse", "copy", "index", "count", "pop", "remove", "clear"}
"""Methods of dictionaries, and of lists."""
EQUALS = "equals "
"""Of what is compared with the text that follows."""
EMPTY, OPTIONAL, MATCHED = "empty", "optional", "matched"
"""Of what is iterated over nothing, of a key that may be missing or its value empty, and of what is compared with
another part of an argument.
"""
LATER, PARSED, NOTHING = "later", "parsed", "nothing"
"""Of what is iterated over asynchronously, of what a number is made of, and of a node of a tree that may be missing."""
TIME = "time "
"""Of a text of a time, in the format that follows."""
_NUMERALS = ("'5'", "'12'", "7", "'0'", "'x'")
"""The last one is none."""
_FEW = {False: ("1", "2"), True: ("'a'", "'b'")}
"""Values of what is matched: they have to coincide now and then."""
_ACTS = {"call", "with", "set", "await"}
_LISTED = frozenset({"iter", "len", "slice"})
_EXPECTS_TEXT = re.compile(r"(expected|must be|argument|concatenate|not) .*\b(str|string|bytes)\b")


@dataclass
class ValueUses:
    """The uses of one value, and of its parts by the step to them."""

    kinds: set[str] = field(default_factory=set)
    parts: dict[str, ValueUses] = field(default_factory=dict)

    def at(self, steps: Iterable[str]) -> ValueUses:
        """A part; a new one if it was not used yet."""
        found = self
        for step in steps:
            found = found.parts.setdefault(step, ValueUses())
        return found

    @property
    def fields(self) -> dict[str, ValueUses]:
        """Attributes by name."""
        return {step[1:]: part for step, part in self.parts.items() if step[0] == "."}

    @property
    def items(self) -> dict[str, ValueUses]:
        """What is subscripted, by the text of its key; "" for what is iterated over."""
        return {step[1:-1]: part for step, part in self.parts.items() if step[0] == "["}

    @property
    def named_parts(self) -> dict[str, ValueUses]:
        """The parts that a name or a key leads to."""
        return {step: part for step, part in self.parts.items() if step[0] == "." or step.startswith("['")}

    @property
    def acts(self) -> bool:
        """Whether it, a part of it that is no method of a list or the like, or a method's result is called, entered or
        set.
        """
        known = METHODS.keys() | OF_DICTS | OF_LISTS
        fields = (part.parts.get("()", ValueUses()) if name in known else part for name, part in self.fields.items())
        return bool(self.kinds & _ACTS) or any(each.acts for each in fields)

    def merged(self, other: ValueUses) -> ValueUses:
        """The uses of both, as of two items of a list."""
        steps = dict.fromkeys((*self.parts, *other.parts))
        return ValueUses(
            self.kinds | other.kinds,
            {step: self.parts.get(step, ValueUses()).merged(other.parts.get(step, ValueUses())) for step in steps},
        )


def probing_calls(subject: Subject, texts: Collection[str]) -> tuple[Call, ...]:
    """Calls with doubles for all parameters; where the paths `texts` lead to a parameter or its items, with texts."""
    from stet_ls.engine.execution.python.inputs.calls import call_of

    def value(name: str, seed: int) -> str:
        if name in texts:
            return repr(f"a{seed} b")
        return repr([f"a{seed}", "b c"]) if f"{name}[]" in texts else f"{MADE}{name!r}, {seed})"

    given = [each for each in subject.parameters if each.name[0] != "*" and each.default is None]
    return tuple(
        call_of(subject, {each.name: value(each.name, seed) for each in given}, GUESSED) for seed in range(_SEEDS)
    )


def wanted_texts(outcomes: Iterable[CallOutcome]) -> set[str]:
    """The paths at which calls failed because a text was wanted."""
    failed = (each for each in outcomes if each.error == "TypeError" and _EXPECTS_TEXT.search(each.message))
    return {path for each in failed for path in each.uses.get("", ())}


def uses_of(outcomes: Iterable[CallOutcome], texts: Collection[str]) -> ValueUses:
    """All uses in a run by parameter, with the uses as text that `texts` name."""
    whole = ValueUses()
    found = [(path, set(kinds)) for outcome in outcomes for path, kinds in outcome.uses.items()]
    for path, kinds in (*found, *((path, {"text"}) for path in texts)):
        name = re.match(r"\w+", path)
        if name and len(steps := _STEP.findall(path[name.end() :])) <= _DEEPEST:
            whole.at((name[0], *steps)).kinds.update(kinds)
    _end(whole, frozenset())
    return whole


def _end(uses: ValueUses, above: frozenset[str]) -> None:
    """Ends trees where the run went no deeper: with nodes of one more level, whose own lists of nodes are empty."""
    ended = {step: part for step, part in uses.parts.items()
             if step in above and not any(each.kinds - {""} or each.parts for each in part.parts.values())}  # fmt: skip
    plain = {step: part for step, part in uses.parts.items() if step not in above}
    leaf = ValueUses(set(uses.kinds), {**plain, **{step: ValueUses({*ended[step].kinds, EMPTY}) for step in ended}})
    for step, part in uses.parts.items():
        if step not in ended:
            _end(part, above | {step} if len(step) > 2 else above)
        elif part.kinds & _LISTED:
            part.parts = {**part.parts, "[]": leaf}
        else:
            part.kinds.add(EMPTY)


def observed_calls(module: Module, subject: Subject, uses: ValueUses, constants: tuple[str, ...]) -> tuple[Call, ...]:
    """Calls with values that can be used in the observed ways."""
    from stet_ls.engine.execution.python.inputs.calls import call_of

    def strategy(each: Parameter, known: ModuleContext) -> TextStrategy:
        seen, hinted = uses.parts.get(each.name), of_hint(each.annotation, known)
        is_own = isinstance(each.annotation, ast.Name) and each.annotation.id in module.shapes
        is_own = is_own or "".join(part.capitalize() for part in each.name.split("_")) in module.shapes
        # What operands say of a number is surer than what the operation asked of a double.
        is_number = hinted is None and "int" in kinds_by_use(each.name, subject.node)[0]
        is_misread = seen is not None and is_number and bool(seen.kinds & _LISTED) and not seen.named_parts
        if seen is None or is_misread or is_own or (hinted is not None and not seen.parts):
            return of_parameter(each, subject.node, known)
        if hinted is not None and is_mapping(each.annotation):
            keys = [key for key in seen.items if key.startswith("'")]
            if not keys:
                return hinted
            if (value := value_of_mapping(each.annotation, known)) is not None:
                return st.one_of(hinted, *[type_strategies.some_keys(keys, value)] * 3)
        return _value(each.name, seen, known)

    texts = tuple(each for each in constants if each[0] in "'\"")[:_MOST_TEXTS]
    context = ModuleContext(module, of_parameter, constants, compared=texts, decimals=_rounds_decimals(module))
    seed = len(uses.parts)
    drawn = drawn_rows(subject.parameters, context, strategy, ROWS, seed)
    short = [row for row in drawn if sum(map(len, row.values())) <= _LONG]
    rows = with_shared_elements(short if len(short) >= ROWS / 2 else drawn, seed)
    rows = with_shared_keys(rows, seed)
    return tuple(dict.fromkeys(call_of(subject, row, _origin(row)) for row in rows))


def _rounds_decimals(module: Module) -> bool:
    """Whether the module rounds numbers as only decimal ones can be: the numbers in records are such."""
    return any(isinstance(each, ast.Attribute) and each.attr == "quantize" for each in ast.walk(module.tree))


def _origin(row: ArgumentRow) -> str:
    return DOUBLE if any(MADE in text for text in row.values()) else GUESSED


def _value(name: str, uses: ValueUses, known: ModuleContext) -> TextStrategy:
    """The strategy of a value of this name that is used in these ways."""
    fields, items = uses.fields, uses.items
    if LATER in uses.kinds:
        once = ValueUses(uses.kinds - {LATER}, uses.parts)
        return _value(name, once, known).map(lambda text: f"__later__({text})" if text[0] == "[" else text)
    if NOTHING in uses.kinds:
        nothing = st.just("None")
        some = ValueUses(uses.kinds - {NOTHING}, uses.parts)
        return st.one_of(nothing, _value(name, some, known), _value(name, some, known)) if uses.parts else nothing
    if EMPTY in uses.kinds and uses.kinds & {*_LISTED, "bool"}:
        return st.just("[]")
    if uses.acts or fields.keys() - METHODS.keys() - OF_DICTS - OF_LISTS:
        return _object(name, uses, known)
    is_keyed = "key" in uses.kinds and not fields.keys() & OF_LISTS
    if is_keyed and any(each.acts for each in items.values()):
        return _object(name, ValueUses({"call"}), known)
    if fields.keys() & OF_DICTS or is_keyed or any(key.startswith("'") for key in items):
        return _mapping(name, uses, known)
    return _single(uses, known) or _sequence(name, uses, known) or _leaf(name, uses, known)


def _single(uses: ValueUses, known: ModuleContext) -> TextStrategy | None:
    """Texts, and what is compared with other values; None for another kind."""
    if compared := sorted(kind.removeprefix(EQUALS) for kind in uses.kinds if kind.startswith(EQUALS)):
        return st.one_of(st.sampled_from(compared), st.sampled_from(compared), plain_values.SHORT(known))
    if forms := [kind.removeprefix(TIME) for kind in uses.kinds if kind.startswith(TIME)]:
        return time_texts(sorted(forms)[0])
    if PARSED in uses.kinds and not uses.parts:
        return st.sampled_from(_NUMERALS)
    if MATCHED in uses.kinds and not uses.parts and "number" not in uses.kinds:
        return st.sampled_from(_FEW["text" in uses.kinds])
    if "text" in uses.kinds or "str" in {METHODS.get(each) for each in uses.fields}:
        return plain_values.SHORT(known)
    return None


def _sequence(name: str, uses: ValueUses, known: ModuleContext) -> TextStrategy | None:
    """Tuples and lists; None if neither is used."""
    items = uses.items
    width = next((int(kind.split()[1]) for kind in uses.kinds if kind.startswith("unpack ")), 0)
    places = [int(key) for key in items if key.lstrip("-").isdigit()]
    if not width and places and "" not in items and not uses.kinds & {"iter", "len", "slice"}:
        width = max(each + 1 if each >= 0 else -each for each in places)
    if width:
        parts = [_value(name, items.get(str(n), ValueUses()), known) for n in range(width)]
        return st.tuples(*parts).map(lambda texts: "(" + ", ".join(texts) + ",)")
    if items or uses.fields or uses.kinds & {"iter", "len", "slice", "contains"}:
        item = ValueUses()
        for each in items.values():
            item = item.merged(each)
        most = plain_values.MANY if _levels(item) < _DEEP else _IN_DEEP
        return plain_values.lists(_value(name.removesuffix("s"), item, known), most=most)
    return None


def _levels(uses: ValueUses) -> int:
    """How many lists of lists there are in a value."""
    return bool(uses.kinds & _LISTED) + max(map(_levels, uses.parts.values()), default=0)


def _leaf(name: str, uses: ValueUses, known: ModuleContext) -> TextStrategy:
    if name in BOUNDS:
        return st.integers(*BOUNDS[name]).map(repr)
    hint = named_kind(name)
    if known.decimals and hint != "str" and not uses.kinds & {"text", "path"}:
        return st.one_of(*[plain_values.PLAIN["Decimal"](known)] * 3, plain_values.INTEGERS(known))
    if "number" in uses.kinds or hint not in ("int", "str", "float", "bool"):
        return plain_values.SHORT(known) if "path" in uses.kinds else plain_values.INTEGERS(known)
    return plain_values.PLAIN[hint](known)


def _mapping(name: str, uses: ValueUses, known: ModuleContext) -> TextStrategy:
    """A dictionary with the keys that are read, or else like the keys and values that are taken out of it."""
    keys = {key: part for key, part in uses.items.items() if key.startswith("'")}
    if keys:
        return _record({literal_eval(key): part for key, part in keys.items()}, known)
    fields = uses.fields
    pair = fields.get("items", ValueUses()).at(("()", "[]"))
    taken = (pair.parts.get("[1]"), fields.get("values", ValueUses()).at(("()",)).parts.get("[]"), uses.parts.get("[]"),
             fields.get("get", ValueUses()).parts.get("()"))  # fmt: skip
    value = next(
        (each for each in taken if each is not None and (each.parts or each.kinds - {""})), ValueUses({"number"})
    )
    key = pair.parts.get("[0]", ValueUses({"text"}))
    return plain_values.dicts(_value("key", key, known), _value(name.removesuffix("s"), value, known))


def _record(parts: Mapping[str, ValueUses], known: ModuleContext) -> TextStrategy:
    """Dictionaries with these keys; those that the code asks for with `get` are missing, or empty, now and then."""
    given = {key: _value(key, part, known) for key, part in parts.items() if OPTIONAL not in part.kinds}
    spare = {key: st.one_of(value, value, st.sampled_from(("None", "''"))) for key, part in parts.items()
             if OPTIONAL in part.kinds and (value := _value(key, part, known))}  # fmt: skip
    rows = st.fixed_dictionaries(given, optional=spare)
    return rows.map(lambda row: "{" + ", ".join(f"{key!r}: {text}" for key, text in row.items()) + "}")


_OF_FIELDS: tuple[tuple[frozenset[str], TextStrategy], ...] = (
    (
        frozenset({"days", "seconds", "microseconds"}),
        st.tuples(st.integers(-40, 400), st.integers(0, 86_399), st.sampled_from((0, 1, 500_000, 999_999)))
        .map(lambda parts: f"__import__('datetime').timedelta{parts}"),
    ),
    (
        frozenset({"numerator", "denominator"}),
        st.tuples(st.integers(-9, 20), st.integers(1, 12))
        .map(lambda parts: f"__import__('fractions').Fraction{parts}"),
    ),
)  # fmt: skip
"""Objects of the standard library by the attributes that code reads: a stand-in has these and no method."""


def _object(name: str, uses: ValueUses, known: ModuleContext) -> TextStrategy:
    """An object with the attributes that are read; a double if something of it acts; a function if it is only asked."""
    if not uses.acts and not uses.items:
        if known_object := next((made for fields, made in _OF_FIELDS if uses.fields.keys() <= fields), None):
            return known_object
        return _literal("__import__('types').SimpleNamespace(", "{}={}", ")", uses.fields, known)
    result = uses.parts.get("()", ValueUses())
    is_asked = not result.acts and bool(result.parts or result.kinds - {""})
    if is_asked and not uses.fields and not uses.kinds & {"with", "set"}:
        plain = plain_values.callables(known)
        return (
            st.one_of(*[_answering(name, result, known)] * 4, plain) if result.fields and name.isidentifier() else plain
        )
    return st.integers(0, _DOUBLES).map(lambda seed: f"{MADE}{name!r}, {seed})")


def _answering(name: str, result: ValueUses, known: ModuleContext) -> TextStrategy:
    """A double that gives an object with the attributes that the code reads of its result, and records its calls."""
    made = st.tuples(st.integers(0, _DOUBLES).map(str), _value("result", result, known))
    return made.map(lambda each: f"{MADE}{name!r}, {each[0]}, {name}={each[1]})")


def _literal(begin: str, pair: str, end: str, parts: Mapping[str, ValueUses], known: ModuleContext) -> TextStrategy:
    fixed = st.fixed_dictionaries({key: _value(key, part, known) for key, part in parts.items()})
    return fixed.map(lambda row: begin + ", ".join(pair.format(key, text) for key, text in row.items()) + end)
