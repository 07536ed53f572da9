"""Which of the files that are watched a code object is of."""

from __future__ import annotations

import os
from typing import Iterable  # noqa: UP035 - for Python 3.8


class OwnFiles:
    """The files `paths`, found by any name that Python has for them. `paths` has them by their real paths."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = {os.path.realpath(path): path for path in paths}
        self._known: dict[str, str] = {}

    def named(self, name: object) -> str:
        """The file of this name, "" if it is none of them."""
        if not isinstance(name, str):
            return ""
        if name not in self._known:
            self._known[name] = self.paths.get(os.path.realpath(name), "")
        return self._known[name]
