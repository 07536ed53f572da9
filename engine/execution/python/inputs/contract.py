"""Inputs that a docstring excludes in words: violations show nothing about the code.

`The median of at least one number` is not called with none. Code that raises on purpose, or asserts, defines itself
what happens to such inputs; then they count.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.mutations import literal
from stet_ls.engine.execution.inputs.rows import UNSURE
from stet_ls.engine.execution.inputs.stated_bounds import outside_stated_bounds
from stet_ls.engine.execution.python.inputs.documented.contract_repairs import (
    CLOSED,
    GROWN,
    SHAPED,
    changes_for,
    repaired,
)
from stet_ls.engine.execution.python.inputs.documented.parallel import of_fixed_size, of_one_length
from stet_ls.engine.execution.python.inputs.documented.stated_values import as_stated, named_characters, stated_values
from stet_ls.engine.execution.python.inputs.subject import ClassShape, Subject, known_module, subject_of
from stet_ls.engine.execution.python.inputs.values.kinds.kind_names import COUNTED
from stet_ls.validators.ast_text import try_parse_expression, unparse

Breaks = Callable[[list[Any]], bool]
"""Whether the values of one call violate such words."""


def numbers(values: list[Any]) -> Iterator[float]:
    """The numbers among values and in their lists and tables."""
    for value in values:
        if isinstance(value, int | float):
            yield value
        elif isinstance(value, list | tuple):
            yield from numbers(list(value))
        elif isinstance(value, dict):
            yield from numbers(list(value.values()))


def _groups(values: list[Any]) -> list[Any]:
    return [each for each in values if isinstance(each, list | tuple | str | dict | set)]


def _is_no_square(value: Any) -> bool:
    return isinstance(value, list) and any(not hasattr(row, "__len__") or len(row) != len(value) for row in value)


def _is_descending(values: list[Any]) -> bool:
    numbers = [each for each in values if isinstance(each, int | float)]
    return len(numbers) > 1 and numbers[-2] > numbers[-1]


def _is_circular(value: Any) -> bool:
    """Whether the keys of a dictionary, or the numbers of a list's items, lead back to one of them."""
    if not isinstance(value, dict | list):
        return False
    links = value if isinstance(value, dict) else dict(enumerate(value))
    for start in links:
        met, at = {start}, links[start]
        while isinstance(at, str | int) and at in links:
            if at in met:
                return True
            met.add(at)
            at = links[at]
    return False


_FROM = r"\b(?:numbers?|integers?|whole \w+) from (?:{})\b(?! to)"
_WORDS: tuple[tuple[str, Breaks], ...] = (
    (r"at least (one|1|two|three)|there (is|are) (always )?at least|(is|are|be) not empty|(never|not) empty|non-?empty",
     lambda values: any(not each for each in _groups(values))),
    (r"at least (two|2)\b", lambda values: any(len(each) < 2 for each in _groups(values))),
    (r"at least (three|3)\b", lambda values: any(len(each) < 3 for each in _groups(values))),
    (r"\b(not|never|cannot be|can't be) negative|non-?negative",
     lambda values: any(each < 0 for each in numbers(values))),
    (_FROM.format("0|zero"), lambda values: any(each < 0 for each in numbers(values))),
    (_FROM.format("1|one"), lambda values: any(each < 1 for each in numbers(values))),
    (r"\bpositive\b", lambda values: any(each <= 0 for each in numbers(values))),
    (r"(is|are|be) not zero|non-?zero", lambda values: any(each == 0 for each in numbers(values))),
    (r"(of|have) (one|the same|equal) (length|size)|equally long",
     lambda values: len({len(each) for each in _groups(values)}) > 1 or any(map(_is_ragged, values))),
    (r"\bno (circles|cycles)\b|\bacyclic\b", lambda values: any(map(_is_circular, values))),
    (r"\bsquare matrix\b", lambda values: any(map(_is_no_square, values))),
    (r"\bfirst is not (above|greater|larger|more)", _is_descending),
    (r"none of (them|which) (is )?empty", lambda values: any("" in each for each in values if isinstance(each, list))),
)  # fmt: skip


