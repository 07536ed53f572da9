"""Reads a change, from what a person or a program named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from stet_ls.engine.verify.changes.change import Change, change_of
from stet_ls.engine.verify.changes.read_trees import ChangeQuery, TwoTrees, read_trees


@contextmanager
def read_change(asked: ChangeQuery) -> Iterator[Change]:
    """The change; its trees can be read within the context. UsageError if it cannot be found.

    Runs git: not for an event loop.
    """
    with read_trees(asked) as trees:
        yield change_between(trees)


def change_between(trees: TwoTrees) -> Change:
    """The change from one state to another. Reads the contents that differ."""
    return change_of(trees.root, trees.base, trees.head, trees.disk, within=trees.within, messages=trees.messages)
