"""Arguments of a call as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stet_ls.engine.execution.inputs.rows import ArgumentRow
from stet_ls.engine.execution.python.inputs.subject import Parameter


def arguments(parameters: Sequence[Parameter], row: Mapping[str, str]) -> str:
    """The arguments of a row as written in a call; by name from the first omitted one on."""
    parts: list[str] = []
    named = False
    for each in parameters:
        if each.name not in row:
            named = True
        elif each.name.startswith("**"):
            parts.append(f"**{row[each.name]}")
        elif each.name.startswith("*"):
            # After a keyword argument they would be taken for the preceding parameter.
            parts += [] if named else [f"*{row[each.name]}"]
        else:
            parts.append(f"{each.name}={row[each.name]}" if named or each.keyword else row[each.name])
    return ", ".join(parts)


def bound(parameters: Sequence[Parameter], row: ArgumentRow, taken: str) -> tuple[str, dict[str, str]]:
    """Statements that bind each argument to a separate name, and the names by parameter."""
    names = {each.name: each.name.lstrip("*") + ("_" if each.name.lstrip("*") == taken else "") for each in parameters}
    lines = [f"{names[each.name]} = {row[each.name]}" for each in parameters if each.name in row]
    return "\n".join(lines), {name: names[name] for name in row}
