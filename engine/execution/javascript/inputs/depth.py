"""Inputs on which recursion runs out of stack, for code that became recursive."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.rows import GUESSED
from stet_ls.validators.source import Source
from stet_ls.validators.structure import units

_ITEMS = 15_000
"""More than the frames of a small function that Node's stack holds."""
_MOST = 6
_VALUE = re.compile(r"[\d.]+|\".*?\"|\[.*\]")
_BINDING = re.compile(r"^(const \w+ = )(.+)$", re.MULTILINE)


def with_deep_calls(calls: tuple[Call, ...], texts: tuple[str, str], language: str, unit: str) -> tuple[Call, ...]:
    """The calls; first of all, if the new text recurs where the old one does not, some that are deep."""
    before, after = texts
    if not _recursive(after, language) - _recursive(before, language):
        return calls
    return (*_deep_nodes(after, unit), *_deep_calls(calls), *calls)


def _recursive(text: str, language: str) -> frozenset[str]:
    """The functions of a text that call themselves: the unit, or one that the unit uses."""
    source = Source(text)
    return frozenset(
        each.name
        for each in units(source, language)
        if each.body is not None and re.search(rf"(?<![\w$]){re.escape(each.name)}\(", source.slice(each.body))
    )


def _deep_calls(calls: tuple[Call, ...]) -> Iterator[Call]:
    """Some of the calls, with arguments that are longer or larger."""
    made: dict[str, Call] = {}
    for call in calls:
        setup = _BINDING.sub(lambda match: match[1] + _larger(match[2]), call.setup)
        if setup != call.setup and "obj" not in call.names:
            made.setdefault(_VALUE.sub("_", call.setup), replace(call, setup=setup, origin=GUESSED))
        if len(made) == _MOST:
            break
    yield from made.values()


def _deep_nodes(text: str, unit: str) -> Iterator[Call]:
    """A call with a node that leads to another one, and so on, if the unit calls itself with its field."""
    names = dict.fromkeys(re.findall(rf"(?<![\w$.]){re.escape(unit)}\(\w+\??\.(\w+)\)", text))
    for name in names:
        setup = f"let node = null;\nfor (let i = 0; i < {_ITEMS}; i += 1) node = {{ {name}: node, value: i }};"
        yield Call(setup, f"__out__({unit}(node))", (), GUESSED, "console.log")


def _larger(text: str) -> str:
    if re.fullmatch(r"\d+", text):
        return str(_ITEMS)
    if text.startswith("[") and text != "[]":
        return f"Array({_ITEMS}).fill({text}).flat(1).slice(0, {_ITEMS})"
    if re.fullmatch(r'"[^"\\]+"', text):
        return f"{text}.repeat({_ITEMS // (len(text) - 2)})"
    return text
