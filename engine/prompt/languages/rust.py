"""Names bound by Rust's imports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from stet_ls.engine.prompt.languages.import_binding import Binding, names_in


def bindings(text: str, path: Path | None) -> Iterator[Binding]:
    """The bindings of an import statement."""
    match = re.search(r"\buse\s+([\w:]+?)(?:::\{(.*)\}|::\*)?\s*(?:\bas\s+(\w+)\s*)?;", text, re.DOTALL)
    if match is None:
        return
    parts = tuple(part for part in match[1].split("::") if part not in ("crate", "self", "super", ""))
    if match[2] is not None or "::*" in text:
        yield Binding(parts, names_in(match[2] or ""))
    elif parts:
        yield Binding(parts[:-1], {match[3] or parts[-1]: parts[-1]})
        yield Binding(parts)
