"""An edit of a function, and what the tables need to know of that function to make one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

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
class EditedFunction:
    """A function of a text, with what its repairs are made of. Positions are bytes, as in `Source`."""

    source: Source
    node: Function
    parents: dict[ast.AST, ast.AST] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        parents = {child: node for node in ast.walk(self.node) for child in ast.iter_child_nodes(node)}
        object.__setattr__(self, "parents", parents)

    def span(self, node: ast.expr | ast.stmt | ast.keyword | ast.arg) -> Span:
        """Where a node stands."""
        starts, end_line, end = self.source.starts, node.end_lineno or node.lineno, node.end_col_offset or 0
        return Span(starts[node.lineno - 1] + node.col_offset, starts[end_line - 1] + end)

    def text(self, node: ast.expr | ast.stmt | ast.keyword) -> str:
        """What a node is written as."""
        return self.source.slice(self.span(node))

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

    def replaced(
        self, node: ast.expr | ast.stmt | ast.keyword, text: str, cost: float, *, mutates: bool = False
    ) -> SyntaxEdit:
        """The edit that writes `text` in place of a node."""
        return self.at(self.span(node), text, node, cost, mutates=mutates)

    def at(
        self, span: Span, text: str, node: ast.AST, cost: float, change: str = "", *, mutates: bool = False
    ) -> SyntaxEdit:
        """The edit that writes `text` at a place in the statement of `node`."""
        old = self.source.slice(span)
        change = change or f"`{short_text(old)}` became `{short_text(text)}`"
        return SyntaxEdit((Splice(span, text),), change, self.lines(node), cost, mutates)

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
