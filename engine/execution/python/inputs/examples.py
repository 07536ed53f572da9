"""Finds written calls: in docstrings, in the file itself, in its tests."""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from stet_ls.engine.execution.inputs.rows import ArgumentRow
from stet_ls.engine.execution.inputs.stated_forms import stated_forms
from stet_ls.engine.execution.python.inputs.subject import Function, Module, Subject
from stet_ls.validators.ast_text import try_parse, try_parse_expression, unparse
from stet_ls.validators.containment import is_inside
from stet_ls.validators.project_files import read_text
from stet_ls.validators.test_files import for_language

_MOST_ROWS = 60
_MOST_TEXT = 300_000
_LARGEST = 10**12
_SAFE = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.USub, ast.UAdd, ast.Load, ast.BinOp,
         ast.Add, ast.Sub, ast.Mult, ast.Mod, ast.Name, ast.Call, ast.Attribute, ast.keyword)  # fmt: skip


def rows_for(module: Module, subject: Subject, tests: tuple[str, ...] = ()) -> list[ArgumentRow]:
    """Arguments with which the subject is called in its docstring, in its file, and in the texts of its tests."""
    found: list[ArgumentRow] = []
    for call in _calls(module, subject, tests):
        row = row_of(call, subject, lambda value: _plain(value, module))
        if row is not None and row not in found:
            found.append(row)
        if len(found) >= _MOST_ROWS:
            break
    return found


def scripts_for(module: Module, subject: Subject) -> Iterator[tuple[str, str]]:
    """The `>>>` examples of the docstring as (all but the last one, last one), each with those before it."""
    for node in _documented(module, subject):
        lines: list[str] = []
        for example in doctest_examples(ast.get_docstring(node) or ""):
            source = example.source.rstrip("\n")
            tree = try_parse(source)
            if tree is None:
                continue
            statement = tree.body[0] if len(tree.body) == 1 else None
            if isinstance(statement, ast.Expr):
                yield "\n".join(lines), f"__out__({unparse(statement.value)})"  # without a comment behind it
            elif isinstance(statement, ast.For | ast.With | ast.Assign) and any(_in_code(tree, subject.callee)):
                shown = [f"__out__({unparse(each)})" for each in getattr(statement, "targets", ())]
                yield "\n".join(lines), "\n".join((source, *shown))
            lines.append(source)


def doctest_examples(text: str) -> list[doctest.Example]:
    """The `>>>` examples of a text; none if they are malformed."""
    try:
        return doctest.DocTestParser().get_examples(text)
    except ValueError:
        return []


def literals(node: ast.AST) -> list[str]:
    """The constants in a piece of code as texts, and the neighbors of each whole number: where branches part."""
    found: list[str] = []
    expressions = (each.value for each in ast.walk(node) if isinstance(each, ast.Expr))
    documentation = {id(value) for value in expressions if isinstance(value, ast.Constant)}
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and id(each) not in documentation:
            value = each.value
            if type(value) is int and abs(value) < _LARGEST:
                found += [repr(value), repr(value + 1), repr(value - 1)]
            elif type(value) in (str, float, bytes) and len(repr(value)) < 100:
                found.append(repr(value))
        elif isinstance(each, ast.BinOp) and (product := _folded(each)) and product < _LARGEST:
            found += [repr(product), repr(product + 1), repr(product - 1)]
    return list(dict.fromkeys(found))[:40]


def separators(node: ast.AST) -> list[str]:
    """A blank, if a code splits texts at white space: it is no constant in the code."""
    splits = (each for each in ast.walk(node) if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)
              and each.func.attr in ("split", "rsplit") and not each.args)  # fmt: skip
    return ["' '"] if any(splits) else []


_TRIMS, _CASES = {"strip", "lstrip", "rstrip", "split"}, {"lower", "upper", "casefold", "title", "capitalize"}


def normalized_texts(node: ast.AST) -> list[str]:
    """Texts that are equal only once a code has trimmed them, or changed the case of their letters, if it does so."""
    called = {
        each.func.attr for each in ast.walk(node) if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)
    }
    trimmed, cased = bool(called & _TRIMS), bool(called & _CASES)
    found = [
        *(["' a'", "'a '"] if trimmed else []),
        *(["'A'"] if cased else []),
        *(["' A'"] if trimmed and cased else []),
    ]
    return ["'a'", *found] if found else []


_LARGEST_BASE, _LARGEST_POWER = 10_000, 10


def _folded(node: ast.expr) -> int:
    """The product or power of whole numbers that an expression is, as `1024 * 1024`; 0 for any other."""
    match node:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _folded(left) * _folded(right)
        case ast.BinOp(left=ast.Constant(value=int(base)), op=ast.Pow(), right=ast.Constant(value=int(power))):
            return base**power if abs(base) <= _LARGEST_BASE and 0 <= power <= _LARGEST_POWER else 0
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else 0


