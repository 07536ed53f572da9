"""Whether a unit, with all that it uses of its module, is the same code in two texts, perhaps in another form."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set

from stet_ls.engine.execution.python.equal_forms.canonical import canonical, written_alike
from stet_ls.engine.execution.python.equal_forms.scopes import ModuleNames, bound_in, origins
from stet_ls.engine.execution.python.statements import is_text
from stet_ls.validators.ast_text import dump, parse_module

_ANY_NAME = frozenset({"globals", "locals", "vars", "eval", "exec", "modules", "import_module", "__import__"})
"""What may use any name of the module."""
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def is_same_code(before: str, after: str, unit: str) -> bool:
    """Whether both texts define a unit in forms that do the same for all inputs. Not for an event loop."""
    try:
        trees = parse_module(before), parse_module(after)
        common = written_alike(*trees)
        return _is_same(_Text(trees[0], common), _Text(trees[1], common), unit)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _is_same(old: _Text, new: _Text, unit: str) -> bool:
    if not old.has(unit) or not new.has(unit):
        return False
    known: set[str] = set()
    wanted = {unit.partition(".")[0]}
    while wanted - known:
        known |= wanted
        if known & _ANY_NAME:
            known |= old.bound | new.bound
        before, after = old.using(known), new.using(known)
        if before != after:
            return False
        wanted = {word for text in (old, new) for word in text.words(known)}
    return True


class _Text:
    """A module's statements in their forms, which of them a set of names concerns, and the names in these."""

    def __init__(self, tree: ast.Module, common: Set[str]) -> None:
        self.names = ModuleNames.of(tree)
        self.bound = {*self.names.counts}
        self._tree = tree
        self._statements = [canonical(each, self.names, common) for each in tree.body if not is_text(each)]
        self._words = [_words(each) for each in self._statements]

    def has(self, unit: str) -> bool:
        """Whether it defines a function, a class or a method of a class once."""
        body: Sequence[ast.stmt] = self._tree.body
        for name in unit.split("."):
            found = [each for each in body if isinstance(each, _Definition) and each.name == name]
            if len(found) != 1:
                return False
            body = found[0].body
        return True

    def using(self, known: set[str]) -> tuple[list[str], list[str]]:
        """What the module imports under some names, and the statements that concern these."""
        imported = [
            (name, origin)
            for node in self._statements if isinstance(node, ast.Import | ast.ImportFrom)
            for name, origin in origins(node) if name in known or name == "*"
        ]  # fmt: skip
        ordered = [f"{name} {origin}" for name, origin in sorted(imported, key=lambda each: each[0])]
        return ordered, [dump(self._statements[number]) for number in self._concerned(known)]

    def words(self, known: set[str]) -> Iterator[str]:
        """All names in the statements that concern some names."""
        for number in self._concerned(known):
            yield from self._words[number]

    def _concerned(self, known: set[str]) -> list[int]:
        own = {name for name in known if name in self.names.counts and name not in self.names.imports}
        return [number for number, node in enumerate(self._statements) if _concerns(node, known, own)]


def _concerns(node: ast.stmt, known: set[str], own: set[str]) -> bool:
    """Whether a statement binds one of the known names, or may change what one refers to: `json.dumps = str`."""
    match node:
        case ast.Import() | ast.ImportFrom():
            return False
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return node.name in known or any(_words(each) & own for each in node.decorator_list)
        case ast.ClassDef():
            around = (*node.decorator_list, *node.bases, *node.keywords)
            return bool({node.name, *bound_in(node)} & known) or any(_words(each) & own for each in around)
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=ast.expr() as value)
            | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
        ):
            calls = any(isinstance(each, ast.Call) for each in ast.walk(value))
            bound = {name, *_bound_below(ast.Expr(value))}
            return bool(bound & known) or (calls and bool(_words(value) & own))
    return bool((_words(node) | _bound_below(node)) & known)


def _bound_below(node: ast.stmt) -> set[str]:
    """The names that a statement with others in it binds, imports and definitions included."""
    return bound_in(ast.ClassDef("", [], [], [node], []))


def _words(node: ast.AST) -> frozenset[str]:
    """The names in a node, also those in texts, by which attributes may be found."""
    nodes = list(ast.walk(node))
    texts = (each.value for each in nodes if isinstance(each, ast.Constant) and isinstance(each.value, str))
    return frozenset((
        *(each.id for each in nodes if isinstance(each, ast.Name)),
        *(each.attr for each in nodes if isinstance(each, ast.Attribute)),
        *(each for each in texts if each.isidentifier()),
    ))  # fmt: skip
