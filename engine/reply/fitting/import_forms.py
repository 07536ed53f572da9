"""Import statements read into single imports and written again, language by language."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Import:
    """One imported thing. `key` says what is imported and under which name, `bound` the name ("": not known).

    Imports of one `group` are written as one statement, if `name` says how each of them stands in it.
    """

    key: tuple[str, ...]
    bound: str
    group: str
    text: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    """How a language writes imports."""

    read: Callable[[str], list[Import]]
    write: Callable[[list[Import]], str]


def read(statements: Iterable[str], language: str) -> list[Import]:
    """The single imports of some statements, each once."""
    form = FORMS[language]
    return list({one.key: one for statement in statements for one in form.read(statement)}.values())


def write(imports: Iterable[Import], language: str) -> list[str]:
    """The statements for some imports."""
    groups: dict[str, list[Import]] = {}
    for one in imports:
        groups.setdefault(one.group, []).append(one)
    return [FORMS[language].write(group) for group in groups.values()]


def _whole(statement: str, bound: str = "") -> list[Import]:
    """A statement that is kept as it is."""
    text = statement.strip()
    key = " ".join(text.rstrip(";").split()).replace("'", '"')
    return [Import((key,), bound, key, text)]


def _first(imports: list[Import]) -> str:
    return imports[0].text


def _read_python(statement: str) -> list[Import]:
    try:
        (node,) = ast.parse(statement.strip()).body
    except (SyntaxError, ValueError):
        return _whole(statement)
    if isinstance(node, ast.Import):
        return [
            Import(
                ("import", a.name, a.asname or ""),
                a.asname or a.name.partition(".")[0],
                f"import {_alias(a)}",
                f"import {_alias(a)}",
            )
            for a in node.names
        ]
    if not isinstance(node, ast.ImportFrom):
        return _whole(statement)
    module = "." * node.level + (node.module or "")
    return [
        Import(
            ("from", module, a.name, a.asname or ""),
            "" if a.name == "*" or module == "__future__" else a.asname or a.name,
            f"from {module}", f"from {module} import {_alias(a)}", _alias(a),
        )
        for a in node.names
    ]  # fmt: skip


def _alias(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _write_python(imports: list[Import]) -> str:
    if not imports[0].name:
        return imports[0].text
    return f"{imports[0].group} import {', '.join(one.name for one in imports)}"


_SCRIPT = re.compile(
    r"^import\s+(?P<type>type\s+)?(?:(?P<default>[\w$]+)\s*,?\s*)?(?:\{(?P<names>[^{}]*)\}\s*|\*\s*as\s+(?P<all>[\w$]+)\s*)?"
    r"from\s*(?P<module>['\"][^'\"]*['\"])\s*(?P<end>;?)$"
)
_REQUIRE = re.compile(r"^(?:const|let|var)\s+(?P<name>[\w$]+)\s*=\s*require\b")


def _read_script(statement: str) -> list[Import]:
    match = _SCRIPT.match(statement.strip())
    if match is None:
        required = _REQUIRE.match(statement.strip())
        return _whole(statement, required["name"] if required else "")
    module, end, kind = match["module"], match["end"], match["type"] or ""
    head = f"import {kind}"
    group = f"{head}@ from {module}{end}"
    path = module.strip("'\"")
    found = []
    if name := match["default"]:
        found.append(
            Import(
                (path, "default", name), name, f"{head}{name} from {module}{end}", f"{head}{name} from {module}{end}"
            )
        )
    if name := match["all"]:
        text = f"{head}* as {name} from {module}{end}"
        found.append(Import((path, "*", name), name, text, text))
    for part in (match["names"] or "").split(","):
        if words := part.split():
            name = " ".join(words)
            found.append(Import((path, "named", name), words[-1], group, group.replace("@", f"{{ {name} }}"), name))
    return found or _whole(statement)


def _write_script(imports: list[Import]) -> str:
    if not imports[0].name:
        return imports[0].text
    return imports[0].group.replace("@", f"{{ {', '.join(one.name for one in imports)} }}")


_GO_SPEC = re.compile(r"(?:(?<![\w.])(?P<alias>[\w.]+)[ \t]+)?(?P<path>\"[^\"\n]+\"|`[^`\n]+`)")
_GO_NOISE = re.compile(r"^(?:go-)|(?:[.-]go|\.v\d+)$")


def _read_go(statement: str) -> list[Import]:
    found = []
    for spec in _GO_SPEC.finditer(statement.strip().removeprefix("import")):
        path = spec["path"].strip('"`')
        parts = [part for part in path.split("/") if not re.fullmatch(r"v\d+", part)]
        bound = spec["alias"] or _GO_NOISE.sub("", parts[-1] if parts else path)
        text = f'{spec["alias"]} "{path}"' if spec["alias"] else f'"{path}"'
        found.append(Import((spec["alias"] or "", path), "" if bound in ("_", ".") else bound, text, text))
    return found


def _write_go(imports: list[Import]) -> str:
    return f"import {imports[0].text}"


_USE = re.compile(r"^use\s+(?P<path>[\w:]+?)(?:::\{(?P<names>[^{}]*)\})?(?:\s+as\s+(?P<alias>\w+))?\s*;?$")


def _read_rust(statement: str) -> list[Import]:
    match = _USE.match(" ".join(statement.split()))
    if match is None:
        return _whole(statement)
    if match["names"] is None:
        path, _, last = match["path"].rpartition("::")
        names = [f"{last} as {match['alias']}" if match["alias"] else last]
    else:
        path, names = match["path"], [" ".join(name.split()) for name in match["names"].split(",") if name.strip()]
    # A trait works through its methods, so its name need not appear: only what is lower case is surely unused.
    return [
        Import(
            (path, name),
            "" if name.split()[-1][:1].isupper() or name in ("self", "*") else name.split()[-1],
            path,
            f"use {_joined(path, name)};",
            name,
        )
        for name in names
    ]


def _joined(path: str, name: str) -> str:
    return f"{path}::{name}" if path else name


def _write_rust(imports: list[Import]) -> str:
    if len(imports) == 1 or not imports[0].name:
        return imports[0].text
    return f"use {imports[0].group}::{{{', '.join(one.name for one in imports)}}};"


_JAVA = re.compile(r"^import\s+(?:static\s+)?[\w.]*?(?P<name>\w+|\*)\s*;?$")


def _read_java(statement: str) -> list[Import]:
    match = _JAVA.match(" ".join(statement.split()))
    return _whole(statement, "" if match is None or match["name"] == "*" else match["name"])


_PYTHON = Form(_read_python, _write_python)
_ECMASCRIPT = Form(_read_script, _write_script)
_PLAIN = Form(_whole, _first)
FORMS: Mapping[str, Form] = {
    "python": _PYTHON,
    "javascript": _ECMASCRIPT,
    "javascriptreact": _ECMASCRIPT,
    "typescript": _ECMASCRIPT,
    "typescriptreact": _ECMASCRIPT,
    "go": Form(_read_go, _write_go),
    "rust": Form(_read_rust, _write_rust),
    "java": Form(_read_java, _first),
    "c": _PLAIN,
    "cpp": _PLAIN,
    "csharp": _PLAIN,
}