def stated_texts(node: ast.AST) -> list[str]:
    """The texts that a docstring gives as an example of a form, `as 2024-01-31`, and more like them, as literals."""
    docs = (ast.get_docstring(node) or "").partition(">>>")[0] if isinstance(node, Function) else ""
    return list(map(repr, stated_forms(docs)))


def named_literals(module: Module, subject: Subject) -> Iterator[str]:
    """The literals in the module constants that a unit uses."""
    names = dict.fromkeys(each.id for each in ast.walk(subject.node) if isinstance(each, ast.Name))
    for name in names:
        if name in module.values:
            yield from literals(module.values[name])


def test_texts(path: Path | None, root: Path | None) -> tuple[str, ...]:
    """The test files of a module, by their usual names and places."""
    if path is None or root is None:
        return ()
    names = for_language("python").for_source(path)
    folders = [path.parent, path.parent / "tests", root / "tests", root / "test", root]
    with_below = [root / "tests" / path.parent.relative_to(root), root / "tests" / path.parent.name]
    found: list[str] = []
    for file in dict.fromkeys(folder / name for folder in (*folders, *with_below) for name in names):
        if is_inside(file, root) and (text := read_text(file, most=_MOST_TEXT)) is not None:
            found.append(text)
    return tuple(found)


def _documented(module: Module, subject: Subject) -> Iterator[Function | ast.ClassDef | ast.Module]:
    yield subject.node
    if subject.owner and subject.owner in module.shapes and module.shapes[subject.owner].node is not subject.node:
        yield module.shapes[subject.owner].node
    yield module.tree


def _calls(module: Module, subject: Subject, tests: tuple[str, ...]) -> Iterator[ast.Call]:
    for node in _documented(module, subject):
        yield from _in_prose(ast.get_docstring(node) or "", re.escape(subject.callee))
    yield from _in_prose(ast.get_docstring(subject.node) or "", r"[A-Za-z_]\w*")
    yield from _in_code(module.tree, subject.callee)
    for text in tests:
        if (tree := try_parse(text)) is not None:
            yield from _in_code(tree, subject.callee)


def _in_code(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            if name == (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")):
                yield node


def _in_prose(text: str, name: str) -> Iterator[ast.Call]:
    """Calls written anywhere in a docstring: `>>> f(1)`, `f(1) => 2`, "for example f(1) returns 2".

    `name` is a pattern: examples that call the function by another name fit as well.
    """
    for match in re.finditer(rf"\b{name}\s*\(", text):
        for end in _closings(text, match.end()):
            if (call := try_parse_expression(text[match.start() : end].strip())) is not None:
                if isinstance(call, ast.Call):
                    yield call
                break


def _closings(text: str, start: int) -> Iterator[int]:
    """The positions after the first few closing brackets."""
    at = start
    for _ in range(12):
        at = text.find(")", at, start + 2000) + 1
        if not at:
            return
        yield at


def row_of(call: ast.Call, subject: Subject, is_plain: Callable[[ast.expr], bool]) -> ArgumentRow | None:
    """The arguments by parameter; None unless all are plain and fit the parameters."""
    row: ArgumentRow = {}
    positional = [each for each in subject.parameters if not each.keyword and not each.name.startswith("*")]
    rest = call.args[len(positional) :]
    stars = [each.name for each in subject.parameters if each.name.startswith("*")]
    star = next((name for name in stars if not name.startswith("**")), "")
    if star and all(map(is_plain, rest)):
        row[star] = "[" + ", ".join(unparse(value) for value in rest) + "]"
    elif rest:
        return None
    given = [(each.name, value) for each, value in zip(positional, call.args, strict=False)]
    known = {each.name for each in subject.parameters}
    others = [each for each in call.keywords if each.arg and each.arg not in known]
    if others and stars and stars[-1].startswith("**") and all(is_plain(each.value) for each in others):
        row[stars[-1]] = "{" + ", ".join(f"{each.arg!r}: {unparse(each.value)}" for each in others) + "}"
        call = ast.Call(call.func, call.args, [each for each in call.keywords if each not in others])
    given += [(each.arg or "", each.value) for each in call.keywords]
    for name, value in given:
        if not is_plain(value) or name not in known:
            return None
        row[name] = unparse(value)
    if any(each.default is None and each.name not in row for each in subject.parameters):
        return None
    return row


def _plain(value: ast.expr, module: Module) -> bool:
    """True for literals, and for objects of the module's own classes created from them."""
    for node in ast.walk(value):
        if not isinstance(node, (*_SAFE, ast.expr_context)):
            return False
        if isinstance(node, ast.Name) and node.id not in module.shapes and node.id not in _BUILT_IN:
            return False
    return True


_BUILT_IN = frozenset(
    {"float", "int", "str", "set", "frozenset", "list", "dict", "tuple", "range", "bytes", "len", "abs"}
)
