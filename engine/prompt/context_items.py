"""The pieces of context that a prompt is put together from, and what each is worth."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Priority(IntEnum):
    """What is kept when not everything fits; the lowest goes last."""

    PROBLEM = 0
    GIVEN = 1
    FRAME = 2
    SIGNATURE = 3
    DEFINITION = 4
    CALLER = 5
    REMEMBERED = 6


@dataclass(frozen=True, slots=True)
class RememberedItem:
    """A kept solution to show: its whole text, and its origin in a few words."""

    text: str
    provenance: str


@dataclass(frozen=True, slots=True)
class ContextItem:
    """A titled piece of context. `name` is how `left_out` calls it, `code` says that it goes into a code block.

    Neighbours of one title share a block. `instead_of` names the piece that this one makes needless. `remembered` is
    the solution that it shows, if it shows one.
    """

    worth: Priority
    name: str
    title: str
    text: str
    code: bool = True
    instead_of: str = ""
    remembered: RememberedItem | None = None
