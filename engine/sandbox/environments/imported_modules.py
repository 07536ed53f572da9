"""The modules that Python code needs, from its syntax tree, without importing anything."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from stet_ls.validators.ast_text import try_parse

_CATCH = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


@dataclass(frozen=True, slots=True)
class Imports:
    """Top-level module names. Code works without the `optional` ones because it catches their absence."""

    needed: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()

    def __or__(self, other: Imports) -> Imports:
        needed = self.needed | other.needed
        return Imports(needed, (self.optional | other.optional) - needed)


@dataclass(frozen=True, slots=True)
class Imported:
    """One imported module: its dotted name, the number of leading dots, and whether its absence is caught."""

    name: str
    level: int = 0
    optional: bool = False

    @property
    def top(self) -> str:
        """The top-level name of an absolute import."""
        return self.name.partition(".")[0]


def imports(code: str) -> Imports:
    """The imports anywhere in the code; none if it does not parse."""
    found = [each for each in imported(code) if not each.level]
    needed = frozenset(each.top for each in found if not each.optional)
    return Imports(needed, frozenset(each.top for each in found) - needed)


@lru_cache(maxsize=256)
def imported(code: str) -> tuple[Imported, ...]:
    """Every module that the code imports, including relative imports. Cached: each judge and candidate calls it."""
    tree = try_parse(code)
    if tree is None:
        return ()
    found: dict[Imported, None] = {}
    # Only statements import, except for calls of `importorskip`: expressions are most of a large file.
    kinds = ast.AST if "importorskip" in code else (ast.stmt, ast.ExceptHandler, ast.match_case)
    pending: list[tuple[ast.AST, bool]] = [(tree, False)]
    while pending:
        node, caught = pending.pop()
        found.update(dict.fromkeys(Imported(name, level, caught) for name, level in _named(node)))
        pending += [(inner, optional) for inner, optional in _inside(node, caught) if isinstance(inner, kinds)]
    return tuple(found)


def _named(node: ast.AST) -> Iterator[tuple[str, int]]:
    """The modules that a node imports. For `from a import b` both `a` and `a.b`, because `b` may be a module."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, 0) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        if node.module:
            yield node.module, node.level
        within = f"{node.module}." if node.module else ""
        yield from ((f"{within}{alias.name}", node.level) for alias in node.names if alias.name != "*")
    elif isinstance(node, ast.Call) and node.args:
        first = node.args[0]
        skips = isinstance(node.func, ast.Attribute) and node.func.attr == "importorskip"
        if skips and isinstance(first, ast.Constant) and isinstance(first.value, str) and first.value:
            yield first.value, 0


def _inside(node: ast.AST, caught: bool) -> Iterator[tuple[ast.AST, bool]]:
    """The child nodes, with whether a missing module is caught there."""
    if isinstance(node, ast.Try | ast.TryStar) and any(_catches(handler) for handler in node.handlers):
        yield from ((child, True) for child in node.body)
        # An import in a handler is an alternative, so it is optional too.
        yield from ((child, True) for handler in node.handlers for child in handler.body)
        yield from ((child, caught) for child in (*node.orelse, *node.finalbody))
    elif isinstance(node, ast.If) and _for_types(node.test):
        yield from ((child, True) for child in node.body)
        yield from ((child, caught) for child in node.orelse)
    else:
        yield from ((child, caught) for child in ast.iter_child_nodes(node))


def _catches(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or (isinstance(kind, ast.Name) and kind.id in _CATCH) for kind in kinds)


def _for_types(test: ast.expr) -> bool:
    """True for `if TYPE_CHECKING:`, which never runs."""
    name = test.attr if isinstance(test, ast.Attribute) else test.id if isinstance(test, ast.Name) else ""
    return name == "TYPE_CHECKING"


def local(root: Path, module: str) -> bool:
    """True if the workspace provides the module, at its root or in a usual source folder."""
    return any(
        (root / folder / f"{module}.py").is_file() or (root / folder / module).is_dir()
        for folder in ("", "src", "lib", "python", "tests", "test")
    )


def missing(
    wanted: Imports,
    standard: frozenset[str],
    modules: frozenset[str] = frozenset(),
    root: Path | None = None,
    files: Mapping[str, bytes] | None = None,
) -> Imports:
    """The imports to install: not in the standard library, in `modules`, in the workspace or in the run itself."""
    own = {name.split("/")[0].removesuffix(".py") for name in files or ()}

    def absent(module: str) -> bool:
        known = module in standard or module in modules or module in own or module == "__future__"
        return not known and not (root is not None and local(root, module))

    return Imports(frozenset(filter(absent, wanted.needed)), frozenset(filter(absent, wanted.optional)))
