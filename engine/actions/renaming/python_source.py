"""A Python module as the renamers see it: its tree, its imports, and where a name stands for what a scope binds."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from stet_ls.validators.ast_text import try_parse
from stet_ls.validators.source import Source, Span, Splice

_ROOTS = ("", "src", "lib", "python", "tests", "test")
"""Usual folders from which modules are imported."""
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Scope = ast.AST | None
"""What binds a name: a function, a comprehension or a class; None is the module."""


@dataclass(frozen=True, slots=True)
class ImportedName:
    """One name of an import statement. `level` and `module` are those of `from`; for `import` it has no `name`."""

    node: ast.alias
    statement: ast.Import | ast.ImportFrom
    scope: Scope

    @property
    def binds(self) -> str:
        """The name that it binds."""
        if self.node.asname:
            return self.node.asname
        return self.node.name if isinstance(self.statement, ast.ImportFrom) else self.node.name.partition(".")[0]


@dataclass
class PythonSource:
    """One module. `path` is relative to the project's root."""

    path: str
    text: str
    tree: ast.Module
    splices: dict[Span, str] = field(default_factory=dict)

    @cached_property
    def source(self) -> Source:
        """The text with its offsets."""
        return Source(self.text)

    @cached_property
    def _scopes(self) -> _Scopes:
        scopes = _Scopes()
        scopes.visit(self.tree)
        return scopes

    @property
    def imports(self) -> list[ImportedName]:
        """All imported names, in any scope."""
        return self._scopes.imports

    def names(self, name: str, scope: Scope) -> list[ast.AST]:
        """The nodes that use, bind or declare `name` where it belongs to `scope`."""
        return self._scopes.nodes[name, scope]

    def binds(self, name: str, scope: Scope) -> bool:
        """True if the scope binds the name."""
        return name in self._scopes.bound[scope]

    def scopes_of(self, name: str, scope: Scope) -> set[Scope]:
        """The scopes in which a name that belongs to `scope` is used: another name there could hide it."""
        return self._scopes.used_in[name, scope]

    def replace(self, span: Span, text: str) -> None:
        """Notes a change."""
        self.splices[span] = text

    @property
    def changed(self) -> str:
        """The text with the changes."""
        return self.source.splice(Splice(span, text) for span, text in self.splices.items()).text

    def span(self, node: ast.AST, name: str) -> Span | None:
        """Where a node holds the name itself."""
        start = self.offset(node)
        if isinstance(node, ast.Name):
            return Span(start, start + len(name.encode()))
        if isinstance(node, ast.Attribute):
            end = self.source.starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[operator]
            return Span(end - len(name.encode()), end)
        return self.word(node, name)

    def word(self, node: ast.AST, name: str, after: str = "") -> Span | None:
        """The first place of a word in the source of a node, behind the words `after`."""
        start = self.offset(node)
        end = self.source.starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
        piece = self.source.slice(Span(start, end))
        text = piece if isinstance(piece, str) else piece.decode("utf-8", "replace")
        found = re.search(rf"{after}(?<![\w.])({re.escape(name)})(?!\w)", text)
        if found is None:
            return None
        at = start + len(text[: found.start(1)].encode())
        return Span(at, at + len(name.encode()))

    def offset(self, node: ast.AST) -> int:
        """The byte at which a node begins."""
        return self.source.starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined,no-any-return]


def read_sources(texts: Mapping[str, str]) -> dict[str, PythonSource]:
    """The modules that parse."""
    found = {}
    for path, text in texts.items():
        tree = try_parse(text)
        if isinstance(tree, ast.Module):
            found[path] = PythonSource(path, text, tree)
    return found


def resolve(files: Iterable[str], importer: str, level: int, module: str) -> str | None:
    """The file that an import means, among `files`; None if it is none of them."""
    parts = module.split(".") if module else []
    folder = PurePosixPath(importer).parent
    if level:
        above = [folder, *folder.parents]
        bases = [above[level - 1]] if level <= len(above) else []
    else:
        bases = [*(PurePosixPath(root) for root in _ROOTS), folder]
    for base in bases:
        place = base.joinpath(*parts)
        for path in (f"{place}.py", f"{place}/__init__.py"):
            path = path.removeprefix("./")  # noqa: PLW2901 - the same path as files have it
            if path in files:
                return path
    return None


