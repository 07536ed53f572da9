"""Edits that were sent and whose text does not show yet."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from stet_ls.server.edits.edit_plan import DocumentChange


class Pending(Protocol):
    """One such edit; `repeated` becomes true once a later one brings the same text."""

    repeated: bool

    @property
    def changes(self) -> Sequence[DocumentChange]:
        """What it changes."""


class PendingEdits:
    """All of them, for a session. `turn` is held by the job whose edit was sent and is not in its document yet."""

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self._all: set[Pending] = set()

    def add(self, edit: Pending) -> None:
        """Takes one in that was just sent."""
        from stet_ls.server.edits.edit_verification import is_same_edit  # the handshake does without

        for other in self._all:
            other.repeated |= any(is_same_edit(mine, its) for mine in edit.changes for its in other.changes)
        self._all.add(edit)

    def discard(self, edit: Pending) -> None:
        """Drops one that is no longer needed."""
        self._all.discard(edit)
