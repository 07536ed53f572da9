"""Names bound by Go's imports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from stet_ls.engine.prompt.languages.import_binding import Binding


def bindings(text: str, path: Path | None) -> Iterator[Binding]:
    """The bindings of an import statement."""
    for module in re.findall(r'"([^"\n]+)"', text):
        yield Binding((module.rsplit("/", 1)[-1],))
