"""Inputs that a docstring excludes in words: violations show nothing about the code.

`The median of at least one number` is not called with none. Code that raises on purpose, or asserts, defines itself
what happens to such inputs; then they count.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.mutations import literal, text_of
from stet_ls.engine.execution.inputs.rows import UNSURE
from stet_ls.engine.execution.inputs.stated_bounds import outside_stated_bounds
from stet_ls.engine.execution.python.inputs.docstrings.conditions import conditions
from stet_ls.engine.execution.python.inputs.docstrings.exclusions import Breaks, exclusions, numbers
from stet_ls.engine.execution.python.inputs.documented.parallel import of_fixed_size, of_one_length
from stet_ls.engine.execution.python.inputs.documented.stated_values import as_stated, named_characters, stated_values
from stet_ls.engine.execution.python.inputs.subject import (
    ClassShape,
    Function,
    Module,
    Subject,
    known_module,
    subject_of,
)
from stet_ls.engine.execution.python.inputs.values.kinds.described_items import is_plural
from stet_ls.engine.execution.python.inputs.values.kinds.kind_names import COUNTED
from stet_ls.validators.ast_text import try_parse_expression, unparse

_TEXT_OF = re.compile(
    r"(?i)[\"“'‘`][^\"”'’`]+ [^\"”'’`]*[\"”'’`]|\b(message|(?<!for a )(?<!of a )(?<!in a )text|nam(es|ing)"
    r"|says|saying|tells|telling|mention)"
    r"|\b(problems?|reasons?)\b"
)
"""What promises a text in a sentence about an error: a quotation of several words, or such a word."""
_SHAPED = re.compile(r"(?i)\brectangular\b|\b(one|the same|equal) (length|size)\b|\bequally long\b|\bsquare matrix\b")
_GROWN = re.compile(r" \* \d+\)\[:(\d+)\]$", re.MULTILINE)
"""An argument that was only made longer."""
_DISTINCT = re.compile(
    r"(?i)\ball (are )?different\b|\bwithout (doubles|duplicates)\b"
    r"|\b(holds?|has|have|contains?|with) no (doubles|duplicates)\b"
)
_SORTED = re.compile(
    r"(?i)\bsorted (lists?|arrays?|sequences?)\b"
    r"|(?<!result )\b(is|are) (already |always )?(sorted|in ascending order)\b(?! (by|in desc|desc))"
)
_UNIQUE = re.compile(
    r"(?i)\b(\w+?)s (?:(?:are|is) (?:all )?(?:unique|distinct|different)|(?:of \w+ )?differ)\b"
    r"|\bno (\w+) is \w+ twice\b"
)
"""`Ids are unique`, `ids of customers differ`: no two items have the same one."""
_PATH = re.compile(r"(?:\w+_)?(?:path|file|file_?name|folder|directory)")
_AT_LEAST_ONE = re.compile(r"(?i)\bat least (?:one|1)\b")
_CLOSED = re.compile(
    r"(?i)\b(?:every\w*|all|each)\b[^.;]*\b(?:is|are) (?:an? |also an? )?\w+ (?:itself|themselves|too|as well)\b"
)
"""`Everything needed is a target itself`: what the values of a dictionary name are its keys."""


def within_contract(calls: tuple[Call, ...], text: str, unit: str) -> tuple[Call, ...]:
    """The calls of a unit without those that its docstring excludes; examples always stay."""
    module = known_module(text)
    subject = subject_of(module, unit) if module else None
    if subject is None or _refuses_inputs(subject):
        return calls
    calls = of_fixed_size(of_one_length(calls, subject), subject)
    docstring = _docs_of(subject, module)
    docs = conditions(docstring)
    broken = exclusions(docs, "" if _asks_for_zero(subject) else docstring)
    changes: list[Callable[[Any], Any]] = [change for words, change in _REPAIRS if words.search(docs)]
    changes += [_unique_pairs] * (_UNIQUE_IDS.search(docs) is not None)
    changes += [_unique_by((each[1] or each[2]).lower()) for each in _UNIQUE.finditer(docs)]
    stated = stated_values(f"{docs} {named_characters(docstring)}", subject)
    fitting = (made for each in calls if (made := as_stated(each, stated)) is not None)
    repaired = (each if each.origin == "example" else _repaired(each, changes) for each in fitting)
    asked = _asked_below_one(subject.node)
    kept = [each for each in repaired if each.origin == "example" or not _is_excluded(each, broken, docs, asked)]
    if _SHAPED.search(docs):
        kept = [each for each in kept if not _GROWN.search(each.setup)]
    if _CLOSED.search(docs):
        kept = [each for each in kept if "dict.fromkeys(" not in each.setup]
    shape = module.shapes.get(subject.owner or subject.name) if module else None
    return tuple(dict.fromkeys(each for each in kept if shape is None or not _is_made_senseless(each, shape)))


def _docs_of(subject: Subject, module: Module | None) -> str:
    """The documentation of a unit, up to its examples, and that of its file if this is about nothing else."""
    own = (ast.get_docstring(subject.node) or "").partition(">>>")[0]
    units = [each for each in module.tree.body if isinstance(each, Function | ast.ClassDef)] if module else []
    is_alone = subject.node in units and all(each is subject.node or each.name.startswith("_") for each in units)
    whole = (ast.get_docstring(module.tree) or "").partition(">>>")[0] if module and is_alone else ""
    return f"{own}\n\n{whole}" if whole else own


_MAKING = re.compile(r"(?m)^obj = (\w+\(.*\))$")


def _is_made_senseless(call: Call, shape: ClassShape) -> bool:
    """Whether an object is created with a value that makes no sense under its parameter's name."""
    made = _MAKING.search(f"{call.setup}\n{call.body}")
    tree = try_parse_expression(made[1]) if made and call.origin in UNSURE else None
    if not isinstance(tree, ast.Call):
        return False
    given = [*zip((each.name for each in shape.init), tree.args, strict=False),
             *((each.arg or "", each.value) for each in tree.keywords)]  # fmt: skip
    return any(is_senseless(name, literal(unparse(value))) for name, value in given)


