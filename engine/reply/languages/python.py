"""The form of Python's imports, and the position of a new one according to isort and ruff."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass

from stet_ls.engine.reply.languages.import_form import Import, ImportForm, above, after, whole
from stet_ls.validators.ast_text import parse_module
from stet_ls.validators.source import Source, Span, Splice


def _read(statement: str) -> list[Import]:
    try:
        (node,) = parse_module(statement.strip()).body
    except (SyntaxError, ValueError):
        return whole(statement)
    if isinstance(node, ast.Import):
        imported = [(each, f"import {_alias(each)}") for each in node.names]
        return [
            Import(("import", each.name, each.asname or ""), each.asname or each.name.partition(".")[0], text, text)
            for each, text in imported
        ]
    if not isinstance(node, ast.ImportFrom):
        return whole(statement)
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


def _write(imports: list[Import]) -> str:
    if not imports[0].name:
        return imports[0].text
    return f"{imports[0].group} import {', '.join(one.name for one in imports)}"


@dataclass(frozen=True, slots=True, order=True)
class _Rank:
    """The sections of isort and ruff: `__future__`, the standard library, the rest, relative imports."""

    section: int
    is_from: bool
    module: str


def _sorted(source: Source, block: list[Span], lines: list[str], end: str) -> list[Splice]:
    """Inserts each new import into its section, and a new section between blank lines."""
    present = [(span, _rank(source.slice(span))) for span in block]
    splices: list[Splice] = []
    for section in sorted({_rank(line).section for line in lines}):
        new = sorted((line for line in lines if _rank(line).section == section), key=_rank)
        same = [(span, rank) for span, rank in present if rank.section == section]
        lower = [span for span, rank in present if rank.section < section]
        if same:
            for line in new:
                below = [span for span, rank in same if rank <= _rank(line)]
                splices.append(
                    after(source, below[-1], line + end, end) if below else above(source, same[0][0], line + end)
                )
        elif lower:
            splices.append(after(source, lower[-1], end + "".join(f"{line}{end}" for line in new), end))
        else:
            splices.append(above(source, block[0], "".join(f"{line}{end}" for line in new) + end))
    return splices


def _rank(statement: str) -> _Rank:
    words = statement.split()
    module = words[1].rstrip(",") if len(words) > 1 else ""
    root = module.partition(".")[0]
    if module == "__future__":
        section = 0
    elif module.startswith("."):
        section = 3
    else:
        section = 1 if root in sys.stdlib_module_names else 2
    return _Rank(section, words[:1] == ["from"], module.lower())


IMPORTS = ImportForm(_read, _write, insert=_sorted)
