"""Which packages may be installed: models invent names, and an attacker may have registered one."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field

from stet_ls.engine.errors import PolicyError
from stet_ls.engine.sandbox.environments.imported_modules import Imports
from stet_ls.engine.sandbox.environments.known_packages import (
    SYSTEM,
    distribution,
    misspellings,
    normalized,
    well_known,
)

Ask = Callable[[tuple[str, ...]], Awaitable[bool]]
"""Asks the user about packages by name; False means no."""

_PACKAGE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True)
class InstallPolicy:
    """What needs no question: the project's dependencies (name -> requirement), the user's list, and known packages.

    `allowed` comes from the user's settings only, `known` from an index of packages on this machine.
    """

    project: Mapping[str, str] = field(default_factory=dict)
    allowed: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    ask: Ask | None = None

    def passes(self, name: str) -> bool:
        """True if no question is needed."""
        name = normalized(name)
        return name in self.project or name in map(normalized, self.allowed) or name in self.known | well_known()

    async def requirements(
        self, missing: Imports, installed: Mapping[str, tuple[str, str]] | None = None
    ) -> tuple[str, ...]:
        """The packages to install for missing modules, sorted, with the optional ones that need no question.

        Raises PolicyError for a module that only a system package provides, and for names that were not allowed.
        """
        if modules := sorted(missing.needed & SYSTEM.keys()):
            bring = ", ".join(sorted({SYSTEM[module] for module in modules}))
            raise PolicyError(
                f"{', '.join(modules)} cannot be installed from wheels: the system has to bring {bring}. "
                "Stet installs no system packages."
            )
        needed = {distribution(module, installed) for module in missing.needed}
        await self._let(sorted(name for name in needed if not self.passes(name)))
        optional = {distribution(module, installed) for module in missing.optional - SYSTEM.keys()}
        chosen = needed | {name for name in optional if self.passes(name)}
        return tuple(sorted(self.project.get(normalized(name), name) for name in chosen))

    async def _let(self, unknown: Iterable[str]) -> None:
        names = tuple(unknown)
        if invalid := [name for name in names if not _PACKAGE.fullmatch(name)]:
            raise PolicyError(f"{', '.join(invalid)}: no such package.")
        if names and (self.ask is None or not await self.ask(names)):
            near = misspellings(names, self.project)
            raise PolicyError(
                f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} not installed here, not among the project's "
                f"dependencies and not well known.{' ' if near else ''}{near} "
                "To install it, add it to the project's dependencies or to the setting `sandbox.packages`."
            )
