"""All actions by name: the built-in ones, those of installed packages, the user's and the project's."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from stet_ls.engine.actions.action import Action, built_in
from stet_ls.engine.actions.custom.adapter import as_action
from stet_ls.engine.actions.custom.custom_action import CustomAction, action_of_row
from stet_ls.engine.actions.custom.packages import Packaged, packaged
from stet_ls.engine.api.actions import ACTIONS
from stet_ls.engine.errors import PolicyError, UsageError
from stet_ls.engine.settings.action_tables import project_file
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.table_schemas import ActionOrigin

BUILT_IN: Mapping[str, Action] = MappingProxyType({name: built_in(name) for name in ACTIONS})
"""The built-in actions."""


@dataclass(frozen=True, slots=True)
class RegisteredAction:
    """A custom action and its source in words."""

    action: Action
    source: str
    origin: ActionOrigin

    @property
    def trusted(self) -> bool:
        """False for a project's action until the user trusts it."""
        return self.origin.trusted


class Actions:
    """All actions available with some settings. `problems` has a sentence for each that is left out."""

    def __init__(self, settings: Settings, packages: Packaged | None = None) -> None:
        packages = packaged() if packages is None else packages
        self.custom: dict[str, RegisteredAction] = {}
        problems = list(packages.problems)
        for custom, package in packages.actions:
            self._add(custom, f"the package {package}", ActionOrigin(package))
        for row in settings.actions:
            if (other := self.custom.get(row.name)) is not None:
                problems.append(
                    f'"actions" in {row.origin.place}: {other.source} has an action {row.name!r} already; '
                    "use another name; action ignored"
                )
            else:
                self._add(action_of_row(row), row.origin.place, row.origin)
        self.problems = tuple(problems)

    def __iter__(self) -> Iterator[Action]:
        """All actions, the built-in ones first, including those that wait for trust."""
        yield from BUILT_IN.values()
        for listed in self.custom.values():
            yield listed.action

    def __contains__(self, name: str) -> bool:
        """True if the action exists, trusted or not."""
        return name in BUILT_IN or name in self.custom

    def get(self, name: str) -> Action:
        """The action to run. Raises UsageError for an unknown name, PolicyError for one that waits for trust."""
        if (action := BUILT_IN.get(name)) is not None:
            return action
        listed = self.custom.get(name)
        if listed is None:
            raise UsageError(self.unknown(name))
        if not listed.trusted:
            raise PolicyError(
                f"{name!r} is an action of {project_file(listed.origin)}, which you have not trusted in its present "
                f"form: read its [[actions]], then run `stet config trust` in {listed.origin.project}, "
                "or pass `--trust` to one `stet run`."
            )
        return listed.action

    def unknown(self, name: str) -> str:
        """The message for an action that does not exist, with the most similar name."""
        names = [action.spec.name for action in self]
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}."
        return f"Unknown action {name!r}; {hint}"

    def awaiting_trust(self, name: str) -> RegisteredAction | None:
        """The action of that name, if it waits for trust."""
        listed = self.custom.get(name)
        return None if listed is None or listed.trusted else listed

    def _add(self, custom: CustomAction, source: str, origin: ActionOrigin) -> None:
        self.custom[custom.name] = RegisteredAction(as_action(custom), source, origin)