def _refuses_inputs(subject: Subject) -> bool:
    """Whether the code itself decides which numbers and sizes it takes: then violations of the docstring count."""
    names = {each.name.lstrip("*") for each in subject.parameters}
    for each in ast.walk(subject.node):
        if isinstance(each, ast.Assert):
            return True
        if isinstance(each, ast.If) and any(isinstance(part, ast.Raise) for part in (*each.body, *each.orelse)):
            parts = list(ast.walk(each.test))
            is_bound = any(isinstance(part, ast.Not) or _is_size(part) for part in parts)
            if is_bound and any(isinstance(part, ast.Name) and part.id in names for part in parts):
                return True
    return False


def _is_size(node: ast.AST) -> bool:
    is_number = isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    return is_number or (isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE))


def promised_messages(text: str, unit: str) -> tuple[str, ...]:
    """The errors of which a docstring says what their text is: `Raises KeyError with "no setting NAME"`."""
    module = known_module(text)
    subject = subject_of(module, unit) if module else None
    docs = (ast.get_docstring(subject.node) or "").partition(">>>")[0] if subject else ""
    sentences = re.split(r"(?<=[.;!?])\s+|\n\s*\n", docs)
    promising = (each for each in sentences if re.search(r"(?i)\brais(e|es|ed|ing)\b", each) and _TEXT_OF.search(each))
    return tuple(dict.fromkeys(name for each in promising for name in re.findall(r"\b[A-Z]\w+\b", each)))


_ORDERED = re.compile(r"(?i)\b(?:orders?|ordered|sorted|alphabetical(?:ly)?|first|last|follow(?:s|ing)?)\b")
_UNORDERED = re.compile(
    r"(?i)\b(?:any|no (?:particular|special|fixed|certain)?|arbitrary|some) order\b|\border (?:is|does) not\b"
)


def promises_order(text: str, unit: str) -> bool:
    """Whether a docstring speaks of an order: then that of a dictionary's keys counts."""
    module = known_module(text)
    subject = subject_of(module, unit) if module else None
    docs = (ast.get_docstring(subject.node) or "").partition(">>>")[0] if subject else ""
    return bool(_ORDERED.search(_UNORDERED.sub("", docs)))


def _repaired(call: Call, changes: Sequence[Callable[[Any], Any]]) -> Call:
    """The call with its lists changed as the docstring requires: sorted, without duplicates, of one length."""
    if not changes:
        return call
    # Where a list is described, a text among guesses takes its place.
    is_guess, has_list = call.origin in UNSURE, any(" = [" in line for line in call.setup.splitlines())
    is_listed = sorted in changes or _without_doubles in changes
    made = {}
    for name, text in call.bindings().items():
        value = literal(text)
        if (grown := _GROWN.search(text)) and text.startswith("(["):
            made[name] = _ordered(text, grown[1], changes)
        elif isinstance(value, list) or (isinstance(value, dict) and _closed in changes):
            new = value
            with suppress(TypeError):
                for change in changes:
                    new = change(new)
            made |= {} if new == value else {name: text_of(new)}
        elif isinstance(value, str) and is_guess and (is_plural(name) or not has_list) and is_listed:
            value = "".join(dict.fromkeys(value)) if _without_doubles in changes else value
            made[name] = repr("".join(sorted(value)) if sorted in changes else value)
    return call.with_bindings(made)


def _ordered(text: str, size: str, changes: Sequence[Callable[[Any], Any]]) -> str:
    """A list that was made longer by repeating it, as the docstring requires."""
    if _without_doubles in changes:
        return f"list(range({size}))"
    if _unique_pairs in changes and text.startswith("([("):
        return f"[(n, *each[1:]) for n, each in enumerate({text})]"
    return f"sorted({text})" if sorted in changes else text


def _without_doubles(value: list[Any]) -> list[Any]:
    return [each for at, each in enumerate(value) if each not in value[:at]]


def _unique_by(word: str) -> Callable[[Any], Any]:
    """Drops the dictionaries of a list whose value for a key, or for one that ends in it, an earlier one has."""

    def change(value: Any) -> Any:
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            return value
        found: dict[str, Any] = {}
        for each in value:
            key = next((key for key in each if isinstance(key, str) and key.lower().endswith(word)), None)
            found.setdefault(repr(each.get(key)), each)
        return list(found.values())

    return change


