"""What running a Python unit does not show, and reading its old and new text does: threads, locks, causes of errors."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from stet_ls.engine.execution.python.inputs.subject import known_module, subject_of
from stet_ls.validators.ast_text import unparse

_CONCURRENT = {
    **dict.fromkeys(("Thread", "Process", "Pool", "ThreadPool", "ThreadPoolExecutor", "ProcessPoolExecutor", "submit",
                     "run_in_executor", "to_thread"), "threads"),
    **dict.fromkeys(("gather", "create_task", "ensure_future", "TaskGroup", "start_soon", "as_completed"), "tasks"),
}  # fmt: skip
"""The names that start what runs at the same time; tasks may be gathered as well as awaited one after the other."""
_LOCK = re.compile(r"(?i)(\b|_)(r?lock|mutex|semaphore|sem|condition|cond)(\b|_|s\b)|\b\w*(Lock|Semaphore|Condition)\(")
_LOCKING = frozenset({"acquire", "release"})


def uncompared_change(before: str, after: str, unit: str) -> str:
    """What changed that no run would show, as a clause; "" for nothing."""
    old, new = _node(before, unit), _node(after, unit)
    if old is None or new is None:
        return ""
    if changed := _started(old, new):
        return f"what runs at the same time changed (`{changed}`), and that is not compared"
    locked, locked_now = set(_locked(old)), set(_locked(new))
    if _takes_by_name(old) or _takes_by_name(new):  # what comes between the two calls is not known
        locked, locked_now = ({each for each in one if _LOCK.search(each)} for one in (locked, locked_now))
    if changed := min(locked ^ locked_now, default=""):
        return f"what happens under a lock changed (`{changed}`), and that is not compared"
    if gone := list((Counter(_causes(old)) - Counter(_causes(new))).elements()):
        return f"`{gone[0]}` no longer names its cause" if Counter(_raised(new))[gone[0]] else ""
    return ""


def _node(text: str, unit: str) -> ast.AST | None:
    module = known_module(text)
    subject = subject_of(module, unit) if module else None
    return subject.node if subject else None


def _started(old: ast.AST, new: ast.AST) -> str:
    """A name that starts what runs at the same time in one of the two, where the other starts nothing of this kind."""
    before, after = list(_concurrent(old)), list(_concurrent(new))
    changed = {_CONCURRENT[each] for each in before} ^ {_CONCURRENT[each] for each in after}
    return min((each for each in (*before, *after) if _CONCURRENT[each] in changed), default="")


def _concurrent(node: ast.AST) -> Iterator[str]:
    """The names used to run things at the same time."""
    for each in ast.walk(node):
        name = each.id if isinstance(each, ast.Name) else each.attr if isinstance(each, ast.Attribute) else ""
        if name in _CONCURRENT:
            yield name


def _locked(node: ast.AST) -> Iterator[str]:
    """The locks, and the attributes and calls that are used while one is held."""
    for each in ast.walk(node):
        if isinstance(each, ast.With | ast.AsyncWith):
            held = [text for item in each.items if _LOCK.search(text := unparse(item.context_expr))]
            yield from held
            if held:
                inner = (part for statement in each.body for part in ast.walk(statement))
                yield from (unparse(part) for part in inner if isinstance(part, ast.Attribute))
        elif isinstance(each, ast.Attribute) and each.attr in _LOCKING:
            yield unparse(each.value)


def _takes_by_name(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Attribute) and each.attr in _LOCKING for each in ast.walk(node))


def _causes(node: ast.AST) -> Iterator[str]:
    """The errors that are raised from another one."""
    raised = (each for each in ast.walk(node) if isinstance(each, ast.Raise) and each.exc)
    return (_called(each.exc) for each in raised
            if each.exc and each.cause and not isinstance(each.cause, ast.Constant))  # fmt: skip


def _raised(node: ast.AST) -> Iterator[str]:
    return (_called(each.exc) for each in ast.walk(node) if isinstance(each, ast.Raise) and each.exc)


def _called(node: ast.expr) -> str:
    return unparse(node.func if isinstance(node, ast.Call) else node)
