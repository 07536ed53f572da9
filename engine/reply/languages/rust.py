"""The form of Rust's imports."""

from __future__ import annotations

import re

from stet_ls.engine.reply.languages.import_form import Import, ImportForm, whole

_USE = re.compile(r"^use\s+(?P<path>[\w:]+?)(?:::\{(?P<names>[^{}]*)\})?(?:\s+as\s+(?P<alias>\w+))?\s*;?$")


def _read(statement: str) -> list[Import]:
    match = _USE.match(" ".join(statement.split()))
    if match is None:
        return whole(statement)
    if match["names"] is None:
        path, _, last = match["path"].rpartition("::")
        names = [f"{last} as {match['alias']}" if match["alias"] else last]
    else:
        path, names = match["path"], [" ".join(name.split()) for name in match["names"].split(",") if name.strip()]
    # A trait is used through its methods, so its name need not appear: only lowercase names are surely unused.
    return [
        Import(
            (path, name),
            "" if name.split()[-1][:1].isupper() or name in ("self", "*") else name.split()[-1],
            path,
            f"use {path}::{name};" if path else f"use {name};",
            name,
        )
        for name in names
    ]


def _write(imports: list[Import]) -> str:
    if len(imports) == 1 or not imports[0].name:
        return imports[0].text
    return f"use {imports[0].group}::{{{', '.join(one.name for one in imports)}}};"


IMPORTS = ImportForm(_read, _write)
