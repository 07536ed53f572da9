"""Where a text is in its project: the name it is imported under, the import folders, the neighboring files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.sandbox.spec import Overlay
from stet_ls.validators.ast_text import try_parse, unparse

_BOX = Path("/box")
_READS = re.compile(r"__file__|\bopen\s*\(|read_text|read_bytes|\bPath\s*\(|importlib|resources|chdir|getcwd")


@dataclass(frozen=True, slots=True)
class ModuleLocation:
    """A module's path, dotted name and import folders. `overlay` is the workspace if the text needs it, else None.

    `warm` are the packages outside of the workspace that its top level imports. `former` are other files of the
    workspace as they were before, for the text before.
    """

    path: Path
    name: str
    roots: tuple[Path, ...] = ()
    overlay: Overlay | None = None
    warm: tuple[str, ...] = ()
    former: Mapping[str, str] = field(default_factory=dict, repr=False)


def locate_module(
    path: Path | None, texts: tuple[str, ...], runtime: Runtime, *, in_project: bool = False
) -> ModuleLocation:  # fmt: skip
    """The place of a text's file; `in_project`: its inputs need other files. Reads folders: not for the event loop."""
    root = runtime.root_of(path)
    imported = tuple(dict.fromkeys(name for text in texts for name in _imports(text)))
    if path is None or root is None:
        return ModuleLocation(
            _BOX / (path.name if path else "target.py"), _identifier(path), (), None, _absolute(imported)
        )
    top = path.parent
    while top != root and (top / "__init__.py").is_file():
        top = top.parent
    parts = list(path.relative_to(top).with_suffix("").parts)
    name = ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
    if not all(part.isidentifier() for part in parts):
        name = _identifier(path)
    roots = tuple(folder for folder in dict.fromkeys((top, path.parent, root, root / "src")) if folder.is_dir())
    own = {each for each in imported if each == "." or any(_stands(folder, each, path) for folder in roots)}
    warm = tuple(each for each in _absolute(imported) if each not in own)
    if not in_project and not own and "." not in name and not any(_READS.search(text) for text in texts):
        return ModuleLocation(_BOX / path.name, name, (), None, warm)
    return ModuleLocation(path, name, roots, Overlay(root, runtime.unsaved(root, path)), warm)


def isolated_location(place: ModuleLocation, texts: tuple[str, ...]) -> ModuleLocation:
    """The place of texts that are parts of a file: outside of the project if they need nothing of it.

    There no package has to be imported first, which may be what fails: a clone lacks files that a build writes.
    """
    imported = tuple(dict.fromkeys(name for text in texts for name in _imports(text)))
    is_own = any(each == "." or any(_stands(folder, each, place.path) for folder in place.roots) for each in imported)
    if is_own or any(_READS.search(text) for text in texts):
        return place
    return ModuleLocation(_BOX / place.path.name, _identifier(place.path), (), None, _absolute(imported))


def isolated_unit(text: str, unit: str) -> str | None:
    """The unit with what it uses of its own file, imports included, and nothing else; None if it does not exist.

    For a file that cannot be imported: the unit may not need what fails.
    """
    tree = try_parse(text)
    if tree is None:
        return None
    owners = {name: node for node in tree.body for name in _binds(node)}
    wanted, kept = [unit.partition(".")[0]], set()
    while wanted:
        node = owners.get(wanted.pop())
        if node is not None and node not in kept:
            kept.add(node)
            wanted += [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    if owners.get(unit.partition(".")[0]) is None:
        return None
    future = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    body = [*future, *(node for node in tree.body if node in kept and node not in future)]
    return unparse(ast.Module(body=body, type_ignores=[]))


def _binds(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
    else:
        yield from (
            each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        )


@lru_cache(maxsize=16)
def _imports(text: str) -> tuple[str, ...]:
    """The top-level names of a module's own imports; "." for relative ones. Cached, since each judge needs it."""
    tree = try_parse(text)
    if tree is None:
        return ()
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.append("." if node.level else (node.module or "").partition(".")[0])
    return tuple(dict.fromkeys(found))


def _absolute(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in (".", "__future__"))


def _stands(folder: Path, name: str, path: Path) -> bool:
    file = folder / f"{name}.py"
    return (file != path and file.is_file()) or (folder / name).is_dir()


def _identifier(path: Path | None) -> str:
    name = re.sub(r"\W", "_", path.stem) if path else "target"
    return name if name.isidentifier() else f"m_{name}"
