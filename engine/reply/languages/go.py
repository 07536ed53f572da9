"""Go's imports, and their order inside of parentheses."""

from __future__ import annotations

import re

from stet_ls.engine.reply.languages.import_form import Import, ImportForm
from stet_ls.validators.source import Source, Span, Splice

_SPEC = re.compile(r"(?:(?<![\w.])(?P<alias>[\w.]+)[ \t]+)?(?P<path>\"[^\"\n]+\"|`[^`\n]+`)")
_NOISE = re.compile(r"^(?:go-)|(?:[.-]go|\.v\d+)$")


def _read(statement: str) -> list[Import]:
    found = []
    for spec in _SPEC.finditer(statement.strip().removeprefix("import")):
        path = spec["path"].strip('"`')
        parts = [part for part in path.split("/") if not re.fullmatch(r"v\d+", part)]
        bound = spec["alias"] or _NOISE.sub("", parts[-1] if parts else path)
        text = f'{spec["alias"]} "{path}"' if spec["alias"] else f'"{path}"'
        found.append(Import((spec["alias"] or "", path), "" if bound in ("_", ".") else bound, text, text))
    return found


def _write(imports: list[Import]) -> str:
    return f"import {imports[0].text}"


def _into(source: Source, block: list[Span], new: list[Import], end: str) -> list[Splice] | None:
    """Inserts imports into the parentheses, standard library before the rest, in gofmt's order."""
    statement = block[-1]
    if not source.slice(statement).rstrip().endswith(")"):
        return None
    lines = range(source.line_of(statement.start) + 1, source.line_of(statement.end))
    splices = []
    for one in sorted(new, key=lambda one: one.key[1]):
        at = source.starts[source.line_of(statement.end)]
        for number in lines:
            present = [_order(each) for each in _read(source.line_text(number))]
            if present and present[0][0] == _order(one)[0]:
                at = source.starts[number + (present[0] < _order(one))]
                if present[0] > _order(one):
                    break
        splices.append(Splice(Span(at, at), f"\t{one.text}{end}"))
    return splices


def _order(one: Import) -> tuple[bool, str]:
    path = one.key[1]
    return ("." in path.partition("/")[0], path)


IMPORTS = ImportForm(_read, _write, into=_into)
