"""An edit of a function, and what the tables need to know of that function to make one."""

from __future__ import annotations

import ast
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from stet_ls.engine.execution.python.inputs.subject import Function
from stet_ls.engine.execution.python.statements import is_text
from stet_ls.validators.source import Source, Span, Splice

UNLIKELY = 99.0
"""The cost of an edit that is only a mutant."""
_QUOTED = re.compile(r"""(?<!\w)(["'])((?:(?!\1)[^\\\n]){1,40})\1""")
_COMMENT = re.compile(rb"#[^\r\n]*")


@dataclass(frozen=True, slots=True)
class SyntaxEdit:
    """One change of a text.

    splices: What it replaces; the rest of the text, its layout and its comments stay.
    change: The change in words.
    lines: The first and the last line, from 1, of the statement that it changes: one of them has to run.
    cost: How unlikely it is as a repair; the likeliest cost 1.
    mutates: It is a bug that tests should detect.
    header: The parameters after it, if it changes their defaults.
    """

    splices: tuple[Splice, ...]
    change: str
    lines: tuple[int, int]
    cost: float
    mutates: bool = False
    header: str = ""


@dataclass(frozen=True)
class EditedCode(ABC):
    """Code of a text whose nodes are edited, of any syntax tree. Positions are bytes, as in `Source`."""

    source: Source

    @abstractmethod
    def span(self, node: Any) -> Span:
        """Where a node stands."""

    @abstractmethod
    def lines(self, node: Any) -> tuple[int, int]:
        """The lines, from 1, of a node's statement."""

    def text(self, node: Any) -> str:
        """What a node is written as."""
        return self.source.slice(self.span(node))

    def replaced(self, node: Any, text: str, cost: float, change: str = "", *, mutates: bool = False) -> SyntaxEdit:
        """The edit that writes `text` in place of a node."""
        return self.at(self.span(node), text, node, cost, change, mutates=mutates)

    def at(
        self, span: Span, text: str, node: Any, cost: float, change: str = "", *, mutates: bool = False
    ) -> SyntaxEdit:
        """The edit that writes `text` at a place in the statement of `node`."""
        change = change or f"`{short_text(self.source.slice(span))}` became `{short_text(text)}`"
        return SyntaxEdit((Splice(span, text),), change, self.lines(node), cost, mutates)

    def removed(self, items: Sequence[Any], number: int, cost: float, what: str) -> SyntaxEdit:
        """The edit that removes one of several items with its comma or operator."""
        start = self.span(items[number - 1]).end if number else self.span(items[0]).start
        end = self.span(items[number]).end if number else self.span(items[1]).start
        change = f"removed {what} `{short_text(self.text(items[number]))}`".replace("  ", " ")
        return self.at(Span(start, end), "", items[number], cost, change)

    def swapped(self, left: Any, right: Any, cost: float) -> SyntaxEdit:
        """The edit that swaps two nodes."""
        splices = (Splice(self.span(left), self.text(right)), Splice(self.span(right), self.text(left)))
        words = f"`{short_text(self.text(left))}` and `{short_text(self.text(right))}` swapped"
        return SyntaxEdit(splices, words, self.lines(left), cost)


@dataclass(frozen=True)
class EditedFunction(EditedCode):
    """A function of a text, with what its repairs are made of."""

    node: Function
    parents: dict[ast.AST, ast.AST] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        parents = {child: node for node in ast.walk(self.node) for child in ast.iter_child_nodes(node)}
        object.__setattr__(self, "parents", parents)

    def span(self, node: ast.expr | ast.stmt | ast.keyword | ast.arg) -> Span:
        """Where a node stands."""
        starts, end_line, end = self.source.starts, node.end_lineno or node.lineno, node.end_col_offset or 0
        return Span(starts[node.lineno - 1] + node.col_offset, starts[end_line - 1] + end)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that holds a node."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def lines(self, node: ast.AST) -> tuple[int, int]:
        """The lines of a node's statement, of a compound one those before its body."""
        statement = self.statement(node)
        body = getattr(statement, "body", None)
        last = statement.end_lineno or statement.lineno
        if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
            last = max(statement.lineno, body[0].lineno - 1)
        return statement.lineno, last

    def symbol(self, start: int, end: int, symbol: str) -> Span | None:
        """Where an operator stands between its operands; comments there do not count."""
        gap = _COMMENT.sub(lambda found: b" " * len(found[0]), self.source.data[start:end])
        pattern = rb"\s+".join(re.escape(word).encode() for word in symbol.split())
        found = re.search(rb"\b" + pattern + rb"\b" if symbol[0].isalpha() else pattern, gap)
        return Span(start + found.start(), start + found.end()) if found else None

    @cached_property
    def docstring(self) -> ast.expr | None:
        """The node of its docstring."""
        first = self.node.body[0] if self.node.body else None
        is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        return first.value if is_text and isinstance(first, ast.Expr) and isinstance(first.value.value, str) else None  # type: ignore[attr-defined]

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Its nodes that run: without decorators, hints and documentation."""
        return tuple(self._running(self.node))

    def _running(self, node: ast.AST) -> Iterator[ast.AST]:
        yield node
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_params"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not is_text(child):
                    yield from self._running(child)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of its parameters and variables, in the order of their first use."""
        arguments = [each for node in self.nodes if isinstance(node, ast.arguments) for each in _arguments(node)]
        stored = (each.id for each in self.nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
        return tuple(dict.fromkeys([*arguments, *stored]))

    @cached_property
    def constants(self) -> tuple[object, ...]:
        """Its literals, without its documentation."""
        found = (each.value for each in self.nodes if isinstance(each, ast.Constant))
        return tuple({(type(each), each): each for each in found}.values())

    @cached_property
    def words(self) -> tuple[str, ...]:
        """What its docstring quotes, and the words of it that are written with a capital."""
        text = ast.get_docstring(self.node) or ""
        quoted = [match[2] for match in _QUOTED.finditer(text)]
        return tuple(dict.fromkeys([*quoted, *re.findall(r"\b[A-Z]\w{2,}\b", text)]))

    @cached_property
    def attributes(self) -> dict[str, tuple[str, ...]]:
        """The attributes that it uses, by the text of their object."""
        found: dict[str, dict[str, None]] = {}
        for each in self.nodes:
            if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name):
                found.setdefault(each.value.id, {})[each.attr] = None
        return {owner: tuple(names) for owner, names in found.items()}


def _arguments(node: ast.arguments) -> list[str]:
    given = [*node.posonlyargs, *node.args, *node.kwonlyargs]
    return [each.arg for each in (*given, *filter(None, (node.vararg, node.kwarg)))]


def short_text(text: str) -> str:
    """A text in a few words, for a description."""
    line = " ".join(text.split())
    return line if len(line) <= 50 else f"{line[:49]}…"
