"""An exception as plain data: its type, its bases, where it was raised, and the values of the names there."""

from __future__ import annotations

import linecache
import os
import reprlib
from types import TracebackType
from typing import Any

_TEXT = 4_000
_LINE = 200
_FRAMES = 60
_LOCALS = 12
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 200
_short.maxlist = _short.maxtuple = _short.maxset = _short.maxdict = 10


def safe_repr(value: object, limit: int = 500) -> str:
    """The repr of any object, even if its `__repr__` is broken."""
    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001 - a repr of the user's may raise anything
        return f"<{type(value).__name__}: its repr raised {type(error).__name__}>"
    return text if len(text) <= limit else f"{text[: limit // 2]}…{text[-limit // 2 :]}"


def described(error: BaseException, traceback: TracebackType | None = None) -> dict[str, Any]:
    """Everything about an exception that a diagnosis may need."""
    try:
        message = str(error)
    except Exception as broken:  # noqa: BLE001
        message = f"<its text raised {type(broken).__name__}>"
    failure: dict[str, Any] = {
        "type": type(error).__name__,
        "mro": [each.__name__ for each in type(error).__mro__[1:-1]],
        "message": message[:_TEXT],
        "frames": frames(traceback or error.__traceback__),
    }
    if isinstance(error, ImportError):
        failure["module"] = error.name or ""
    if isinstance(error, SyntaxError):
        failure["place"] = [error.filename or "", error.lineno or 0, error.offset or 0]
    return failure


def frames(traceback: TracebackType | None) -> list[dict[str, Any]]:
    """The frames below the reporter's, outermost first; of very many, the outer ones are left out."""
    found: list[dict[str, Any]] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not code.co_filename.startswith(_HERE):
            entry: dict[str, Any] = {"path": code.co_filename, "line": traceback.tb_lineno, "function": code.co_name}
            found.append({**entry, "scope": traceback.tb_frame})
        traceback = traceback.tb_next
    found = found[-_FRAMES:]
    deepest = next((entry for entry in reversed(found) if _is_users(entry["path"])), None)
    for entry in found:
        scope = entry.pop("scope")
        if entry is deepest:
            entry["locals"] = _locals(scope.f_locals)
            entry["code"] = linecache.getline(entry["path"], entry["line"]).strip()[:_LINE]
    return found


def _is_users(path: str) -> bool:
    here = os.getcwd() + os.sep
    return path.startswith(here) and "site-packages" not in path and "node_modules" not in path


def _locals(scope: dict[str, Any]) -> list[list[str]]:
    found: list[list[str]] = []
    for name, value in list(scope.items()):
        if name.startswith(("__", "@")) or len(found) == _LOCALS or type(value).__name__ == "module":
            continue
        try:
            found.append([name, _short.repr(value)])
        except Exception as error:  # noqa: BLE001
            found.append([name, f"<its repr raised {type(error).__name__}>"])
    return found
