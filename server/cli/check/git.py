"""Git, asked only to read, and so that nothing that a repository's own configuration names is executed.

A repository may come from anybody. Its `.git/config` can name programs: for the file system monitor, for hooks, for
transports that fetch a missing object. None of them runs here; no command is used that looks at the work tree's
contents, which is where filters and text conversions would.
"""

from __future__ import annotations

import os
import stat
from functools import partial
from pathlib import Path

from stet_ls.validators.checkers import programs
from stet_ls.validators.checkers.tool_process import ToolResult, run_tool
from stet_ls.validators.checkers.toolbox import BUILT_IN

_SECONDS = 20.0
_SOON = 3.0
"""After so many seconds one looks whether git waits for a pipe."""
_MEMORY = 1_000_000_000
"""Bytes that git may allocate; what it maps of a large repository's packs does not count."""
_OUTPUT = 1_000_000_000

_QUIET = (
    "--no-pager", "--no-replace-objects",
    "-c", "core.fsmonitor=", "-c", f"core.hooksPath={os.devnull}", "-c", "safe.bareRepository=explicit",
    "-c", "core.untrackedCache=false", "-c", "submodule.recurse=false",
)  # fmt: skip
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # A missing object of a partial clone would be fetched by whatever program the remote's table names. The first is
    # known from git 2.44 on; the second forbids every transport, whatever the repository allows.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
_OWN = ("HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
"""The user's own configuration: what they ignore everywhere, whose repositories they trust."""


def git(folder: Path, *words: str, stdin: bytes = b"") -> ToolResult:
    """Runs git in a folder. `missing` in the result says that there is no git, or only one that the project brought."""
    if any(_waits(folder / name) for name in _READ_FIRST):
        return ToolResult(None, stderr=b"a file that git reads is no regular file")
    program = programs.find("git", BUILT_IN, name="git", path=folder / "any file")
    if program is None:
        return ToolResult(None, missing="git")
    environment = _ENVIRONMENT | {name: os.environ[name] for name in _OWN if name in os.environ}
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
    """A pipe or a device below a folder: some list or setting of git's is one, or names one."""
    for place, folders, names in os.walk(folder):
        if (found := next((each for name in names if _waits(each := Path(place, name))), None)) is not None:
            return found
        if Path(place).name == ".git" and "objects" in folders:
            folders.remove("objects")
    return None


_READ_FIRST = (".gitignore", ".gitattributes", ".git/config", ".git/index", ".git/HEAD", ".git/info/exclude")


def _waits(path: Path) -> bool:
    """True for a pipe or a device: git would wait for it to the end of its time."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def repository(folder: Path) -> Path | None:
    """The top of the work tree around a resolved folder; None outside of any. Git is not asked."""
    return next((each for each in (folder, *folder.parents) if is_top(each)), None)


def is_top(folder: Path) -> bool:
    """True if a repository's work tree begins at the folder."""
    mark = folder / ".git"
    try:
        return (mark / "HEAD").exists() or mark.is_file()  # a file in a submodule and in a second work tree
    except OSError:
        return False  # a folder that may not be looked into


def complaint(result: ToolResult) -> str:
    """Why git failed, in its first words."""
    if result.missing:
        return "git is not installed"
    if result.timed_out:
        return f"git took longer than {_SECONDS:g} s"
    lines = result.stderr.decode("utf-8", "replace").splitlines()
    return lines[0].removeprefix("fatal: ") if lines else f"git failed with exit status {result.status}"
