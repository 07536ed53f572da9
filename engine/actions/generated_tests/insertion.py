"""How new tests join a test file: imports made right, names made unique, put at the end and never inside a test."""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path

from stet_ls.engine.actions.generated_tests.location import SuiteFile
from stet_ls.engine.actions.generated_tests.suite_split import distinct
from stet_ls.engine.actions.rewriting.format_edit import formatted
from stet_ls.engine.api.request import Request, Target, TargetKind
from stet_ls.engine.reply.fitting.fit import fit
from stet_ls.validators.checkers.formatting import format_changed
from stet_ls.validators.checkers.toolbox import Toolbox
from stet_ls.validators.source import Source, Span

_SCRIPTS = ("javascript", "javascriptreact", "typescript", "typescriptreact")


def prepare_tests(place: SuiteFile, code: str, request: Request, target: Target) -> str:
    """The code of new tests as it may stand at `place`: imported from where it is, under names that are free there."""
    name = target.name.split(".")[0]
    if request.language == "python":
        code = _python_imports(code, name, _python_module(request, place))
    elif request.language in _SCRIPTS:
        code = _script_imports(code, name, _script_module(request, place))
    elif request.language == "go":
        code = _go_package(code, request.source.text)
    if request.language == "python":
        code = distinct(_unique_names(code, place.text))
    return code.strip("\n") + "\n"


def insert_tests(place: SuiteFile, code: str, request: Request, tools: Toolbox) -> Source:
    """The whole text of the test file with `prepare_tests` code in it, formatted as its project formats."""
    if not place.text.strip():
        new = Source(code)
        return format_changed(new, [new.whole], request.language, path=place.path, tools=tools) or new
    source = Source(place.text)
    end = Span(len(source.data), len(source.data))
    fitted = fit(code, source=source, target=Target(TargetKind.INSERTION, end), language=request.language)
    fitted = formatted(source, fitted, request.language, place.path, tools)
    return source.splice(fitted.splices)


def _python_module(request: Request, place: SuiteFile) -> str:
    """The dotted name under which a test at `place` imports the document."""
    assert request.path is not None
    package = request.path.parent
    parts = [request.path.stem] if request.path.stem != "__init__" else []
    while (package / "__init__.py").is_file():
        parts.insert(0, package.name)
        package = package.parent
    root = next((root for root in request.workspace.roots if package.is_relative_to(root)), package)
    beside = place.path.parent == request.path.parent
    above = package.relative_to(root).parts
    if not beside and above and above[-1] not in ("src", "lib"):
        parts = [*above, *parts]  # a folder without __init__.py is a namespace package seen from the root
    return ".".join(parts)


def _python_imports(code: str, name: str, module: str) -> str:
    """Imports `name` from where it really is: small models invent the module, or repeat what they test."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return code  # the syntax judge tells
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
    body = ast.parse(code).body
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


def _script_module(request: Request, place: SuiteFile) -> str:
    """The relative path under which a test at `place` imports the document."""
    assert request.path is not None
    path = Path(os.path.relpath(request.path, place.path.parent)).as_posix()
    if request.language.startswith("typescript"):
        path = path.rsplit(".", 1)[0]  # TypeScript imports name no extension
    return path if path.startswith(".") else f"./{path}"


def _script_imports(code: str, name: str, module: str) -> str:
    """Points the import of `name` at the document, or adds it."""
    if not name:
        return code
    from_clause = re.compile(rf"(import\s*\{{[^}}]*\b{name}\b[^}}]*\}}\s*from\s*)(['\"])[^'\"]*\2")
    required = re.compile(rf"(\{{[^}}]*\b{name}\b[^}}]*\}}\s*=\s*require\()(['\"])[^'\"]*\2")
    for pattern in (from_clause, required):
        code, count = pattern.subn(lambda match: f"{match[1]}{match[2]}{module}{match[2]}", code)
        if count:
            return code
    if "require(" in code and "import " not in code:
        return f'const {{ {name} }} = require("{module}");\n{code}'
    return f'import {{ {name} }} from "{module}";\n{code}'


def _go_package(code: str, source: str) -> str:
    """Puts the tests into the package of the source."""
    package = re.search(r"^package\s+(\w+)", source, re.MULTILINE)
    if package is None:
        return code
    clause = f"package {package[1]}"
    code, count = re.subn(r"^package\s+\w+", clause, code, count=1, flags=re.MULTILINE)
    return code if count else f"{clause}\n\n{code}"
