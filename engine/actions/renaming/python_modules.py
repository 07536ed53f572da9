"""Renames or moves a Python module, and updates the imports of it in other files.

before   shop/prices.py     shop/cart.py: from .prices import total
after    shop/money.py      shop/cart.py: from .money import total
"""

from __future__ import annotations

import ast
import keyword
from collections.abc import Mapping
from pathlib import PurePosixPath

from stet_ls.engine.actions.renaming.python_source import ImportedName, PythonSource, read_sources, resolve
from stet_ls.validators.source import Span

_ROOTS = ("src", "lib", "python")


def move(texts: Mapping[str, str], old: str, new: str) -> dict[str, str]:
    """The new texts of the files that change if the file `old` becomes `new`; that of the moved file by `old`.

    Raises ValueError if an import cannot be updated, or the new name cannot be imported.
    """
    if new in texts:
        raise ValueError(f"{new} exists already")
    bad = [part for part in _dotted(new).split(".") if not part.isidentifier() or keyword.iskeyword(part)]
    if bad or PurePosixPath(new).suffix != ".py":
        raise ValueError(f"{new} is not a module that can be imported")
    if PurePosixPath(old).name == "__init__.py" or PurePosixPath(new).name == "__init__.py":
        raise ValueError("a package cannot be moved yet: move its modules one by one")
    modules = read_sources(texts)
    if old not in modules:
        raise ValueError(f"{old} does not parse")
    for module in modules.values():
        for each in module.imports:
            if isinstance(each.statement, ast.ImportFrom):
                _rename_in_from(modules, module, each, old, new)
            elif module.path != old and resolve(modules, module.path, 0, each.node.name) == old:
                _rename_in_import(module, each, old, new)
    return {path: module.changed for path, module in modules.items() if module.splices}


def _rename_in_import(module: PythonSource, each: ImportedName, old: str, new: str) -> None:
    """`import pkg.old` and `import pkg.old as x`."""
    target = _named_like(each.node.name, old, new)
    span = module.word(each.node, each.node.name)
    assert span is not None
    module.replace(span, target)
    if each.node.asname is not None:
        return
    parts = each.node.name.split(".")
    for root in module.names(parts[0], each.scope):
        chain = _outermost(module, root, parts)
        if chain is not None:
            module.replace(chain, target)
        elif target.partition(".")[0] != parts[0]:
            raise ValueError(f"{module.path} uses `{parts[0]}` in a way that cannot be updated")


def _rename_in_from(
    modules: Mapping[str, PythonSource], module: PythonSource, each: ImportedName, old: str, new: str
) -> None:
    statement = each.statement
    assert isinstance(statement, ast.ImportFrom)
    source = resolve(modules, module.path, statement.level, statement.module or "")
    if module.path == old:
        _rename_in_module(modules, module, each, new)
    elif source == old:
        _replace_module(module, statement, _module_text(module.path, statement, old, new))
    else:
        inner = ".".join(filter(None, (statement.module, each.node.name)))
        if resolve(modules, module.path, statement.level, inner) == old:
            _rename_in_package(module, each, old, new)


def _rename_in_module(modules: Mapping[str, PythonSource], module: PythonSource, each: ImportedName, new: str) -> None:
    """A relative import of the moved file itself, which would mean another file at its new place."""
    statement = each.statement
    assert isinstance(statement, ast.ImportFrom)
    if not statement.level or PurePosixPath(module.path).parent == PurePosixPath(new).parent:
        return
    source = resolve(modules, module.path, statement.level, statement.module or "")
    package = _package(module.path, statement.level)
    dotted = ".".join(filter(None, (package, statement.module)))
    if source is None and not package:
        raise ValueError(f"{module.path} imports `{'.' * statement.level}{statement.module or ''}`, which is unknown")
    _replace_module(module, statement, dotted)


def _rename_in_package(module: PythonSource, each: ImportedName, old: str, new: str) -> None:
    """`from pkg import old`, alone or with other names."""
    statement = each.statement
    assert isinstance(statement, ast.ImportFrom)
    stem, same = PurePosixPath(new).stem, PurePosixPath(old).parent == PurePosixPath(new).parent
    name = module.word(each.node, each.node.name)
    assert name is not None
    if not same:
        if len(statement.names) > 1:
            raise ValueError(
                f"{module.path} imports `{each.node.name}` together with other names: give it an import of its own"
            )
        _replace_module(module, statement, _package_of(new))
    module.replace(name, stem)
    if each.node.asname is None and stem != each.node.name:
        if module.binds(stem, each.scope):
            raise ValueError(f"{module.path} uses the name `{stem}` already")
        for node in module.names(each.node.name, each.scope):
            span = module.span(node, each.node.name)
            if span is not None:
                module.replace(span, stem)


def _replace_module(module: PythonSource, statement: ast.ImportFrom, text: str) -> None:
    """Writes what stands between `from` and `import` again."""
    start = module.offset(statement)
    line = module.source.slice(Span(start, module.offset(statement.names[0])))
    between = line if isinstance(line, str) else line.decode("utf-8", "replace")
    head = between.rpartition("import")[0].rstrip()
    module.replace(Span(start + len("from "), start + len(head.encode())), text)


def _module_text(importer: str, statement: ast.ImportFrom, old: str, new: str) -> str:
    """The module of a `from` statement after the move: relative if it was and still can be."""
    if not statement.level:
        return _named_like(statement.module or "", old, new)
    base = PurePosixPath(importer).parents[statement.level - 1]
    place = PurePosixPath(new).with_suffix("")
    if place.is_relative_to(base):
        return "." * statement.level + ".".join(place.relative_to(base).parts)
    return _dotted(new)


def _named_like(name: str, old: str, new: str) -> str:
    """The new dotted name, from the folder from which the old one was imported."""
    parts = len(name.split("."))
    above = PurePosixPath(old).with_suffix("").parts[:-parts]
    place = PurePosixPath(new).with_suffix("")
    root = PurePosixPath(*above)
    return ".".join(place.relative_to(root).parts) if place.is_relative_to(root) else _dotted(new)


def _dotted(path: str) -> str:
    parts = PurePosixPath(path).with_suffix("").parts
    return ".".join(parts[1:] if parts[0] in _ROOTS and len(parts) > 1 else parts)


def _package(path: str, level: int) -> str:
    """The dotted name of the package that a relative import of a file begins from."""
    return ".".join(_dotted(path).split(".")[:-level])


def _package_of(path: str) -> str:
    package = _package(path, 1)
    if not package:
        raise ValueError(f"{path} is in no package, so `from … import` cannot reach it")
    return package


def _outermost(module: PythonSource, root: ast.AST, parts: list[str]) -> Span | None:
    """The span of the dotted name that begins with the node `root`."""
    if not isinstance(root, ast.Name):
        return None
    start = module.offset(root)
    text = ".".join(parts).encode()
    return Span(start, start + len(text)) if module.source.data[start : start + len(text)] == text else None