def doc_examples(module: PythonSource, name: str) -> Iterator[Span]:
    """The places of a word in the examples of docstrings, which run as tests."""
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) or not node.body:
            continue
        first = node.body[0]
        if not (isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)):
            continue
        for line in range(first.lineno - 1, first.end_lineno or first.lineno):
            text = module.source.line_text(line)
            if text.lstrip().startswith((">>>", "...")):
                for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text):
                    at = module.source.starts[line] + len(text[: match.start()].encode())
                    yield Span(at, at + len(name.encode()))


class _Scopes(ast.NodeVisitor):
    """Resolves the names of a module as Python's own compiler does."""

    def __init__(self) -> None:
        self.nodes: dict[tuple[str, Scope], list[ast.AST]] = defaultdict(list)
        self.bound: dict[Scope, set[str]] = defaultdict(set)
        self.used_in: dict[tuple[str, Scope], set[Scope]] = defaultdict(set)
        self.imports: list[ImportedName] = []
        self._stack: list[ast.AST] = []

    def visit_Module(self, node: ast.Module) -> None:
        self.bound[None] = _bindings(node.body)
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._note(node.name, node)
        arguments = node.args
        outer = [*node.decorator_list, *arguments.defaults, *filter(None, arguments.kw_defaults)]
        outer += [each.annotation for each in _arguments(arguments) if each.annotation is not None]
        for each in [*outer, *([node.returns] if node.returns else [])]:
            self.visit(each)
        self._inside(node, {each.arg for each in _arguments(arguments)} | _bindings(node.body), node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for each in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(each)
        self._inside(node, {each.arg for each in _arguments(node.args)}, [node.body])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._note(node.name, node)
        for each in [*node.decorator_list, *node.bases, *node.keywords]:
            self.visit(each)
        self._inside(node, _bindings(node.body), node.body)

    def visit_ListComp(self, node: Comprehension) -> None:
        self.visit(node.generators[0].iter)
        targets = {each.id for part in node.generators for each in ast.walk(part.target) if isinstance(each, ast.Name)}
        own: list[ast.AST] = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        for number, part in enumerate(node.generators):
            own += [part.target, *part.ifs, *([part.iter] if number else [])]
        self._inside(node, targets, own)

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    def visit_Name(self, node: ast.Name) -> None:
        self._note(node.id, node)

    def visit_Global(self, node: ast.Global) -> None:
        for name in node.names:
            self.nodes[name, None].append(node)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            scope = self._scope_of(alias.asname or alias.name.partition(".")[0])
            self.imports.append(ImportedName(alias, node, scope))

    visit_ImportFrom = visit_Import

    def _inside(self, node: ast.AST, bound: set[str], body: Iterable[ast.AST]) -> None:
        self.bound[node] = bound
        self._stack.append(node)
        for each in body:
            self.visit(each)
        self._stack.pop()

    def _note(self, name: str, node: ast.AST) -> None:
        scope = self._scope_of(name)
        self.nodes[name, scope].append(node)
        self.used_in[name, scope].update([*self._stack, None])

    def _scope_of(self, name: str) -> Scope:
        for depth, scope in enumerate(reversed(self._stack)):
            # The names of a class are not visible in its methods.
            if name in self.bound[scope] and (depth == 0 or not isinstance(scope, ast.ClassDef)):
                return scope
        return None


def _arguments(node: ast.arguments) -> list[ast.arg]:
    return [*node.posonlyargs, *node.args, *node.kwonlyargs, *filter(None, (node.vararg, node.kwarg))]


def _bindings(body: Iterable[ast.AST]) -> set[str]:
    """The names that statements bind in their own scope."""
    bound: set[str] = set()
    outer: set[str] = set()
    pending = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, Comprehension):
            # Only `:=` binds outside of a comprehension.
            bound |= {each.target.id for each in ast.walk(node) if isinstance(each, ast.NamedExpr)}
            continue
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.Global | ast.Nonlocal):
            outer |= set(node.names)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            bound.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            bound.add(node.rest)
        pending += ast.iter_child_nodes(node)
    return bound - outer
