"""What the judge of a project's tests needs to know about a language: one row per language."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from stet_ls.validators.ast_text import try_parse
from stet_ls.validators.languages import lookup


def _assigned_python(text: str, path: Path | None) -> Iterator[str]:
    """The names that a text assigns into other modules of the project, where its tests may use them."""
    tree = try_parse(text)
    nodes = list(ast.walk(tree)) if tree else []
    folder = path.parent if path is not None else Path()
    imported = {
        alias.asname or alias.name
        for node in nodes
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if (folder / f"{alias.name.replace('.', '/')}.py").is_file()
    }
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()) if name in imported:
                yield f"{name}.{node.attr}"


@dataclass(frozen=True, slots=True)
class ProjectTestLanguage:
    """What the judge of a project's tests needs to know about a language.

    `error` is a statement that ends its caller, with {} for the word that identifies it in the failure.
    `expression` replaces the body of a function that is one expression and begins with `arrow`. `accessors` matches a
    body that holds no statements. `assigned(text, path)` yields what a text assigns into other modules of the project.
    """

    error: str = ""
    expression: str = ""
    arrow: str = ""
    accessors: re.Pattern[str] | None = None
    assigned: Callable[[str, Path | None], Iterable[str]] = lambda _text, _path: ()


_SCRIPT = 'throw new Error("{}");'
ROWS: Mapping[str, ProjectTestLanguage] = {
    "python": ProjectTestLanguage(assigned=_assigned_python),
    "javascript": ProjectTestLanguage(_SCRIPT, expression=f"{{ {_SCRIPT} }}"),
    "go": ProjectTestLanguage('panic("{}");'),
    "rust": ProjectTestLanguage('panic!("{}");'),
    # Java rejects statements after a plain `throw`.
    "java": ProjectTestLanguage('if (true) throw new RuntimeException("{}");'),
    "csharp": ProjectTestLanguage(
        'if (true) throw new System.Exception("{}");',
        expression='=> throw new System.Exception("{}")',
        arrow="=>",
        accessors=re.compile(r"\{\s*(?:\[[^\]]*\]\s*)?(?:\w+\s+)?(?:get|set|init|add|remove)\b"),
    ),
    "c": ProjectTestLanguage("__builtin_trap();"),
}
"""By language id; a row applies to its whole family."""

for_language = lookup(ROWS, ProjectTestLanguage())
"""The row of a language id; for any other language the defaults."""
