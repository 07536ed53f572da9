"""Splits a text of Python tests: the tests in it, and the text without some of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from stet_ls.engine.runners import expected_tests
from stet_ls.validators.ast_text import try_parse, unparse

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class SingleTest:
    """One test. `id` is pytest's, after the file name ("test_x", "TestX::test_y"); lines count from 1."""

    id: str
    first: int
    last: int
    text: str

    @property
    def name(self) -> str:
        """The function's name."""
        return self.id.rpartition("::")[2]


def tests_in(text: str) -> tuple[SingleTest, ...]:
    """The tests of a text in its order; none if it does not parse."""
    certain = set(expected_tests.python(text))
    lines = text.splitlines(keepends=True)
    found = [
        SingleTest(name, first, last, "".join(lines[first - 1 : last]))
        for name, node in _named(text)
        if name in certain
        for first, last in (_lines(node, lines),)
    ]
    return tuple(found)


def without(text: str, dropped: Collection[str]) -> str:
    """The text without these tests, and without the classes, helpers and imports that only they needed."""
    if not dropped:
        return text
    lines = text.splitlines(keepends=True)
    gone: set[int] = set()
    tests = tests_in(text)
    for test in tests:
        if test.id in dropped:
            gone |= set(range(test.first, test.last + 1))
    for node in _body(text):
        if isinstance(node, ast.ClassDef):
            own = [test.id for test in tests if test.id.startswith(f"{node.name}::")]
            if own and all(each in dropped for each in own):
                first, last = _lines(node, lines)
                gone |= set(range(first, last + 1))
    text = _used("".join(line for at, line in enumerate(lines, 1) if at not in gone))
    return re.sub(r"\n{4,}", "\n\n\n", text).strip("\n") + "\n"


def distinct(text: str) -> str:
    """The text with unique test names: of two tests with the same name, the second hides the first."""
    lines = text.splitlines(keepends=True)
    seen: set[str] = set()
    for name, node in _named(text):
        fresh = name
        if name in seen and isinstance(node, _FUNCTIONS):
            fresh = next(f"{name}_{n}" for n in range(2, 1000) if f"{name}_{n}" not in seen)
            at = node.lineno - 1
            simple = fresh.rpartition("::")[2]
            lines[at] = re.sub(rf"\bdef\s+{node.name}\b", f"def {simple}", lines[at], count=1)
        seen.add(fresh)
    return "".join(lines)


def owner_at(text: str, line: int) -> frozenset[str] | None:
    """The tests lost if this line (from 1) fails on import: its own, or all that use its names; None if none."""
    tests = tests_in(text)
    own = [test.id for test in tests if test.first <= line <= test.last]
    if own:
        return frozenset(own)
    for node in _body(text):
        if node.lineno <= line <= (node.end_lineno or node.lineno):
            names = set(_binds(node))
            return frozenset(test.id for test in tests if names & _words(test.text)) or None
    return None


def _body(text: str) -> list[ast.stmt]:
    tree = try_parse(text)
    return tree.body if tree else []


def _named(text: str) -> Iterator[tuple[str, ast.stmt]]:
    """Functions and methods that may be tests, with their ids."""
    for node in _body(text):
        if isinstance(node, _FUNCTIONS) and node.name.startswith("test"):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for each in node.body:
                if isinstance(each, _FUNCTIONS) and each.name.startswith("test"):
                    yield f"{node.name}::{each.name}", each


def _lines(node: ast.stmt, lines: list[str]) -> tuple[int, int]:
    """The first and the last line of a definition with its decorators and the comment right above."""
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
    while first > 1 and lines[first - 2].lstrip().startswith("#"):
        first -= 1
    return first, node.end_lineno or node.lineno


def _used(text: str) -> str:
    """The text without imports and helpers that are no longer used."""
    while True:
        lines = text.splitlines(keepends=True)
        body = _body(text)
        for node in reversed(body):
            names = set(_binds(node))
            rest = "".join(unparse(each) + "\n" for each in body if each is not node)
            unused = names - _words(rest)
            is_import = isinstance(node, ast.Import | ast.ImportFrom)
            # In `a, b = 1, 2`, neither name can be removed alone.
            if not unused or _works_unnamed(node) or (unused != names and not is_import):
                continue
            first, last = _lines(node, lines)
            lines[first - 1 : last] = [_narrowed(node, unused)] if unused != names else []
            text = "".join(lines)
            break
        else:
            return text


def _works_unnamed(node: ast.stmt) -> bool:
    """True for definitions that work without being referenced: tests, test classes, autouse fixtures, settings."""
    if isinstance(node, _FUNCTIONS):
        return node.name.startswith("test") or any("autouse" in unparse(each) for each in node.decorator_list)
    if isinstance(node, ast.ClassDef):
        return any(isinstance(each, _FUNCTIONS) and each.name.startswith("test") for each in node.body)
    if isinstance(node, ast.Assign):
        return any(name.startswith(("pytest", "__")) for name in _binds(node))
    return isinstance(node, ast.ImportFrom) and (node.module == "__future__" or node.names[0].name == "*")


def _narrowed(node: ast.stmt, unused: set[str]) -> str:
    """The import without its unused names."""
    assert isinstance(node, ast.Import | ast.ImportFrom)
    node.names = [each for each in node.names if (each.asname or each.name).partition(".")[0] not in unused]
    return unparse(node) + "\n"


def _binds(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((each.asname or each.name).partition(".")[0] for each in node.names)
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))


def _words(text: str) -> set[str]:
    """All words that may refer to a name: identifiers, parameters (which request fixtures), words in strings."""
    return set(re.findall(r"[A-Za-z_]\w*", text))
