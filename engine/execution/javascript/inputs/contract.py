"""Inputs that a doc comment excludes in words; the words are those of Python's docstrings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.mutations import literal
from stet_ls.engine.execution.inputs.stated_bounds import outside_stated_bounds
from stet_ls.engine.execution.javascript.inputs.subject import read_module, subject_of
from stet_ls.engine.execution.javascript.inputs.values.conversion import NotAValueError, value_of
from stet_ls.engine.execution.javascript.inputs.values.declared_kinds import is_of
from stet_ls.engine.execution.javascript.inputs.values.value_kinds import ValueKind
from stet_ls.engine.execution.python.inputs.docstrings.conditions import conditions
from stet_ls.engine.execution.python.inputs.docstrings.exclusions import Breaks, exclusions, numbers
from stet_ls.validators.source import Source
from stet_ls.validators.structure import units
from stet_ls.validators.structure.units import tree_of

_BINDING = re.compile(r"^const (\w+) = (.+)$", re.MULTILINE)
_TAGS = re.compile(r"@(?:returns?|throws)\b[^@]*|@\w+\s*\{[^}]*\}|@(?:example|see)\b[\s\S]*")
_DECIDES = re.compile(r"\bthrow\b|\bassert\b")
_WHOLE = re.compile(r"(?i)\b(?:in|of|as) whole \w+|\bwhole numbers?\b|\bintegers?\b")
_KEY = re.compile(r"([{,]\s*)([A-Za-z_$][\w$]*):")
_WORDS = {"null": "None", "true": "True", "false": "False"}


def within_contract(calls: tuple[Call, ...], text: str, language: str, unit: str) -> tuple[Call, ...]:
    """The calls of a unit without those that its documentation excludes; examples always stay.

    Code that throws decides itself what happens to such inputs.
    """
    source = Source(text)
    found = next((each for each in units(source, language) if each.qualified == unit), None)
    if found is None or _DECIDES.search(source.slice(found.span)):
        return calls
    docs = conditions(_TAGS.sub(" ", found.doc))
    broken = [*exclusions(docs), *([_is_in_parts] if _WHOLE.search(docs) else [])]
    return tuple(each for each in calls if each.origin == "example" or not _is_excluded(each, broken, docs))


def of_declared_kinds(calls: tuple[Call, ...], text: str, language: str, unit: str) -> tuple[Call, ...]:
    """The calls with arguments that TypeScript's compiler takes; all of them in JavaScript."""
    module = read_module(text, language) if language.startswith("typescript") else None
    subject = subject_of(module, unit) if module is not None else None
    if subject is None:
        return calls
    kinds = {each.name: each.kind for each in subject.parameters if each.kind.known and not each.optional}
    return tuple(each for each in calls if _are_of(each, kinds))


def _are_of(call: Call, kinds: Mapping[str, ValueKind]) -> bool:
    given = ((kinds[name], text) for name, text in _BINDING.findall(call.setup) if name in kinds)
    return all(is_of(value, kind) for kind, text in given for value in _values(text))


def _values(text: str) -> list[Any]:
    """The value of an expression, if it is a literal."""
    parsed = tree_of(Source(f"({text.removesuffix(';')})"), "typescript")
    inner = parsed.root.named_children[0].named_children if parsed is not None and parsed.root.named_children else []
    try:
        return [value_of(each) for each in inner]
    except NotAValueError:
        return []


def _is_in_parts(values: list[Any]) -> bool:
    """Whether a number is not whole."""
    return any(isinstance(each, float) and not each.is_integer() for each in numbers(values))


def _is_excluded(call: Call, broken: list[Breaks], docs: str) -> bool:
    texts = (
        (name, _KEY.sub(r'\1"\2":', re.sub(r"\b(null|true|false)\b", lambda word: _WORDS[word[0]], text)))
        for name, text in _BINDING.findall(call.setup)
    )
    values = {name: value for name, text in texts if (value := literal(text)) is not None}
    return any(breaks(list(values.values())) for breaks in broken) or outside_stated_bounds(docs, values)
