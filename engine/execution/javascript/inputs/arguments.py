"""Arguments of a call as text."""

from __future__ import annotations

from collections.abc import Sequence

from stet_ls.engine.execution.inputs.rows import ArgumentRow
from stet_ls.engine.execution.javascript.inputs.subject import Parameter


def bound(parameters: Sequence[Parameter], row: ArgumentRow, taken: str) -> tuple[str, dict[str, str]]:
    """Statements that bind each argument to a separate name, and the names by parameter."""
    names = {each.name: each.name + ("_" if each.name == taken else "") for each in parameters if each.name in row}
    return "\n".join(f"const {name} = {row[each]}" for each, name in names.items()), names


def arguments(parameters: Sequence[Parameter], given: ArgumentRow) -> str:
    """The arguments of a call, as far as there are values."""
    return ", ".join(("..." if each.rest else "") + given[each.name] for each in parameters if each.name in given)
