"""The reference pages, made from the settings model and the tables of commands and tools.

`python -m stet_ls.server.cli.docs` writes them. A test compares the files in docs/ with these pages, so that they
cannot lag behind the code.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from stet_ls.engine.judges.differential.effects import effects_table
from stet_ls.server.cli.docs.checkers_page import checkers_page
from stet_ls.server.cli.docs.commands_page import commands_page, protocol_page
from stet_ls.server.cli.docs.languages_page import languages_page
from stet_ls.server.cli.docs.messages_page import messages_page
from stet_ls.server.cli.docs.settings_page import editor_schema, settings_page, settings_schema


def pages() -> Mapping[str, str]:
    """Every generated page by its file name."""
    return {
        "settings.md": settings_page(),
        "settings.schema.json": _json(settings_schema()),
        "settings.editor.json": _json(editor_schema()),
        "checkers.md": checkers_page(),
        "languages.md": languages_page(),
        "commands.md": commands_page(),
        "lsp-commands.md": protocol_page(),
        "messages.md": messages_page(),
    }


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def main() -> int:
    """Writes every page into the folder of the first argument, "docs" by default."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs")
    folder.mkdir(exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")
        print(folder / name)
    evidence = folder / "evidence.md"
    if evidence.exists():
        evidence.write_text(with_effects(evidence.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


def with_effects(text: str) -> str:
    """The page about evidence with the current table of effects."""
    return re.sub(r"(?s)(<!-- effects -->\n).*?(\n<!-- /effects -->)", rf"\g<1>{effects_table()}\g<2>", text)
