"""Adapts new Python tests to their file."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from stet_ls.engine.actions.generated_tests.suite_split import distinct
from stet_ls.engine.api.request import Request
from stet_ls.validators.ast_text import parse_module


def prepare(code: str, name: str, request: Request, path: Path, present: str) -> str:
    """The tests, with `name` imported from its module, under names that are free in the file's text `present`."""
    return distinct(_unique_names(_imported(code, name, _module(request, path)), present))


def _module(request: Request, path: Path) -> str:
    """The dotted name from which a test at `path` imports the document."""
    assert request.path is not None
    package = request.path.parent
    parts = [request.path.stem] if request.path.stem != "__init__" else []
    while (package / "__init__.py").is_file():
        parts.insert(0, package.name)
        package = package.parent
    root = next((root for root in request.workspace.roots if package.is_relative_to(root)), package)
    same_folder = path.parent == request.path.parent
    above = package.relative_to(root).parts
    if not same_folder and above and above[-1] not in ("src", "lib"):
        parts = [*above, *parts]  # a folder without __init__.py is a namespace package seen from the root
    return ".".join(parts)


def _imported(code: str, name: str, module: str) -> str:
    """Imports `name` from its real module: small models invent the module, or repeat the tested code."""
    try:
        tree = parse_module(code)
    except SyntaxError:
        return code  # the syntax judge reports it
    lines = code.splitlines(keepends=True)
    bound = False
    for node in reversed(tree.body):
        start, end = node.lineno - 1, node.end_lineno or node.lineno
        if isinstance(node, ast.ImportFrom) and any(alias.name in (name, "*") for alias in node.names):
            if node.module != module or node.level:
                names = ", ".join(f"{a.name} as {a.asname}" if a.asname else a.name for a in node.names)
                lines[start:end] = [f"from {module} import {names}\n"]
            bound = True
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name == name:
            first = min([start, *(decorator.lineno - 1 for decorator in node.decorator_list)])
            lines[first:end] = []
    text = "".join(lines).strip("\n") + "\n"
    if bound or not name:
        return text
    return _after_future(text, f"from {module} import {name}\n")


def _after_future(code: str, line: str) -> str:
    """The code with an import line put after its docstring and its `__future__` imports."""
    body = parse_module(code).body
    at = 0
    for node in body:
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        plain = isinstance(node, (ast.Import, ast.ImportFrom))
        if not (docstring or future or plain):
            break
        at = node.end_lineno or at
    lines = code.splitlines(keepends=True)
    gap = ["\n", "\n"] if at < len(lines) and lines[at].strip() else []
    return "".join([*lines[:at], line, *gap, *lines[at:]])


def _unique_names(code: str, present: str) -> str:
    """Renames test functions and classes that the file already has: a second definition would hide the first."""
    taken = set(re.findall(r"^(?:async def|def|class)\s+(\w+)", present, re.MULTILINE))
    for name in re.findall(r"^(?:async def|def|class)\s+([Tt]est\w*)", code, re.MULTILINE):
        if name in taken:
            fresh = next(f"{name}_{n}" for n in range(2, 1000) if f"{name}_{n}" not in taken)
            code = re.sub(rf"\b{name}\b", fresh, code)
            taken.add(fresh)
    return code
