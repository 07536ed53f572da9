"""Brackets that do not match, found over a tree's leaves, so that those in strings and comments do not count."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter

CLOSERS = {"(": ")", "[": "]", "{": "}", "${": "}", "#{": "}", "#[": "]", "@(": ")", "$(": ")"}
OPENERS = {")": "(", "]": "[", "}": "{"}
# Leaves inside these are text, whatever their kind.
_TEXTUAL = ("string", "comment", "char_literal", "regex", "text", "heredoc")
_LOOK_AT_CLOCK = 2048


@dataclass(frozen=True, slots=True)
class Unclosed:
    """An opener without its closer. `before` is the token in place of the closer, if known."""

    opener: tree_sitter.Node
    before: tree_sitter.Node | None

    @property
    def closer(self) -> str:
        """The closing bracket."""
        return CLOSERS[self.opener.type]


@dataclass(frozen=True, slots=True)
class Stray:
    """A closer without an opener. `after` is the last token of the line that seems to lack its opener."""

    node: tree_sitter.Node
    after: tree_sitter.Node | None = None


def unmatched(root: tree_sitter.Node, *, end: float) -> list[Unclosed | Stray]:
    """The brackets of a tree that have no partner, in the order of detection.

    A closer that fits an outer opener closes it: brackets open in between were never closed. Only broken subtrees are
    searched: in a correct one every bracket has its partner. `end` is a time of time.monotonic(); after it the result
    is empty rather than partial.
    """
    found: list[Unclosed | Stray] = []
    stack: list[tree_sitter.Node] = []
    waiting: Counter[str] = Counter()  # the closers that the stack expects
    for count, leaf in enumerate(leaves(root, broken=True)):
        if count % _LOOK_AT_CLOCK == 0 and time.monotonic() > end:
            return []
        if leaf.is_missing:
            continue
        if leaf.type in CLOSERS:
            stack.append(leaf)
            waiting[CLOSERS[leaf.type]] += 1
        elif leaf.type in OPENERS and not waiting[leaf.type]:
            found.append(Stray(leaf))
        elif leaf.type in OPENERS:
            while CLOSERS[(opener := stack.pop()).type] != leaf.type:
                found.append(Unclosed(opener, leaf))
                waiting[CLOSERS[opener.type]] -= 1
            waiting[leaf.type] -= 1
    return found + [Unclosed(opener, None) for opener in reversed(stack)]


def leaves(root: tree_sitter.Node, *, broken: bool = False) -> Iterator[tree_sitter.Node]:
    """The tokens of a tree in order, without the insides of whole strings and comments.

    With `broken` only those in a node with an error; a correct node next to them is one item.
    """
    cursor = root.walk()
    while True:
        node = cursor.node
        assert node is not None
        whole = _is_text(node) or (broken and not node.has_error)
        if not whole and cursor.goto_first_child():
            continue
        if broken or not node.child_count:
            yield node
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def _is_text(node: tree_sitter.Node) -> bool:
    """True for a string or comment without code in it (an interpolation has code)."""
    return _is_textual(node.type) and not node.has_error and not node.named_child_count


@cache
def _is_textual(kind: str) -> bool:
    return any(part in kind for part in _TEXTUAL)
