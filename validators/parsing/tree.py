"""A parse tree and its text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from stet_ls.validators.source import Source, Span

if TYPE_CHECKING:
    import tree_sitter


@dataclass(frozen=True, eq=False)
class Parsed:
    """A tree and its text; equal only to itself.

    `data` has the offsets of the source's bytes, and at most one more line end.
    """

    source: Source
    language: str
    data: bytes
    tree: tree_sitter.Tree

    @property
    def root(self) -> tree_sitter.Node:
        """The tree's root. Its `has_error` is the result: hidden missing tokens leave no node."""
        return self.tree.root_node

    @cached_property
    def broken(self) -> dict[int, tree_sitter.Node]:
        """The parent of each node that is or holds an error, by that node's id.

        `Node.parent` of an empty node is recursive: a deep tree overflows the stack and crashes the process.
        """
        above: dict[int, tree_sitter.Node] = {}
        pending = [self.root]
        while pending:
            node = pending.pop()
            for child in node.children:
                if child.has_error or child.is_missing:
                    above[child.id] = node
                    pending.append(child)
        return above

    def parent(self, node: tree_sitter.Node) -> tree_sitter.Node | None:
        """The parent of a node of a broken text, at any depth."""
        return node.parent if node.end_byte > node.start_byte else self.broken.get(node.id)

    def span(self, node: tree_sitter.Node) -> Span:
        """A node's bytes in the source, without the line end that some statements include."""
        end = min(node.end_byte, len(self.source.data))
        start = min(node.start_byte, end)
        return Span(start, start + len(self.source.data[start:end].rstrip(b"\r\n")))

    def text(self, node: tree_sitter.Node) -> str:
        """A node's text."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")
