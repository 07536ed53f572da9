"""Assembles the parts of a user message, and chooses the pieces of context that fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from stet_ls.engine.prompt.context_items import ContextItem, Priority
from stet_ls.engine.prompt.fence import data
from stet_ls.engine.prompt.tokens import estimate


@dataclass(frozen=True, slots=True)
class Layout:
    """The constant parts of a job's user messages: the target under its heading, the order, the reply's form.

    `fence` and `tag` are those of all its code blocks, `ident` is the id of its data tags. `notes` are the project's,
    already fenced: they come first, since they are the same for all jobs of a project.
    """

    heading: str
    target: str
    order: str
    form: str
    fence: str
    tag: str
    ident: str
    notes: str = ""

    def user(self, pieces: Sequence[ContextItem]) -> str:
        """The user message with the given pieces of context; neighbors under one title share a block."""
        blocks = []
        for title, group in groupby(pieces, key=lambda piece: piece.title):
            block = list(group)
            text = "\n\n".join(piece.text for piece in block)
            blocks.append(f"{title}\n{self._block(text) if block[0].code else text}")
        target = self._block(self.target) if self.target.strip() else ""
        blocks.append("\n".join(filter(None, (self.heading, target))))
        parts = [self.notes, data("\n\n".join(blocks), self.ident), self.order, self.form]
        return "\n\n".join(filter(None, parts))

    def _block(self, text: str) -> str:
        return f"{self.fence}{self.tag}\n{text}\n{self.fence}"


@dataclass(frozen=True, slots=True)
class ContextChoice:
    """The pieces that fit, in reading order, and those that are left out."""

    pieces: tuple[ContextItem, ...]
    left_out: tuple[ContextItem, ...]

    @property
    def rank(self) -> tuple[int, ...]:
        """The better of two choices has the higher rank: it leaves out fewer pieces, or less valuable ones."""
        return (*sorted(piece.worth for piece in self.left_out), len(Priority))


def choose(pieces: Sequence[ContextItem], room: int) -> ContextChoice:
    """The pieces that fit into `room` tokens, chosen by priority."""
    costs = {piece.name: estimate(f"\n\n{piece.title}\n```tag\n{piece.text}\n```") + 2 for piece in pieces}
    taken: set[str] = set()
    for piece in sorted(pieces, key=lambda piece: piece.worth):
        cost = costs[piece.name] - (costs[piece.instead_of] if piece.instead_of in taken else 0)
        if cost <= room:
            room -= cost
            taken = (taken - {piece.instead_of}) | {piece.name}
    replaced = {piece.instead_of for piece in pieces if piece.name in taken}
    left_out = tuple(piece for piece in pieces if piece.name not in taken | replaced)
    return ContextChoice(tuple(piece for piece in pieces if piece.name in taken), left_out)
