"""The form of Java's imports."""

from __future__ import annotations

import re

from stet_ls.engine.reply.languages.import_form import Import, ImportForm, whole

_IMPORT = re.compile(r"^import\s+(?:static\s+)?[\w.]*?(?P<name>\w+|\*)\s*;?$")


def _read(statement: str) -> list[Import]:
    match = _IMPORT.match(" ".join(statement.split()))
    return whole(statement, "" if match is None or match["name"] == "*" else match["name"])


IMPORTS = ImportForm(_read)
