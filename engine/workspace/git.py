"""Runs git, only to read, and so that no program that a repository's configuration names is executed.

A repository may come from an attacker. Its `.git/config` can name programs: for the file system monitor, for hooks,
for transports that fetch a missing object. None of them runs here; no command is used that reads the contents of the
work tree, which would start filters and text conversions.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

from stet_ls.validators.checkers import programs
from stet_ls.validators.checkers.tool_process import ToolResult, run_tool
from stet_ls.validators.checkers.toolbox import BUILT_IN

_SECONDS = 20.0
_SOON = 3.0
"""Seconds after which to check whether git waits for a pipe."""
_MEMORY = 1_000_000_000
"""Bytes that git may allocate; the mapped packs of a large repository do not count."""
_OUTPUT = 1_000_000_000

_QUIET = (
    "--no-pager", "--no-replace-objects",
    "-c", "core.fsmonitor=", "-c", f"core.hooksPath={os.devnull}", "-c", "safe.bareRepository=explicit",
    "-c", "core.untrackedCache=false", "-c", "submodule.recurse=false",
)  # fmt: skip
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # To fetch a missing object of a partial clone, git would start the program that the remote's configuration names.
    # Git knows the first variable from 2.44 on; the second forbids every transport, even if the repository allows it.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
_OWN = ("HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
"""Variables for the user's own configuration: global ignore rules and trusted repositories."""


def git(
    folder: Path, *words: str, stdin: bytes = b"", variables: Mapping[str, str] = MappingProxyType({})
) -> ToolResult:
    """Runs git in a folder. `missing` in the result means that git is absent, or only present inside the project.

    `variables` name files of the caller's that git uses instead of the repository's, as `GIT_INDEX_FILE` does.
    """
    if any(_waits(folder / name) for name in _READ_FIRST):
        return ToolResult(None, stderr=b"a file that git reads is no regular file")
    program = programs.find("git", BUILT_IN, name="git", path=folder / "any file")
    if program is None:
        return ToolResult(None, missing="git")
    environment = _ENVIRONMENT | dict(variables) | {name: os.environ[name] for name in _OWN if name in os.environ}
    environment["PATH"] = programs.search_path(path=folder / "any file")
    run = partial(
        run_tool,
        [str(program.path), *_QUIET, *words],
        stdin=stdin,
        cwd=folder,
        limit=_OUTPUT,
        environment=environment,
        memory=_MEMORY,
    )
    result = run(deadline=_SOON)
    if not result.timed_out:
        return result
    if (found := _pipe(repository(folder) or folder)) is not None:
        return ToolResult(None, stderr=f"{found} is not a regular file, and git would wait for it".encode())
    return run(deadline=_SECONDS)


def _pipe(folder: Path) -> Path | None:
    """A pipe or a device below a folder that git may block on."""
    for place, folders, names in os.walk(folder):
        if (found := next((each for name in names if _waits(each := Path(place, name))), None)) is not None:
            return found
        if Path(place).name == ".git" and "objects" in folders:
            folders.remove("objects")
    return None


_READ_FIRST = (".gitignore", ".gitattributes", ".git/config", ".git/index", ".git/HEAD", ".git/info/exclude")


def _waits(path: Path) -> bool:
    """True for a pipe or a device: git would wait for it until its deadline."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def repository(folder: Path) -> Path | None:
    """The top of the work tree around a resolved folder; None outside of any. Does not run git."""
    return next((each for each in (folder, *folder.parents) if is_top(each)), None)


def project_top(folder: Path) -> Path:
    """The top of the work tree around a folder, else the folder."""
    folder = folder.resolve()
    return repository(folder) or folder


def is_top(folder: Path) -> bool:
    """Whether a repository's work tree begins at the folder."""
    mark = folder / ".git"
    try:
        return (mark / "HEAD").exists() or mark.is_file()  # a file in a submodule and in a linked work tree
    except OSError:
        return False  # a folder without permission


def complaint(result: ToolResult) -> str:
    """The reason for git's failure: the first line of its errors."""
    if result.missing:
        return "git is not installed"
    if result.timed_out:
        return f"git took longer than {_SECONDS:g} s"
    lines = result.stderr.decode("utf-8", "replace").splitlines()
    return lines[0].removeprefix("fatal: ") if lines else f"git failed with exit status {result.status}"
