"""Changes of a task that were not explicitly requested: new files, and duplicate definitions in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from stet_ls.engine.api.answer import Answer, NewFile
from stet_ls.engine.api.evidence import PROVING, Check, Evidence, Ruling
from stet_ls.engine.judges.danger.risk_kinds import NEW_FILE
from stet_ls.validators.source import Source
from stet_ls.validators.structure import units

_ANYWHERE = re.compile("main|test|bench|example", re.IGNORECASE)
"""Prefixes of names that many files of a project define independently."""


def unrequested_changes(
    files: Sequence[NewFile], done: Sequence[Answer], texts: Mapping[Path, str]
) -> tuple[Evidence, ...]:
    """A danger for each new file that no step ran, or that repeats a name of `texts`, the existing files."""
    details = [detail for file in files if (detail := "; ".join(_about(file, done, texts)))]
    return tuple(Evidence(Check.DANGER, Ruling.UNKNOWN, each, trusted=True, codes=(NEW_FILE,)) for each in details)


def _about(file: NewFile, done: Sequence[Answer], texts: Mapping[Path, str]) -> Iterator[str]:
    touching = [each for each in done if file.path in each.touched]
    if not any(item.check in PROVING and item.verdict is Ruling.PASS for each in touching for item in each.evidence):
        yield f"creates {file.path.name}, which nothing executed"
    language = done[0].language
    own = _names(file.text, language)
    for path, text in texts.items():
        if twice := sorted(own & _names(text, language)):
            yield f"{file.path.name} defines `{twice[0]}`, which {path.name} defines too"


def _names(text: str, language: str) -> frozenset[str]:
    outermost = (unit.name for unit in units(Source(text), language) if unit.name == unit.qualified)
    return frozenset(name for name in outermost if not _ANYWHERE.match(name))
