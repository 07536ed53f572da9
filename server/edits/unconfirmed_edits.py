"""Edits that were sent and whose text is not in the document yet."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from stet_ls.server.edits.edit_plan import DocumentChange


class UnconfirmedEdit(Protocol):
    """One such edit; `repeated` becomes true once a later one inserts the same text."""

    repeated: bool

    @property
    def changes(self) -> Sequence[DocumentChange]:
        """The changes of the edit."""


class UnconfirmedEdits:
    """All pending edits of a session. The job whose edit was sent and is not in its document yet holds `turn`."""

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self._all: set[UnconfirmedEdit] = set()

    def add(self, edit: UnconfirmedEdit) -> None:
        """Adds an edit that was just sent."""
        from stet_ls.server.edits.edit_verification import is_same_edit  # not imported before the handshake

        for other in self._all:
            other.repeated |= any(is_same_edit(mine, its) for mine in edit.changes for its in other.changes)
        self._all.add(edit)

    def discard(self, edit: UnconfirmedEdit) -> None:
        """Drops an edit that is no longer pending."""
        self._all.discard(edit)
