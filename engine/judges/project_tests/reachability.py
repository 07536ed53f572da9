"""Finds the names by which a test may reach a unit: a test that uses none of them proves nothing about it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from stet_ls.engine.execution.python.statements import words
from stet_ls.validators.source import Source
from stet_ls.validators.structure import imports, units
from stet_ls.validators.structure.units import Unit, captures, tree_of

_DECORATOR = re.compile(r"^[ \t]*@[ \t]*([\w.]+)", re.MULTILINE)
_HARMLESS = frozenset({
    "abstractmethod", "asynccontextmanager", "cache", "cached_property", "classmethod", "contextmanager", "dataclass",
    "deleter", "final", "getter", "lru_cache", "overload", "override", "property", "setter", "singledispatchmethod",
    "staticmethod", "total_ordering", "wraps", "Deprecated", "Override", "SuppressWarnings",
})  # fmt: skip
"""Decorators that do not pass the unit on; any other may register it somewhere."""
_NAMES_ONLY = re.compile(r"^__all__\s*=\s*[\[(][^\])=]*[\])]|^if __name__ ==.*(?:\n(?:[ \t].*)?)*", re.MULTILINE)
"""Code at the top of a module that names units without running them on import."""
_PROSE = frozenset({
    "comment", "line_comment", "block_comment", "string_content", "string_fragment", "interpreted_string_literal",
    "raw_string_literal", "string_literal", "character_literal",
})  # fmt: skip
"""Grammar nodes that name nothing. Templates and interpolations are code."""


def names_leading_to(text: str, unit: str, language: str) -> frozenset[str] | None:
    """The names in a file that lead to a unit: its own, and those of the units that use one of these.

    None if names are not enough: a decorator, or code at the top of the file, takes the unit, and it may run under any
    name.
    """
    source = Source(text)
    found = units(source, language)
    leads = _leading({unit.rpartition(".")[2], *_class_of(unit)}, source, found)
    taken = any(_registered(source.slice(each.span)) for each in found if each.name in leads)
    return None if taken or words(_top(source, found, language)) & leads else frozenset(leads)


def runs_any(test: str, text: str, names: frozenset[str], language: str) -> bool:
    """Whether a test of a file uses one of `names`, directly or through what it uses; True if it is not found."""
    source = Source(text)
    found = units(source, language)
    return all(each.name != test for each in found) or test in _leading(set(names), source, found)


def names_any(test: str, text: str, names: frozenset[str], language: str) -> bool:
    """Whether a test of a file uses one of `names`, directly or through what it uses.

    What the file calls when it is loaded counts for all of its tests; if a test is not a function, as in JavaScript,
    the whole file counts. Comments and strings name nothing.
    """
    source = _code(Source(text), language)
    found = units(source, language)
    leads = _leading(set(names), source, found)
    if any(each.name == test for each in found):
        return test in leads or bool(words(_top(source, found, language)) & leads)
    return bool(words(source.text) & leads)


def tests_naming(
    ids: Collection[str],
    names: frozenset[str],
    text: str,
    helpers: Iterable[str],
    tests: Mapping[str, str],
    language: str,
) -> frozenset[str]:
    """The tests among some that use one of `names` of a file with this `text`, or what leads to it, directly or through
    `helpers`. `tests` are the texts of the test files. Parses: not for an event loop.
    """
    for each in (text, *helpers):
        names = with_callers(each, names, language)
    return frozenset(
        each for each in ids if names_any(test_name(each), tests.get(each.partition("::")[0], ""), names, language)
    )


def test_name(identifier: str) -> str:
    """A test's own name in its id: `tests/test_a.py::TestA::test_b[1]` is `test_b`."""
    return identifier.partition("::")[2].rpartition("::")[2].partition("[")[0]


def with_callers(text: str, names: frozenset[str], language: str) -> frozenset[str]:
    """The names, and those of a file's units that use one of them, transitively; comments and strings name nothing."""
    source = _code(Source(text), language)
    return frozenset(_leading(set(names), source, units(source, language)))


def _code(source: Source, language: str) -> Source:
    """The source with blanks in place of comments and string contents."""
    parsed = tree_of(source, language)
    data = bytearray(source.data)
    for node in captures(parsed, _PROSE) if parsed is not None else ():
        data[node.start_byte : node.end_byte] = b" " * (node.end_byte - node.start_byte)
    return Source(data.decode("utf-8", "replace"))


def _leading(first: set[str], source: Source, found: tuple[Unit, ...]) -> set[str]:
    """The names, and those of the units that use one of them, transitively. Each name is visited once."""
    named_by: defaultdict[str, list[Unit]] = defaultdict(list)
    for each in found:
        if each.kind != "class":
            for word in words(source.slice(each.span)):
                named_by[word].append(each)
    leads, pending = set(first), list(first)
    while pending:
        more = {name for each in named_by[pending.pop()] for name in _names(each)} - leads
        leads |= more
        pending += more
    return leads


def _names(unit: Unit) -> set[str]:
    return {unit.name, *_class_of(unit.qualified)}


def _class_of(qualified: str) -> tuple[str, ...]:
    """The class of a special method or a constructor, which runs when the class is used."""
    around, _, name = qualified.rpartition(".")
    owner = around.rpartition(".")[2]
    special = (name.startswith("__") and name.endswith("__")) or name in ("constructor", owner)
    return (owner,) if owner and special else ()


def _registered(text: str) -> bool:
    head = text.partition("def ")[0] if "def " in text else text
    return any(name.rpartition(".")[2] not in _HARMLESS for name in _DECORATOR.findall(head))


def _top(source: Source, found: tuple[Unit, ...], language: str) -> str:
    """The text outside of units and imports."""
    parts, at = [], 0
    for span in sorted([*(each.span for each in found), *imports(source, language)], key=lambda span: span.start):
        if span.start > at:
            parts.append(source.data[at : span.start].decode("utf-8", "replace"))
        at = max(at, span.end)
    parts.append(source.data[at:].decode("utf-8", "replace"))
    return _NAMES_ONLY.sub("", "".join(parts))
