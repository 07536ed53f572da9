"""Renames what a Python module defines, in that module and wherever it is imported.

before   shop/prices.py: def total(prices): ...      shop/cart.py: from shop.prices import total
after    shop/prices.py: def sum_of(prices): ...     shop/cart.py: from shop.prices import sum_of
"""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterator, Mapping

from stet_ls.engine.actions.renaming.python_source import (
    ImportedName,
    PythonSource,
    Scope,
    doc_examples,
    read_sources,
    resolve,
)
from stet_ls.validators.source import Span

_EXPORTS = "__all__"


def definers(texts: Mapping[str, str], name: str) -> list[str]:
    """The files that define a name at the top level, not those that import it."""
    found = []
    for path, module in read_sources({path: text for path, text in texts.items() if name in text}).items():
        imported = {each.binds for each in module.imports if each.scope is None}
        if module.binds(name, None) and name not in imported:
            found.append(path)
    return found


def rename(texts: Mapping[str, str], where: str, old: str, new: str) -> dict[str, str]:
    """The new texts of the files that change if `old`, which the file `where` defines, is called `new`.

    Raises ValueError if the new name is not one, or is in use where the old one is.
    """
    if not new.isidentifier() or keyword.iskeyword(new):
        raise ValueError(f"`{new}` is not a name in Python")
    modules = read_sources({path: text for path, text in texts.items() if old in text or path == where})
    if where not in modules:
        raise ValueError(f"{where} does not parse")
    work = _Rename(modules, old, new)
    work.module(where)
    return {path: module.changed for path, module in modules.items() if module.splices}


class _Rename:
    """One rename; modules that pass the name on under the same name are renamed as well."""

    def __init__(self, modules: Mapping[str, PythonSource], old: str, new: str) -> None:
        self._modules, self._old, self._new = modules, old, new
        self._done: set[str] = set()

    def module(self, path: str) -> None:
        """Renames in a module that binds the name at its top level, and in those that import it from there."""
        if path in self._done:
            return
        self._done.add(path)
        module = self._modules[path]
        self._scope(module, None)
        for span in (*_exports(module, self._old), *doc_examples(module, self._old)):
            module.replace(span, self._new)
        for other in self._modules.values():
            if other.path != path:
                self._importer(other, path)

    def _importer(self, module: PythonSource, path: str) -> None:
        for each in module.imports:
            if isinstance(each.statement, ast.ImportFrom):
                self._from(module, each, path)
            elif resolve(self._modules, module.path, 0, each.node.name) == path:
                base = each.node.asname or each.node.name
                self._attributes(module, base.split("."), each.scope)

    def _from(self, module: PythonSource, each: ImportedName, path: str) -> None:
        statement = each.statement
        assert isinstance(statement, ast.ImportFrom)
        source = resolve(self._modules, module.path, statement.level, statement.module or "")
        if source == path and each.node.name == self._old:
            self._replace(module, module.word(each.node, self._old))
            if each.node.asname == self._old:  # `from .prices import total as total` passes the name on
                self._replace(module, module.word(each.node, self._old, after=r"\bas\s+"))
            if each.binds == self._old:
                self._scope(module, each.scope)
                for span in doc_examples(module, self._old):
                    module.replace(span, self._new)
                if each.scope is None:
                    self.module(module.path)
        elif source == path and each.node.name == "*":
            if not module.binds(self._old, None) and module.names(self._old, None):
                self._scope(module, None)
            self.module(module.path)
        else:
            inner = ".".join(filter(None, (statement.module, each.node.name)))
            if resolve(self._modules, module.path, statement.level, inner) == path:
                self._attributes(module, [each.binds], each.scope)

    def _scope(self, module: PythonSource, scope: Scope) -> None:
        """Renames what belongs to a scope."""
        for inner in (scope, *module.scopes_of(self._old, scope)):
            if module.binds(self._new, inner):
                raise ValueError(f"{module.path} uses the name `{self._new}` already")
        for node in module.names(self._old, scope):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self._replace(module, module.word(node, self._old, after=r"\b(?:def|class)\s+"))
            else:
                self._replace(module, module.span(node, self._old))

    def _attributes(self, module: PythonSource, base: list[str], scope: Scope) -> None:
        """Renames `base.old`, where `base` is a module."""
        roots = {id(node) for node in module.names(base[0], scope)}
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Attribute) and node.attr == self._old and _is_chain(node.value, base, roots):
                self._replace(module, module.span(node, self._old))

    def _replace(self, module: PythonSource, span: Span | None) -> None:
        if span is None:
            raise ValueError(f"{module.path} writes `{self._old}` in a form that cannot be renamed")
        module.replace(span, self._new)


def _is_chain(node: ast.expr, base: list[str], roots: set[int]) -> bool:
    """True if an expression is the dotted name `base`, whose first part is one of the nodes `roots`."""
    for part in reversed(base[1:]):
        if not isinstance(node, ast.Attribute) or node.attr != part:
            return False
        node = node.value
    return isinstance(node, ast.Name) and node.id == base[0] and id(node) in roots


def _exports(module: PythonSource, name: str) -> Iterator[Span]:
    """The strings of `__all__` that hold the name, without their quotes."""
    for node in module.tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == _EXPORTS for target in targets):
            for each in ast.walk(node):
                if isinstance(each, ast.Constant) and each.value == name:
                    span = module.word(each, name)
                    if span is not None:
                        yield span
