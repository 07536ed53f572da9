"""What decides the environment that code of a project runs in, found without starting anything."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path

from stet_ls.engine.sandbox.environments.installation import UnfitError, installation
from stet_ls.engine.sandbox.environments.interpreter_candidates import candidates
from stet_ls.engine.sandbox.machine_state import file_state, machine_state

_RECORDS = (".package-lock.json", ".modules.yaml", ".yarn-integrity", ".yarn-state.yml")
"""What npm, pnpm and yarn write when they have installed something."""
_MOST = 20_000


@dataclass(frozen=True, slots=True)
class EnvironmentNeeds:
    """What code runs with: `python` is the setting `sandbox.python`, `programs` are names of other interpreters."""

    python: str = ""
    programs: tuple[str, ...] = ()

    def state(self, root: Path) -> str:
        """Changes with anything that could change the sandbox, or the interpreters found for a project."""
        rows = [machine_state(), *self._pythons(root)]
        rows += (file_state(shutil.which(name) or name) for name in self.programs)
        rows += [node_packages(root)] if self.programs else []
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


def node_packages(root: Path) -> str:
    """Changes when a package of a project is added, removed or installed again; "" without `node_modules`.

    That folder is in no tree of git, and what tests do depends on it. Only the one below `root` is looked at, and not
    the packages' own files.
    """
    folder = str(root / "node_modules")
    rows = [_state(f"{folder}/{name}") for name in _RECORDS]
    packages = sorted(islice(_packages(folder), _MOST))
    rows += [f"{each} {_state(each)} {_state(f'{each}/package.json')}" for each in packages]
    return sha256("\n".join(rows).encode("utf-8", "surrogateescape")).hexdigest() if packages else ""


def _packages(folder: str) -> Iterator[str]:
    """The folders of the packages; those of a scope lie in a folder of its name."""
    try:
        entries = [each for each in os.scandir(folder) if not each.name.startswith(".")]
    except OSError:
        return
    for each in entries:
        if each.name.startswith("@") and not each.is_symlink():
            yield from _packages(each.path)
        else:
            yield each.path


def _state(path: str) -> str:
    try:
        status = os.stat(path)  # noqa: PTH116 - thousands of paths
    except OSError:
        return "-"
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"
