"""The reference pages, made from the settings model and the tables of commands, tools and sources of inputs.

`python tests/pages` writes them. A test compares the files in docs/ with these pages, so that they
cannot lag behind the code.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from pages.checkers_page import checkers_page
from pages.commands_page import commands_page, protocol_page
from pages.evidence_page import evidence_page
from pages.languages_page import languages_page
from pages.messages_page import messages_page, parts_page
from pages.settings_page import editor_schema, settings_page, settings_schema
from pages.storage_page import storage_page

PAGES: Mapping[str, Callable[[], str]] = {
    "settings.md": settings_page,
    "settings.schema.json": lambda: _json(settings_schema()),
    "settings.editor.json": lambda: _json(editor_schema()),
    "checkers.md": checkers_page,
    "evidence.md": evidence_page,
    "languages.md": languages_page,
    "commands.md": commands_page,
    "lsp-commands.md": protocol_page,
    "messages.md": messages_page,
    "message-parts.md": parts_page,
    "storage.md": storage_page,
}
"""What makes each generated page, by its file name."""


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def main() -> int:
    """Writes every page into the folder of the first argument, "docs" by default."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs")
    folder.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (folder / name).write_text(page(), encoding="utf-8")
        print(folder / name)
    return 0
