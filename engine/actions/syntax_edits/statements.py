"""Edits of statements: missing and misplaced ones, those that are too many, and defaults that all calls share."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from stet_ls.engine.actions.syntax_edits.edit import EditedFunction, SyntaxEdit, short_text
from stet_ls.engine.actions.syntax_edits.table import MUTABLE
from stet_ls.engine.execution.python.statements import is_text
from stet_ls.validators.ast_text import unparse
from stet_ls.validators.source import Span, Splice

_EFFECTS = (ast.Expr, ast.AugAssign, ast.Break, ast.Continue, ast.Raise)
"""Statements whose removal leaves no name unbound."""
_BLOCKS = (ast.For, ast.While, ast.If, ast.With)


def removals(of: EditedFunction, node: ast.AST) -> Iterator[SyntaxEdit]:
    """A statement that is too much."""
    for body in _bodies(node):
        for each in body:
            if is_text(each):
                continue
            mutates = isinstance(each, _EFFECTS)
            if mutates or isinstance(each, ast.If | ast.Assign | ast.Return):
                words = f"removed `{unparse(each).splitlines()[0]}`"
                whole = len(body) > 1 and _is_alone(of, each)
                splice = Splice(_whole_lines(of, each), "") if whole else Splice(of.span(each), "pass")
                yield SyntaxEdit((splice,), words, of.lines(each), 2.5 if mutates else 3.5, mutates)


def returns(of: EditedFunction, node: ast.AST) -> Iterator[SyntaxEdit]:
    """A return that is missing, or that returns something else."""
    if isinstance(node, ast.Return) and node.value is not None:
        if not (isinstance(node.value, ast.Constant) and node.value.value is None):
            yield of.at(of.span(node.value), "None", node, 4, "returns None", mutates=True)
        if not isinstance(node.value, ast.Name):
            for name in of.names:
                yield of.replaced(node.value, name, 3)
    elif isinstance(node, ast.Return):
        for name in of.names:
            yield of.replaced(node, f"return {name}", 2)
    elif isinstance(node, ast.Expr) and not is_text(node):
        yield of.replaced(node, f"return {of.text(node)}", 2)
    elif node is of.node and not isinstance(of.node.body[-1], ast.Return | ast.Raise):
        last = of.node.body[-1]
        for name in of.names:
            yield _after(of, last, f"return {name}", 2, of.node.lineno)


def swaps(of: EditedFunction, node: ast.AST) -> Iterator[SyntaxEdit]:
    """Two statements in the other order."""
    for body in _bodies(node):
        for first, second in pairwise(body):
            if not is_text(first) and _is_alone(of, first) and _is_alone(of, second):
                yield of.swapped(first, second, 3)


def moves(of: EditedFunction, node: ast.AST) -> Iterator[SyntaxEdit]:
    """A line that stands one level off: the last of a block, or the first after one."""
    for body in _bodies(node):
        last = body[-1]
        if isinstance(node, _BLOCKS) and len(body) > 1 and last.end_lineno == node.end_lineno:
            yield from _indented(of, last, node)
        for owner, after in pairwise(body):
            if isinstance(owner, _BLOCKS):
                yield from _indented(of, after, (getattr(owner, "orelse", None) or owner.body)[-1])


def branches(of: EditedFunction, node: ast.AST) -> Iterator[SyntaxEdit]:
    """Another way on: `break` and `continue`, `if` and `elif`."""
    if isinstance(node, ast.Break):
        yield of.replaced(node, "continue", 2)
    elif isinstance(node, ast.Continue):
        yield of.replaced(node, "break", 2)
    elif isinstance(node, ast.If):
        start = of.span(node).start
        if of.text(node).startswith("elif"):
            yield of.at(Span(start, start + 4), "if", node, 3, "`elif` became `if`")
        elif any(isinstance(each, ast.If) and not each.orelse for each in _before(of, node)):
            yield of.at(Span(start, start + 2), "elif", node, 2.5, "`if` became `elif`")


def _before(of: EditedFunction, node: ast.stmt) -> list[ast.stmt]:
    """The statement before another one in its block, if any."""
    bodies = (body for body in _bodies(of.parents[node]) if node in body)
    return [body[body.index(node) - 1] for body in bodies if body[0] is not node]


def _indented(of: EditedFunction, statement: ast.stmt, model: ast.stmt) -> Iterator[SyntaxEdit]:
    """The edit that gives a line the margin of another one, unless either shares its line."""
    if statement.lineno != statement.end_lineno or not _is_alone(of, statement) or not _is_alone(of, model):
        return
    starts = of.source.starts
    margin = of.source.slice(Span(starts[model.lineno - 1], starts[model.lineno - 1] + model.col_offset))
    own = Span(starts[statement.lineno - 1], starts[statement.lineno - 1] + statement.col_offset)
    words = f"`{short_text(of.text(statement))}` moved to another level"
    yield SyntaxEdit((Splice(own, margin),), words, (min(statement.lineno, model.lineno), statement.lineno), 2)


def defaults(of: EditedFunction, node: ast.AST) -> Iterator[SyntaxEdit]:
    """A list or the like as a default: all calls share it."""
    if node is not of.node or not isinstance(of.node.body[0], ast.stmt):
        return
    arguments = of.node.args
    given = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(given[len(given) - len(arguments.defaults) :], arguments.defaults, strict=True),
             *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]  # fmt: skip
    for parameter, default in pairs:
        is_made = isinstance(default, ast.Call) and isinstance(default.func, ast.Name) and not default.args
        if default is None or not (isinstance(default, MUTABLE) or is_made):
            continue
        first = of.node.body[1 if of.docstring is not None and len(of.node.body) > 1 else 0]
        if not _is_alone(of, first):
            continue
        place = of.span(first).start
        margin = "\n" + " " * first.col_offset
        text = f"if {parameter.arg} is None:{margin}    {parameter.arg} = {of.text(default)}{margin}"
        splices = (Splice(of.span(default), "None"), Splice(Span(place, place), text))
        words = f"`{parameter.arg}` no longer shared by all calls"
        header = of.source.splice([splices[0]]).slice(
            Span(of.span(of.node).start, of.span(of.node.body[0]).start - len(of.text(default).encode()) + 4)
        )
        last = of.node.end_lineno or of.node.lineno
        yield SyntaxEdit(splices, words, (of.node.lineno, last), 1.5, header=header.rstrip())


def _after(of: EditedFunction, statement: ast.stmt, text: str, cost: float, line: int) -> SyntaxEdit:
    """The edit that adds a line below a statement."""
    end = of.span(statement).end
    splice = Splice(Span(end, end), f"\n{' ' * statement.col_offset}{text}")
    return SyntaxEdit((splice,), f"added `{text}`", (line, statement.end_lineno or line), cost)


def _is_alone(of: EditedFunction, statement: ast.stmt) -> bool:
    """Whether nothing stands before a statement on its line."""
    start = of.source.starts[statement.lineno - 1]
    return not of.source.slice(Span(start, start + statement.col_offset)).strip()


def _whole_lines(of: EditedFunction, statement: ast.stmt) -> Span:
    """A statement with its margin and the line break before it: its line goes, too."""
    start = of.source.starts[statement.lineno - 1]
    before = of.source.line_span(statement.lineno - 2).end if statement.lineno > 1 else start
    return Span(before, of.span(statement).end)


def _bodies(node: ast.AST) -> list[list[ast.stmt]]:
    found = (getattr(node, name, None) for name in ("body", "orelse", "finalbody"))
    return [each for each in found if isinstance(each, list) and each and isinstance(each[0], ast.stmt)]
