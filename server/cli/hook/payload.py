"""What an agent says on standard input. Agents spell the same facts in several ways; all of them are read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MOST_BYTES = 20_000_000
MOST_FILES = 20

_SESSION = ("session_id", "sessionId", "conversation_id")
_INPUT = ("tool_input", "toolArgs", "toolInput")
_PATH = ("file_path", "filePath", "absolute_path", "notebook_path", "path")
_PATCH = ("command", "patch", "patchText", "input")
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update) File|Move to): (.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Payload:
    """One call of a hook. `folder` is where the agent works; None if it does not say.

    `files` are those that a tool has edited, as absolute paths. `loops` is the number of turns in a row that hooks have
    caused, where the agent counts them.
    """

    session: str
    folder: Path | None
    files: tuple[Path, ...] = ()
    prompt: str = ""
    loops: int | None = None


def read(data: bytes) -> Payload:
    """The payload. Raises ValueError for anything but a JSON object."""
    values = json.loads(data.decode("utf-8", "replace") or "{}")
    if not isinstance(values, dict):
        raise ValueError("the hook's input is not a JSON object")
    folder = _folder(values)
    files = tuple(dict.fromkeys(Path(folder or "", name) for name in _edited(values)))
    return Payload(
        _text(values, *_SESSION),
        folder,
        tuple(file for file in files if file.is_absolute())[:MOST_FILES],
        _text(values, "prompt", "initialPrompt"),
        values["loop_count"] if isinstance(values.get("loop_count"), int) else None,
    )


def _folder(values: Mapping[str, Any]) -> Path | None:
    roots = values.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    name = _text(values, "cwd") or first
    return Path(name) if name and Path(name).is_absolute() else None


def _edited(values: Mapping[str, Any]) -> Iterator[str]:
    """The names of edited files: of the event itself, of the tool's arguments, of a patch among these."""
    arguments: Any = next((values[key] for key in _INPUT if key in values), {})
    if isinstance(arguments, str):
        arguments = _parsed(arguments)
    for each in (values, arguments):
        if isinstance(each, Mapping):
            if name := _text(each, *_PATH):
                yield name
            for key in _PATCH:
                if isinstance(patch := each.get(key), str) and "*** Begin Patch" in patch:
                    yield from _PATCHED.findall(patch)


def _parsed(text: str) -> Any:
    """Arguments that an agent hands over as JSON in a string; a bare patch stays what it is."""
    try:
        return json.loads(text)
    except ValueError:
        return {"patch": text}


def _text(values: Mapping[str, Any], *keys: str) -> str:
    return next((found for key in keys if isinstance(found := values.get(key), str) and found), "")
