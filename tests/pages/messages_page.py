"""docs/messages.md: every message that a user can see, grouped by package."""

from __future__ import annotations

import ast
import re
from itertools import groupby
from pathlib import Path

from pages.message_table import Message, messages
from stet_ls.validators.ast_text import parse_module

_ROOT = Path(__file__).resolve().parents[2]

_SAMPLES = {
    "action": "refactor", "actions": "greet, tidy", "backend": "bubblewrap",
    "base_url": "http://127.0.0.1:11434/v1", "budget": "quick", "call": "total([1])", "check": "tests",
    "code": "1", "count": "3", "deadline": "10", "detail": "exit status 1", "error": "Permission denied",
    "field": "name", "file": "app.py", "files": "12", "first": "total", "folder": "src", "found": "5",
    "inputs": "214", "job": "7", "key": "deadline", "known": "a, b", "label": "tests", "language": "python",
    "last": "total", "last_line": "no output", "level": "strong", "limit": "10", "line": "3", "lines": "2",
    "log": "stet.log", "megabytes": "491", "message": "name 'x' is not defined", "missing": "node", "model": "qwen2.5",
    "name": "total", "names": "app.py, util.py", "new": "2", "number": "3", "package": "numpy", "passed": "4",
    "path": "src/app.py", "place": ".stet.toml, line 3", "port": "8080", "project": "shop",
    "reason": "not installed", "root": "shop", "said": "no output", "seconds": "5", "size": "20", "source": "ruff",
    "status": "1", "strerror": "Permission denied", "test": "test_total", "text": "0", "title": "Refactor",
    "token": "x", "tool": "ruff", "total": "5", "type": "NameError", "unit": "total", "uri": "file:///src/app.py",
    "valid": "180", "value": "0", "version": "2", "wanted": "a number", "why": "no Python found", "word": "foo",
}  # fmt: skip
"""Example values for placeholders of that name; any other shows its own name."""


def _folder(message: Message) -> str:
    return message.path.rpartition("/")[0]


def messages_page() -> str:
    """The page, from the literals in the code."""
    whole = (each for each in messages(_ROOT) if each.kind != "text" or len(each.text.split()) > 2)
    by_folder = sorted(whole, key=_folder)
    rooms = "\n".join(_room(folder, list(found)) for folder, found in groupby(by_folder, key=_folder))
    return f"""\
# Messages

This page is generated from the code by `python tests/pages`: each text that a person can see, by the
folder whose code says it. Placeholders are in braces; the example fills them in. Texts of the kind *part* appear within
another message, as evidence, or in a report.

{rooms}"""


def _room(folder: str, found: list[Message]) -> str:
    purpose = (ast.get_docstring(parse_module((_ROOT / folder / "__init__.py").read_text("utf-8"))) or "").partition(
        "\n"
    )[0]
    distinct = list(dict.fromkeys((each.kind, each.text) for each in found))
    rows = (
        f"| {'part' if kind == 'text' else kind} | {_cell(text)} | {_cell(_example(kind, text))} |\n"
        for kind, text in distinct
    )
    return f"## `{folder}`\n\n{purpose}\n\n| kind | message | example |\n|---|---|---|\n{''.join(rows)}"


def _example(kind: str, text: str) -> str:
    """The message as it may appear, or nothing if that would repeat it."""
    filled = re.sub(r"\{(\w+)\}", lambda match: _SAMPLES.get(match[1], match[1].replace("_", " ")), text)
    shown = f"{kind}: {filled}" if kind in ("error", "warning") else filled
    return "" if shown == text else shown


def _cell(text: str) -> str:
    return re.sub(r"\s*\n\s*", " / ", text).replace("|", "\\|").replace("<", "\\<").replace("*", "\\*")
