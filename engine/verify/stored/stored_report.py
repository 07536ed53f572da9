"""What the conclusion on a whole change depends on: the same two trees in the same environment get the same answer."""

from __future__ import annotations

from dataclasses import replace

from stet_ls.engine.execution.runtime_provider import RuntimeProvider
from stet_ls.engine.verify.changes.change import Change
from stet_ls.engine.verify.changes.intent import ChangeIntent
from stet_ls.engine.verify.changes.tree import tree_id
from stet_ls.engine.verify.changes.trees import EditedTree, FolderTree
from stet_ls.engine.verify.changes.units import is_code
from stet_ls.engine.verify.stored.records import key_of
from stet_ls.validators.checkers.toolbox import Toolbox


async def key_for(
    change: Change, intent: ChangeIntent, tools: Toolbox, runtimes: RuntimeProvider, *, runs_code: bool
) -> str:
    """What the conclusion on a change depends on; "" if that is unknown."""
    environments = [await runtimes.identity(change.root, each) for each in languages_of(change, runs_code=runs_code)]
    if not all(environments):
        return ""
    trees = tree_id(change.base), tree_id(change.head)
    paths = [(each.path, each.was) for each in change.files]
    claim = intent.kind.value, intent.source
    own = sorted(tools.disabled), repr(replace(tools, disabled=frozenset()))  # a set has another order in each process
    return key_of("report", str(change.root), trees, paths, change.skipped, claim, own, environments, runs_code)


def languages_of(change: Change, *, runs_code: bool = True) -> list[str]:
    """The languages in which code of a change runs."""
    return sorted({each.language for each in change.files if is_code(each)}) if runs_code else []


def is_unchanged(change: Change) -> bool:
    """Whether the working folder still holds what was judged. Reads it: not for an event loop."""
    head = change.head.tree if isinstance(change.head, EditedTree) else change.head
    if not isinstance(head, FolderTree):
        return True
    return replace(head).files == head.files  # a new tree reads the disk again
