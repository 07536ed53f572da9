"""Cases kept as text files: `%% key: value` lines, and sections that run from `%% name` to the next `%%` line.

A section `%% name crlf` has carriage returns in its line ends, which no editor has to keep.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Case:
    """One file. `notes` are the values of all `note` keys, `sections` are without their last line end."""

    keys: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    sections: dict[str, str] = field(default_factory=dict)


def read(path: Path) -> Case:
    """The case that a file holds."""
    case = Case()
    lines: list[str] | None = None
    name, end = "", "\n"
    for line in [*path.read_text(encoding="utf-8").removesuffix("\n").split("\n"), "%% end"]:
        if not line.startswith("%% "):
            assert lines is not None, f"{path.name}: text before the first section"
            lines.append(line)
            continue
        if lines is not None:
            case.sections[name] = end.join(lines)
        key, colon, value = line[3:].partition(": ")
        if colon and key == "note":
            case.notes.append(value)
        elif colon:
            case.keys[key] = value
        name, end = key.split(" ")[0], "\r\n" if key.endswith(" crlf") else "\n"
        lines = None if colon else []
    return case