_UNIQUE_IDS = re.compile(r"(?i)\b(?:ids|keys|names|identifiers|numbers|codes) are unique\b")


def _unique_pairs(value: Any) -> Any:
    """Drops the tuples of a list whose first part an earlier one has: ids come first."""
    if not isinstance(value, list) or not all(isinstance(each, tuple) and each for each in value):
        return value
    found: dict[str, Any] = {}
    for each in value:
        found.setdefault(repr(each[0]), each)
    return list(found.values())


def _closed(value: Any) -> Any:
    """A dictionary whose lists hold keys of it alone; anything else as it is."""
    if not isinstance(value, dict):
        return value
    keys = list(value)

    def key_for(item: Any) -> Any:
        return item if item in value else keys[sum(map(ord, str(item))) % len(keys)]

    return {key: list(map(key_for, items)) if isinstance(items, list) else items for key, items in value.items()}


def _evened(rows: list[Any]) -> list[Any]:
    """Rows of the length of the first one."""
    if not all(isinstance(row, list) for row in rows) or not rows:
        return rows
    return [[*row, *rows[0]][: len(rows[0])] for row in rows]


def _squared(rows: list[Any]) -> list[Any]:
    """As many columns as rows."""
    if not all(isinstance(row, list) for row in rows):
        return rows
    return [[*row, *range(len(rows))][: len(rows)] for row in rows]


_REPAIRS = (
    (_DISTINCT, _without_doubles),
    (_SORTED, sorted),
    (_CLOSED, _closed),
    (re.compile(r"(?i)\b(the same|equal) length\b|\bequally long\b|\brectangular\b"), _evened),
    (re.compile(r"(?i)\bsquare matrix\b"), _squared),
)


_BOUNDS = (("low", "high"), ("lo", "hi"), ("lower", "upper"), ("minimum", "maximum"), ("min_value", "max_value"),
           ("done", "total"), ("current", "total"))  # fmt: skip


def _asks_for_zero(subject: Subject) -> bool:
    """Whether the code itself decides what happens to nothing: `if m == 0`, `if not rows`."""
    names = {each.name for each in subject.parameters}
    for each in ast.walk(subject.node):
        if isinstance(each, ast.Compare) and {"0"} & {unparse(side) for side in (each.left, *each.comparators)}:
            return True
        if isinstance(each, ast.UnaryOp) and isinstance(each.op, ast.Not) and getattr(each.operand, "id", "") in names:
            return True
    return False


def _asked_below_one(node: ast.AST) -> frozenset[str]:
    """The names of which the code itself asks if they are negative, or none."""
    found = (each for each in ast.walk(node) if isinstance(each, ast.Compare) and isinstance(each.left, ast.Name)
             and isinstance(each.ops[0], ast.Lt | ast.LtE) and isinstance(each.comparators[0], ast.Constant)
             and each.comparators[0].value in (0, 1))  # fmt: skip
    return frozenset(each.left.id for each in found if isinstance(each.left, ast.Name))


def _is_excluded(call: Call, broken: Sequence[Breaks], docs: str, asked: frozenset[str]) -> bool:
    """Whether a call violates the conditions of a docstring, or what its parameters' names say unless the code asks."""
    texts = call.bindings()
    values = {name: value for name, text in texts.items() if (value := literal(text)) is not None}
    repeated = [value for text in texts.values() if (value := _repeated(text)) is not None]
    return (
        any(breaks([*values.values(), *repeated]) for breaks in broken)
        or any(is_senseless(name, value, docs) for name, value in values.items() if name not in asked)
        or _is_crossed(values)
        or outside_stated_bounds(docs, values)
    )


def is_senseless(name: str, value: Any, docs: str = "") -> bool:
    """Whether a value makes no sense under its name: a negative size, no path, none of "at least one"."""
    if isinstance(value, str):
        return not value and _PATH.fullmatch(name) is not None
    if not COUNTED.fullmatch(name):
        return False
    found = list(value.values()) if isinstance(value, dict) else [value]
    is_none = type(value) is int and value == 0 and _AT_LEAST_ONE.search(docs) is not None
    return is_none or any(each < 0 for each in numbers(found))


def _repeated(text: str) -> Any:
    """Enough of an argument that was made longer by repeating it to see what is in it; None for any other."""
    grown = _GROWN.search(text)
    value = literal(text[1 : grown.start()]) if grown and text.startswith("(") else None
    return value * 3 if isinstance(value, str | list | tuple) else None


def _is_crossed(values: Mapping[str, Any]) -> bool:
    """Whether a lower bound, by its name, is above the upper one."""
    pairs = ((values.get(low), values.get(high)) for low, high in _BOUNDS)
    return any(_is_above(low, high) for low, high in pairs)


def _is_above(low: Any, high: Any) -> bool:
    are_numbers = isinstance(low, int | float) and isinstance(high, int | float)
    return (are_numbers or (isinstance(low, str) and isinstance(high, str))) and low > high