_DECIDES = re.compile(
    r"(?i)\b(whether|if|true|false|(?<!the )checks?|tests?|verif(y|ies)|counts|keeps?|filters?|removes?"
    r"|drops?|selects?|finds?)\b"
    r"|^count (the|how|all|each|every)\b|^(returns? |gets? )?the (non-?negative|positive|non-?empty|non-?zero)\b|\?$"
)
"""A sentence with such a word says what the code decides or selects by."""
_CASE = re.compile(r"(?i), (?:or |and |else |otherwise )?[^,]*\bif\b[^,]*$")
"""A last clause that says what is returned in some case: `…, -1 if it is not there.`"""
_TEXT_OF = re.compile(
    r"(?i)[\"“'‘`][^\"”'’`]+ [^\"”'’`]*[\"”'’`]|\b(message|(?<!for a )(?<!of a )(?<!in a )text|nam(es|ing)"
    r"|says|saying|tells|telling|mention)"
    r"|\b(problems?|reasons?)\b"
)
"""What promises a text in a sentence about an error: a quotation of several words, or such a word."""
_SORTED_BY = re.compile(r"(?i)\b(?:sorted|ordered|ascending) by (?:their |its )?`?(\w+)")
_PATH = re.compile(r"(?:\w+_)?(?:path|file|file_?name|folder|directory)")
_AT_LEAST_ONE = re.compile(r"(?i)\bat least (?:one|1)\b")


def _is_ragged(value: Any) -> bool:
    return isinstance(value, list | tuple) and len({len(each) for each in value if isinstance(each, list | tuple)}) > 1


def within_contract(calls: tuple[Call, ...], text: str, unit: str) -> tuple[Call, ...]:
    """The calls of a unit without those that its docstring excludes; examples always stay."""
    module = known_module(text)
    subject = subject_of(module, unit) if module else None
    if subject is None or _refuses_inputs(subject):
        return calls
    calls = of_fixed_size(of_one_length(calls, subject), subject)
    docstring = (ast.get_docstring(subject.node) or "").partition(">>>")[0]
    docs = conditions(docstring)
    broken = exclusions(docs)
    changes = changes_for(docs)
    stated = stated_values(f"{docs} {named_characters(docstring)}", subject)
    fitting = (made for each in calls if (made := as_stated(each, stated)) is not None)
    kept_promises = (each if each.origin == "example" else repaired(each, changes) for each in fitting)
    asked = _asked_below_one(subject.node)
    kept = [each for each in kept_promises if each.origin == "example" or not _is_excluded(each, broken, docs, asked)]
    if SHAPED.search(docs):
        kept = [each for each in kept if not GROWN.search(each.setup)]
    if CLOSED.search(docs):
        kept = [each for each in kept if "dict.fromkeys(" not in each.setup]
    shape = module.shapes.get(subject.owner or subject.name) if module else None
    return tuple(dict.fromkeys(each for each in kept if shape is None or not _is_made_senseless(each, shape)))


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


def exclusions(docs: str) -> list[Breaks]:
    """What violates the conditions that a text states."""
    ordered = [_is_unordered_by(each[1]) for each in _SORTED_BY.finditer(docs)]
    return [*(breaks for words, breaks in _WORDS if re.search(words, docs, re.IGNORECASE)), *ordered]


def _is_unordered_by(key: str) -> Breaks:
    """Whether a list holds dictionaries that are not in the order of a key."""

    def breaks(values: list[Any]) -> bool:
        lists = [each for each in values if isinstance(each, list) and all(isinstance(item, dict) for item in each)]
        found = ([item[key] for item in each if key in item] for each in lists)
        return any(one > other for each in found for one, other in itertools.pairwise(each)
                   if isinstance(one, int | float) and isinstance(other, int | float))  # fmt: skip

    return breaks


def conditions(docstring: str) -> str:
    """The sentences of a docstring that may state what callers guarantee.

    "Whether both have the same length" is what the code finds out, not what it is called with.
    """
    sentences = re.split(r"(?<=[.;!?])\s+", " ".join(docstring.split()))
    stated = (_CASE.sub("", each) for each in sentences)
    return " ".join(each for each in stated if not _DECIDES.search(each))


_BOUNDS = (("low", "high"), ("lo", "hi"), ("lower", "upper"), ("minimum", "maximum"), ("min_value", "max_value"),
           ("done", "total"), ("current", "total"))  # fmt: skip


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
    grown = GROWN.search(text)
    value = literal(text[1 : grown.start()]) if grown and text.startswith("(") else None
    return value * 3 if isinstance(value, str | list | tuple) else None


def _is_crossed(values: Mapping[str, Any]) -> bool:
    """Whether a lower bound, by its name, is above the upper one."""
    pairs = ((values.get(low), values.get(high)) for low, high in _BOUNDS)
    return any(_is_above(low, high) for low, high in pairs)


def _is_above(low: Any, high: Any) -> bool:
    are_numbers = isinstance(low, int | float) and isinstance(high, int | float)
    return (are_numbers or (isinstance(low, str) and isinstance(high, str))) and low > high
