"""The pieces of context in a prompt, and their priorities."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Priority(IntEnum):
    """What is kept if not everything fits; the lowest value is dropped last."""

    PROBLEM = 0
    GIVEN = 1
    FRAME = 2
    SIGNATURE = 3
    DEFINITION = 4
    CALLER = 5
    REMEMBERED = 6


@dataclass(frozen=True, slots=True)
class RememberedItem:
    """A remembered solution to show: its whole text, and its origin in a few words."""

    text: str
    provenance: str


@dataclass(frozen=True, slots=True)
class ContextItem:
    """A titled piece of context. `name` is its name in `left_out`; `code`: it is shown in a code block.

    Adjacent pieces with the same title share a block. `instead_of` names the piece that this one replaces.
    `remembered` is the solution that it shows, if any.
    """

    worth: Priority
    name: str
    title: str
    text: str
    code: bool = True
    instead_of: str = ""
    remembered: RememberedItem | None = None
