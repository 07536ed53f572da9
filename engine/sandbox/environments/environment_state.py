"""What decides the environment that code of a project runs in, found without starting anything."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from stet_ls.engine.sandbox.environments.installation import UnfitError, installation
from stet_ls.engine.sandbox.environments.interpreter_candidates import candidates
from stet_ls.engine.sandbox.machine_state import file_state, machine_state
from stet_ls.engine.sandbox.node_packages import node_packages


@dataclass(frozen=True, slots=True)
class EnvironmentNeeds:
    """What code runs with: `python` is the setting `sandbox.python`, `programs` are names of other interpreters."""

    python: str = ""
    programs: tuple[str, ...] = ()

    def state(self, root: Path) -> str:
        """Changes with anything that could change the sandbox, or the interpreters found for a project; with each call
        if there is too much to look at.
        """
        rows = [machine_state(), *self._pythons(root)]
        rows += (file_state(shutil.which(name) or name) for name in self.programs)
        if self.programs:
            packages = node_packages(root)
            rows.append(str(time.time_ns()) if packages is None else packages)
        return sha256("\0".join(rows).encode("utf-8", "surrogateescape")).hexdigest()

    def _pythons(self, root: Path) -> Iterable[str]:
        """All candidates: why one is rejected depends on its files alone."""
        for source, path in dict.fromkeys(candidates(root, os.environ, self.python)):
            yield f"{source} {file_state(path)}"
            try:
                place = installation(path)
            except UnfitError as error:
                yield str(error)
            else:
                yield f"{place.stamp} {place.base} {' '.join(map(str, place.binds))}"
