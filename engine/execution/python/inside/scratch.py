"""A folder for the files of one call: what it reads is put there before, and what it wrote is compared afterwards."""

from __future__ import annotations

import os
import sys
from typing import Any

MOST = 2_000
"""The number of characters of a file that are compared."""


class Scratch:
    """The folder is the current one while a call runs, so that its paths are short and the same for all texts."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.join(folder, f"files-{os.getpid()}")
        self.home, self.is_used = os.getcwd(), False

    def make(self, files: dict[str, str]) -> None:
        self.is_used = True
        for name, text in files.items():
            path = os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(text.encode())
        os.chdir(self.folder)
        temporary: Any = sys.modules.get("tempfile")
        if temporary:
            temporary.tempdir = self.folder

    def holds(self, *paths: Any) -> bool:
        """Whether these are all within it, now that it is used. A descriptor was checked when it was opened."""
        return self.is_used and all(
            isinstance(path, int)
            or (os.path.realpath(os.fsdecode(path or ".")) + "/").startswith(os.path.realpath(self.folder) + "/")
            for path in paths
        )

    def left(self) -> str:
        """All files as text, "" if it was not used. Removes them."""
        if not self.is_used:
            return ""
        os.chdir(self.home)
        lines = []
        for base, folders, names in os.walk(self.folder, topdown=False):
            for name in sorted(names):
                path = os.path.join(base, name)
                lines.append(f"{os.path.relpath(path, self.folder)}: {content(path)}")
                os.unlink(path)
            for name in folders:
                path = os.path.join(base, name)
                (os.unlink if os.path.islink(path) else os.rmdir)(path)
            if not names and not folders:
                lines.append(os.path.relpath(base, self.folder) + "/")
        os.rmdir(self.folder)
        self.is_used = False
        return "files: " + "; ".join(sorted(lines))


def content(path: str) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        return type(error).__name__
    text = repr(data.decode("utf-8", "backslashreplace"))
    return text if len(text) < MOST else f"{text[:MOST]}... ({len(data)})"
