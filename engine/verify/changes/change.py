"""A change: two trees of a project, and the files in which they differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from stet_ls.engine.privacy.secret_files import is_secret
from stet_ls.engine.verify.changes.collected_files import CONFIGURATION, is_lost
from stet_ls.engine.verify.changes.tree import LARGEST, LINK, SUBMODULE, Tree
from stet_ls.validators.languages import NODE_KINDS, language_of
from stet_ls.validators.test_files import is_test_file

_SIMILAR = 0.5
"""The share of equal lines above which git, too, calls a file renamed."""
_MOST_TOTAL = 100_000_000
"""Bytes of all changed files that are held at once."""
_AT_ONCE = 200
_MOST_PAIRS = 2_500
"""Pairs of files that are compared to find renamed ones."""


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file in which the trees differ. `before` or `after` is None if it was added or removed; `was` is the path
    before if it was renamed, else `path`.
    """

    path: str
    before: bytes | None
    after: bytes | None
    was: str

    @property
    def language(self) -> str:
        """Its language id, `plaintext` if the name does not show it."""
        return language_of(self.path)

    def text(self, data: bytes | None) -> str | None:
        """A side as text; "" if the file does not exist on it, None if it is not text."""
        if data is None:
            return ""
        try:
            text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
        except UnicodeDecodeError:
            return None
        return None if "\0" in text else text


@dataclass(frozen=True, slots=True)
class Change:
    """Two states of a project."""

    root: Path
    """The project's folder."""
    base: Tree
    """The state before the change."""
    head: Tree
    """The state after it."""
    files: tuple[ChangedFile, ...]
    """The files that differ and are judged."""
    old: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    """Contents in `base` that differ from the disk, by path; empty for a file that `base` lacks."""
    new: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    """The same for `head`."""
    skipped: tuple[tuple[str, str], ...] = ()
    """Changed files that are not judged, each with the reason."""
    messages: tuple[str, ...] = ()
    """Messages of the commits, the newest first."""


def change_of(
    root: Path, base: Tree, head: Tree, disk: Tree, *, within: tuple[str, ...] = (), messages: tuple[str, ...] = ()
) -> Change:
    """The change from `base` to `head`, where the working folder holds `disk`.

    Files outside of `within` (folders and files; all if empty) are not judged, but they are there when code runs.
    """
    differing = sorted(path for path in {*base.files, *head.files} if base.files.get(path) != head.files.get(path))
    wanted = [path for path in differing if not within or any(path == each or path.startswith(f"{each.rstrip('/')}/")
              for each in within)]  # fmt: skip
    skipped = [(path, why) for path in wanted if (why := _unfit(path, base, head))]
    left = [path for path in wanted if path not in dict(skipped)]
    files: list[ChangedFile] = []
    for path, sides in _sides(left, base, head):
        if sides is None:
            skipped.append((path, f"the change holds more than {_MOST_TOTAL // 1_000_000} MB"))
            continue
        lost = (path in base.files and sides[0] is None) or (path in head.files and sides[1] is None)
        if lost or max(len(each or b"") for each in sides) > LARGEST:
            skipped.append((path, "cannot be read" if lost else f"larger than {LARGEST // 1_000_000} MB"))
        elif sides[0] != sides[1]:
            files.append(ChangedFile(path, *sides, path))
        elif base.files[path].mode != head.files[path].mode:
            skipped.append((path, f"only its mode changed, to {head.files[path].mode}"))
    return Change(
        root, base, head, tuple(_renamed(files, head)), _over(base, disk), _over(head, disk), tuple(skipped), messages
    )


def _sides(
    paths: Sequence[str], base: Tree, head: Tree
) -> Iterator[tuple[str, tuple[bytes | None, bytes | None] | None]]:
    """The contents of files on both sides, None for those beyond the limit."""
    size = 0
    for at in range(0, len(paths), _AT_ONCE):
        some = paths[at : at + _AT_ONCE]
        before, after = (base.read(some), head.read(some)) if size <= _MOST_TOTAL else ({}, {})
        for path in some:
            yield path, (before.get(path), after.get(path)) if size <= _MOST_TOTAL else None
        size += sum(map(len, before.values())) + sum(map(len, after.values()))


def _unfit(path: str, base: Tree, head: Tree) -> str:
    """Why a path is not judged."""
    modes = {tree.files[path].mode for tree in (base, head) if path in tree.files}
    if LINK in modes:
        return "a symbolic link"
    if SUBMODULE in modes:
        return "a submodule: verify it in its own folder"
    return "a file of secrets" if is_secret(path.split("/"), folder=False) else ""


def _over(tree: Tree, disk: Tree) -> dict[str, bytes]:
    """What a tree has over the disk. Code and configuration of tests that it lacks are empty, since a layer cannot
    remove files.
    """
    if tree is disk:
        return {}
    files = {path: each for path, each in tree.files.items() if each.mode not in (LINK, SUBMODULE)}
    other = disk.files
    over = dict(tree.read(path for path, each in files.items() if path not in other or other[path].id != each.id))
    return over | {path: b"" for path in other.keys() - tree.files.keys() if _acts(path)}


def _acts(path: str) -> bool:
    """Whether a file affects runs by being there; when empty, it does not."""
    return language_of(path) in NODE_KINDS or path.rpartition("/")[2] in CONFIGURATION


def _renamed(files: list[ChangedFile], head: Tree) -> Iterable[ChangedFile]:
    """The files, with those that were added and removed paired by their content; not if no one runs its tests now."""
    gone = [each for each in files if each.after is None]
    came = [each for each in files if each.before is None]
    pairs: dict[str, ChangedFile] = {}
    if len(gone) * len(came) <= _MOST_PAIRS:
        shares = sorted(
            ((_alike(old.before or b"", new.after or b""), new.path, old) for old in gone for new in came
             if old.language == new.language),
            key=lambda row: (-row[0], row[1], row[2].path),
        )  # fmt: skip
        used: set[str] = set()
        for share, path, old in shares:
            is_free = share >= _SIMILAR and path not in pairs and old.path not in used
            if is_free and not is_lost(old.path, path, old.before or b"", head):
                pairs[path] = old
                used.add(old.path)
    taken = {old.path for old in pairs.values()}
    for each in files:
        if each.path in pairs:
            yield ChangedFile(each.path, pairs[each.path].before, each.after, pairs[each.path].path)
        elif each.path not in taken:
            yield each


def _alike(one: bytes, other: bytes) -> float:
    """The share of lines that two contents have in common."""
    first, second = set(one.splitlines()), set(other.splitlines())
    return len(first & second) / max(len(first), len(second), 1)


def is_of_tests(path: str) -> bool:
    """Whether a file belongs to the tests."""
    return is_test_file(path) or PurePath(path).name == "conftest.py"


def is_data_of_tests(path: str) -> bool:
    """Whether a file that is no code belongs to the tests, which use it when they run."""
    return is_of_tests(path) and language_of(path) not in NODE_KINDS


def is_test_name(path: str) -> bool:
    """Whether a file is named like one that holds tests: helpers of tests are not."""
    return is_test_file(PurePath(path).name)
