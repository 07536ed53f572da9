"""Files that are never shown to a model, not even without their secrets, unless they are the target.

Three lists decide: the common names of key and secret files, the user's own (`privacy.ignore`), and a project's
`.stetignore` files. Each list can only add files: a project's `!line` reverts a line of its own list only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath
from unicodedata import normalize
from urllib.parse import unquote, urlsplit

from stet_ls.engine.api.request import Workspace
from stet_ls.engine.privacy.gitignore import decision, parse
from stet_ls.engine.privacy.secret_files import SECRET_FILES
from stet_ls.validators.containment import real_path
from stet_ls.validators.project_files import read_regular

LIST_FILE = ".stetignore"

_LARGEST = 256_000
_MOST_LINES = 2000
_FOLDERS_UP = 20
_ALL = "*"


@dataclass(frozen=True, slots=True)
class IgnoredFiles:
    """The hidden files of one workspace. `own` are the user's patterns. Lookups read files: not for an event loop."""

    workspace: Workspace = field(default_factory=Workspace)
    own: tuple[str, ...] = ()

    def reason(self, path: Path | PurePosixPath) -> str | None:
        """Why a file is not shown, in a few words for the user; None if it may be.

        Both the name and its link target are checked: `notes.md` may be a link to `.env`. A relative path is a name
        that the user gave; it is checked unchanged, and as a file below each root.
        """
        named = [path] if path.is_absolute() else [root / path for root in self.workspace.roots]
        led = (self._led_to(Path(each)) for each in named if path.is_absolute() or Path(each).exists())
        ways = dict.fromkeys([path, *(each for each in led if each is not None)])
        return next((reason for way in ways if (reason := self.reason_of_name(way)) is not None), None)

    def reason_of_name(self, path: Path | PurePosixPath) -> str | None:
        """The reason by the name alone, for a walk that does not follow links."""
        root = next((root for root in self.workspace.roots if path.is_relative_to(root)), None)
        inside = (path if root is None else path.relative_to(root)).as_posix().strip("/").split("/")
        if _ignores(SECRET_FILES, path.as_posix().strip("/").lower().split("/")):
            return "file of secrets"
        if self.own and _ignores(self.own, inside):
            return "ignored by privacy.ignore"
        if isinstance(path, Path) and path.is_absolute() and self._listed(path, root):
            return f"ignored by {LIST_FILE}"
        return None

    def _led_to(self, path: Path) -> Path | None:
        """The link target of a path, spelled below its root, so that the lists of that root apply."""
        real = real_path(path)
        for root in self.workspace.roots:
            top = real_path(root)
            if real is not None and top is not None and real.is_relative_to(top):
                return root / real.relative_to(top)
        return real

    def _listed(self, path: Path, root: Path | None) -> bool:
        """True if git with these lists would ignore it: the nearest list wins, but an ignored folder stays ignored."""
        above = list(path.parents)[:_FOLDERS_UP]
        folders = above[: above.index(root) + 1] if root in above else above
        lists = [(folder, parse(text)) for folder in folders if (text := self._text(folder / LIST_FILE))]
        for place in [*reversed(folders), path]:
            for folder, lines in lists:  # the nearest first
                if folder in place.parents:
                    names = [normalize("NFC", name) for name in place.relative_to(folder).parts]
                    ignored = decision(lines, names, folder=place is not path)
                    if ignored:
                        return True
                    if ignored is False:
                        break
        return False

    def _text(self, path: Path) -> str:
        for buffer in self.workspace.buffers:
            if buffer.path == path:
                return _bounded(buffer.text)
        try:
            status = path.stat()
        except OSError:
            return ""
        return _read(path, status.st_mtime_ns, status.st_size)


def left_out(names: Iterable[str], ignored: IgnoredFiles) -> dict[str, str]:
    """The user's names for pieces of context that are ignored files, each with the reason."""
    reasons = ((name, ignored.reason(_named(name))) for name in names)
    return {name: reason for name, reason in reasons if reason is not None}


def _named(name: str) -> Path | PurePosixPath:
    plain = name.strip()
    if plain.lower().startswith("file:"):
        plain = unquote(urlsplit(plain).path)
    return Path(plain) if Path(plain).is_absolute() else PurePosixPath(plain.replace("\\", "/"))


def _ignores(patterns: tuple[str, ...], names: list[str]) -> bool:
    """True if the patterns match a path or one of its parent folders."""
    patterns = tuple(normalize("NFC", each) for each in patterns)
    names = [normalize("NFC", each) for each in names]
    if not any(_may_mean(patterns, name) for name in names):
        return False
    lines = parse("\n".join(patterns))
    ways = (decision(lines, names[:count], folder=count < len(names)) for count in range(1, len(names) + 1))
    return any(ways)


@lru_cache(maxsize=4096)
def _may_mean(patterns: tuple[str, ...], name: str) -> bool:
    """False if no pattern can end at a file or folder of that name, which is the common case and quick to check."""
    return any(line.names[-1] is None or line.names[-1].match(name) for line in parse("\n".join(patterns)))


@lru_cache(maxsize=64)
def _read(path: Path, changed: int, size: int) -> str:
    """A list's text, cached until the file changes. An unreadable list hides everything."""
    try:
        return _bounded(read_regular(path, most=_LARGEST).decode("utf-8", errors="replace"))
    except FileNotFoundError:
        return ""
    except OSError:
        return _ALL


def _bounded(text: str) -> str:
    # A name may have several Unicode forms, which look the same to the list's author.
    return normalize("NFC", text) if text.count("\n") <= _MOST_LINES else _ALL
