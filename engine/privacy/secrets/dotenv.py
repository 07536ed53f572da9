"""The values of a workspace's `.env` files: secrets in any text. Nothing in these files is expanded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path

from stet_ls.engine.privacy.secrets.entropy import is_nothing
from stet_ls.validators.project_files import BUILD_FOLDERS, entries, read_regular

_LARGEST = 128_000
_MOST_FILES = 40
_MOST_VALUES = 400
_MOST_FOLDERS = 60
_FOLDERS_UP = 8
_SKIPPED = BUILD_FOLDERS | {"vendor"}

_FILE = re.compile(r"(?:\.env(?:\.[\w.-]+)?|[\w.-]+\.env|\.envrc)\Z")
_EXAMPLE = re.compile(r"\.(?:example|sample|template|dist|defaults?)\Z")
_LINE = re.compile(
    r"""^[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_][\w.-]*)[ \t]*[=:][ \t]*
    (?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>[^']*)'|`(?P<back>[^`]*)`|(?P<bare>[^\n#]*))""",
    re.MULTILINE | re.VERBOSE,
)
_SECRET_NAME = re.compile(r"(?i)pass|pwd|secret|token|key|cred|auth|salt|sign|dsn|hook|private|cert")

# Configuration values that are no secrets: numbers, switches, words, and addresses without a password.
_WORD = re.compile(
    r"(?i)^(?:[\d.,:_-]+|[a-z]+(?:[-_][a-z]+){0,8}|[a-z]{2}[-_][A-Z]{2}(?:\.UTF-8)?|v?\d+(?:\.\w+){1,4})$"
)
_PLACE = re.compile(
    r"(?i)^(?:[a-z][\w+.-]*://)?(?:localhost|[\w-]+(?:\.[\w-]+)+|\d+(?:\.\d+){3})(?::\d+)?(?:/[\w./%~-]*)?$"
    r"|^\.{0,2}/[\w./ -]*$|^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$|^(?:sqlite|file):[\w./:-]*$|^localhost:\d+$"
)
_LEAST, _LEAST_NAMED = 8, 6


def is_dotenv(path: Path) -> bool:
    """True for the name of a file whose values are secrets; examples and templates have none."""
    return bool(_FILE.match(path.name)) and not _EXAMPLE.search(path.name)


def values_of(text: str, *, whole: bool = False) -> Iterator[str]:
    """The values of a `.env` text that are secrets; with `whole` all except switches and numbers."""
    for match in _LINE.finditer(text):
        value = next(group for group in match.group("double", "single", "back", "bare") if group is not None).strip()
        if is_secret(match["name"], value) or (
            whole and len(value) >= 4 and not re.fullmatch(r"[\d.]+|true|false", value)
        ):
            yield value


def is_secret(name: str, value: str) -> bool:
    """True if the value of this setting is a secret."""
    if is_nothing(value) or "${" in value or _PLACE.match(value):
        return False
    if _SECRET_NAME.search(name):
        return len(value) >= _LEAST_NAMED and not value.isdigit()
    return len(value) >= _LEAST and not _WORD.match(value)


def workspace_values(roots: Iterable[Path], path: Path | None, buffers: Iterable[tuple[Path, str]]) -> tuple[str, ...]:
    """The secrets of `.env` files above a document, in roots and one level below; `buffers` replace files."""
    unsaved = {where: text for where, text in buffers if is_dotenv(where)}
    found: dict[str, None] = {}
    for text in unsaved.values():
        found.update(dict.fromkeys(values_of(text)))
    for where in _files(tuple(roots), path):
        if where not in unsaved:
            found.update(dict.fromkeys(_read(where, *_stamp(where))))
    return tuple(sorted(found, key=len, reverse=True))[:_MOST_VALUES]


def _files(roots: tuple[Path, ...], path: Path | None) -> list[Path]:
    folders: dict[Path, None] = {}
    if path is not None:
        for folder in list(path.parents)[:_FOLDERS_UP]:
            folders[folder] = None
            if folder in roots or (folder / ".git").exists():
                break
    for root in roots:
        folders[root] = None
        folders.update(dict.fromkeys(_below(root)))
    dotenvs = (Path(each.path) for folder in folders for each in entries(folder) if ".env" in each.name)
    return list(islice(filter(is_dotenv, dotenvs), _MOST_FILES))


def _below(root: Path) -> list[Path]:
    names = (entry for entry in entries(root) if entry.name not in _SKIPPED and entry.name[:1] != ".")
    return [Path(entry.path) for entry in names if entry.is_dir(follow_symlinks=False)][:_MOST_FOLDERS]


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=64)
def _read(path: Path, changed: int, size: int) -> tuple[str, ...]:
    """The secrets of one file, cached until it changes."""
    try:
        text = read_regular(path, most=_LARGEST).decode("utf-8", errors="replace")
    except OSError:
        return ()
    return tuple(values_of(text))
