"""Where an agent's file lies, and how it is read and replaced."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from stet_ls.engine.errors import PolicyError, UsageError
from stet_ls.engine.workspace.git import git, repository
from stet_ls.server.cli.agents.agent import ConfigFile, StetProgram, home_of
from stet_ls.validators.containment import is_inside
from stet_ls.validators.project_files import read_regular

_MOST_BYTES = 20_000_000


def this_program() -> StetProgram:
    """The running `stet`: its script next to the interpreter, else the interpreter with the package's name."""
    script = Path(sys.executable).with_name("stet")
    return StetProgram((str(script),) if script.is_file() else (sys.executable, "-m", "stet_ls.server"))


def config_path(file: ConfigFile, *, user: bool, top: Path) -> Path:
    """The path to write. UsageError where the agent has no such file."""
    if user:
        if not file.user:
            raise UsageError(file.no_user.replace("{program}", " ".join(this_program().words)))
        return home_of(file, Path.home(), os.environ)
    if not file.project:
        raise UsageError(file.no_project)
    if file.project.startswith(".git/"):
        return _common_git_folder(top) / file.project.removeprefix(".git/")
    return top / file.project


def _common_git_folder(top: Path) -> Path:
    if repository(top) is None:
        raise UsageError(f"{top} is not in a git repository")
    elsewhere = git(top, "config", "--type=path", "--get-all", "core.hooksPath").stdout.decode().splitlines()
    # The first value is ours: `git` runs with an empty folder of hooks.
    if configured := [line for line in elsewhere if line != os.devnull]:
        raise UsageError(f"`core.hooksPath` is {configured[-1]}: add `stet hook run git commit` to its `pre-commit`")
    return Path(top, git(top, "rev-parse", "--git-common-dir").stdout.decode().strip())


def read(path: Path) -> str:
    """The file's text with its own line ends, "" if there is none. UsageError if it cannot be read."""
    try:
        return read_regular(path, most=_MOST_BYTES).decode("utf-8")
    except FileNotFoundError:
        return ""
    except NotADirectoryError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'not UTF-8'}") from None


def replace(path: Path, text: str, *, within: Path | None, executable: bool = False) -> None:
    """Replaces the file in one step, or removes it if nothing is left. A link is followed, but not out of `within`."""
    target = path.resolve()
    if within is not None and not is_inside(target, within):
        raise PolicyError(f"{path} leads out of the project, to {target}: not written")
    if not text:
        target.unlink(missing_ok=True)
        with suppress(OSError):  # the folder goes, too, if it was made for the file
            target.parent.rmdir()
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        Path(temporary).chmod(mode | (0o111 if executable else 0))
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
