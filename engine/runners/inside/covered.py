"""Measures which statements and branches of a project's files run, without a package, by `sys.settrace`.

A branch is one of the two ways that an `if`, a `while`, a `for` or a `case` continues. It was taken if the line that
ran next is the one it leads to. Code marked `# pragma: no cover`, docstrings and constant conditions do not count.
"""

from __future__ import annotations

import ast
import os
import sys
import threading
from types import FrameType
from typing import Any, Iterator, NamedTuple  # noqa: UP035 - for Python 3.8

from .channel import Channel

_FOREIGN = (".stet-run", "site-packages", "dist-packages", ".venv", "node_modules")
_PRAGMA = "pragma: no cover"
Arc = tuple[int, int]


class Statement(NamedTuple):
    """The lines of a statement without those of its body; it ran if one of them did."""

    first: int
    last: int


class Branch(NamedTuple):
    """One way on from the lines `first` to `last`. `to` is the line it leads to, 0 for any but `other`."""

    first: int
    last: int
    to: int
    other: int


class CoverageRun:
    """What ran of all files below the working folder, from `start` to `report`."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._folder = os.getcwd()
        self._own: dict[str, str] = {}
        self._arcs: dict[str, set[Arc]] = {}

    def start(self) -> None:
        """Begins to trace, in this thread and in those to come."""
        threading.settrace(self._entered)
        sys.settrace(self._entered)

    def report(self) -> None:
        """Stops and reports each file that ran."""
        stopped = sys.gettrace() != self._entered
        sys.settrace(None)
        threading.settrace(None)
        if stopped:
            why_not = "the tests replaced the tracer that measures it"
            self._channel.say("coverage", why_not=why_not)
            return
        lines: dict[str, list[int]] = {}
        missing: dict[str, list[int]] = {}
        taken: dict[str, list[Arc]] = {}
        untaken: dict[str, list[Arc]] = {}
        for name, arcs in sorted(self._arcs.items()):
            try:
                with open(name, "rb") as file:
                    text = file.read().decode("utf-8", "replace")
                statements, branches = parts(text)
            except (OSError, SyntaxError, ValueError, RecursionError) as error:
                self._channel.say("note", text=f"{name}: {error}")
                continue
            ran = {to for _, to in arcs}
            hit = {one.first for one in statements if ran.intersection(range(one.first, one.last + 1))}
            lines[name] = sorted(hit)
            missing[name] = sorted({one.first for one in statements} - hit)
            gone = [one for one in branches if ran.intersection(range(one.first, one.last + 1))]
            taken[name] = [(one.first, one.to) for one in gone if _was_taken(one, arcs)]
            untaken[name] = [(one.first, one.to) for one in gone if not _was_taken(one, arcs)]
        self._channel.say("coverage", lines=lines, missing=missing, taken=taken, untaken=untaken)

    def _path(self, name: str) -> str:
        """The path of a project's file below the working folder, "" for any other."""
        if name not in self._own:
            path = os.path.relpath(os.path.realpath(name), os.path.realpath(self._folder))
            is_ours = not path.startswith("..") and not os.path.isabs(path) and not name.startswith("<")
            self._own[name] = path if is_ours and not any(part in path.split(os.sep) for part in _FOREIGN) else ""
        return self._own[name]

    def _entered(self, frame: FrameType, event: str, argument: object) -> Any:
        path = self._path(frame.f_code.co_filename)
        if not path:
            return None
        arcs = self._arcs.setdefault(path, set())
        last = 0

        def within(frame: FrameType, event: str, argument: object) -> Any:
            nonlocal last
            if event == "line":
                arcs.add((last, frame.f_lineno))
                last = frame.f_lineno
            elif event == "return":
                arcs.add((last, 0))
            elif event == "exception" and not _ends_loop(argument):
                last = 0  # where it continues is not the way of a branch
            return within

        return within


def _ends_loop(argument: object) -> bool:
    kind = argument[0] if isinstance(argument, tuple) else None
    return isinstance(kind, type) and issubclass(kind, (StopIteration, StopAsyncIteration))


def _was_taken(branch: Branch, arcs: set[Arc]) -> bool:
    own = range(branch.first, branch.last + 1)
    return any(
        start in own and to not in own and (to == branch.to if branch.to else to != branch.other) for start, to in arcs
    )


def parts(text: str) -> tuple[list[Statement], list[Branch]]:
    """The statements and the branches of a text that count. SyntaxError if it does not parse."""
    rows = text.splitlines()
    statements: list[Statement] = []
    branches: list[Branch] = []
    open_ones: list[ast.AST] = [ast.parse(text)]
    while open_ones:
        node = open_ones.pop()
        if isinstance(node, ast.stmt):
            first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
            if any(_PRAGMA in row for row in rows[first - 1 : node.lineno]):
                continue
            if not _is_silent(node):
                statements.append(Statement(first, _end(node)))
            branches += _branches(node)
        open_ones += ast.iter_child_nodes(node)
    return sorted(statements), sorted(branches)


def _is_silent(node: ast.stmt) -> bool:
    """Docstrings, constants and declarations, which do nothing."""
    constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return constant or isinstance(node, (ast.Global, ast.Nonlocal))


def _end(node: ast.stmt) -> int:
    body = getattr(node, "body", None)
    if isinstance(body, list) and body:
        return max(node.lineno, _first(body[0]) - 1)
    if hasattr(node, "cases"):
        return node.lineno
    return int(node.end_lineno or node.lineno)


def _first(node: Any) -> int:
    return min([int(node.lineno), *(int(each.lineno) for each in getattr(node, "decorator_list", ()))])


def _branches(node: ast.stmt) -> Iterator[Branch]:
    """The ways on; none for a condition that is a constant, or whose body is in its own line."""
    if isinstance(node, (ast.If, ast.While)) and not isinstance(node.test, ast.Constant):
        yield from _two(node.lineno, int(node.test.end_lineno or node.lineno), node.body, node.orelse)
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        yield from _two(node.lineno, int(node.iter.end_lineno or node.lineno), node.body, node.orelse)
    for case in getattr(node, "cases", ()):
        refuted = case.pattern.__class__.__name__ == "MatchAs" and case.pattern.pattern is None and case.guard is None
        if not refuted:
            last = case.guard or case.pattern
            yield from _two(case.pattern.lineno, int(last.end_lineno), case.body, ())


def _two(first: int, last: int, body: Any, orelse: Any) -> Iterator[Branch]:
    inside = _first(body[0])
    if inside <= last:
        return
    yield Branch(first, last, inside, 0)
    yield Branch(first, last, _first(orelse[0]) if orelse and _first(orelse[0]) > last else 0, inside)
