"""The actions of installed packages: the entry points of the group `stet.actions`, each loaded separately."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from stet_ls.engine.actions.custom.custom_action import CustomAction, checked_action
from stet_ls.engine.api.actions import ACTIONS

log = logging.getLogger(__name__)

GROUP = "stet.actions"
OURS = "stet-ls"
"""Stet's own distribution, whose actions come first."""


@dataclass(frozen=True, slots=True)
class Packaged:
    """The actions of packages with the distribution of each, and a sentence for each that is skipped."""

    actions: tuple[tuple[CustomAction, str], ...] = ()
    problems: tuple[str, ...] = ()


@cache
def packaged() -> Packaged:
    """The installed actions. Imports third-party packages: at first use, in a thread, once per process."""
    return load(entry_points(group=GROUP))


def load(points: Iterable[EntryPoint]) -> Packaged:
    """The actions of some entry points. One that raises, or has no action, is reported and skipped."""
    actions: dict[str, tuple[CustomAction, str]] = {}
    problems = []
    for point in sorted(points, key=lambda each: (_package(each) != OURS, _package(each), each.name)):
        where = f"the action {point.name!r} of the package {_package(point)}"
        try:
            action = checked_action(point.load())
            if action.name in ACTIONS:
                raise ValueError(f"name: {action.name!r} is a built-in action")
            if action.name in actions:
                raise ValueError(f"name: the package {actions[action.name][1]} has an action {action.name!r} already")
        except (Exception, SystemExit) as error:  # third-party code
            log.warning("%s is skipped", where, exc_info=error)
            kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            problems.append(f"{where} is skipped ({point.value}): {kind}{str(error).partition(chr(10))[0]}")
        else:
            actions[action.name] = (action, _package(point))
    return Packaged(tuple(actions.values()), tuple(problems))


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "an unknown one"
