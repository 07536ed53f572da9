"""Trees of a project: of a commit, of the index, of the working folder, of any folder. Only reads.

Nothing that a repository names is executed: contents come from the object store or are read here, so that no clean
filter, no fsmonitor and no hook runs; links are read as links, and pipes and devices are not opened.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from stet_ls.engine.errors import UsageError
from stet_ls.engine.verify.changes.tree import LINK, SUBMODULE, Tree, TreeEntry
from stet_ls.engine.workspace.git import complaint, git
from stet_ls.validators.project_files import TOOL_FOLDERS, entries, read_regular

_LARGEST = 4_000_000
_MOST_FILES = 200_000


@dataclass(frozen=True)
class GitTree:
    """The tree of a revision, or of an index if `revision` is empty. `variables` name files that git uses instead."""

    root: Path
    name: str
    revision: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def files(self) -> Mapping[str, TreeEntry]:
        """The entries; of an unmerged path the own side."""
        words = ("ls-tree", "-r", "-z", "--full-tree", self.revision) if self.revision else ("ls-files", "-s", "-z")
        listed = git(self.root, *words, variables=self.variables)
        if listed.status != 0:
            raise UsageError(f"cannot read {self.name}: {complaint(listed)}")
        rows: dict[str, TreeEntry] = {}
        for row in filter(None, listed.stdout.split(b"\0")):
            about, _, path = row.partition(b"\t")
            mode, *others = about.decode("ascii").split()
            rows[os.fsdecode(path)] = TreeEntry(mode, others[1] if self.revision else others[0])
        return rows

    def read(self, paths: Iterable[str]) -> Mapping[str, bytes]:
        """The contents, in one call of git."""
        known = [path for path in paths if path in self.files and self.files[path].mode != SUBMODULE]
        if not known:
            return {}
        wanted = "".join(f"{self.files[path].id}\n" for path in known).encode()
        sizes = git(self.root, "cat-file", "--batch-check", stdin=wanted, variables=self.variables)
        kept = [path for path, row in zip(known, sizes.stdout.splitlines(), strict=False) if _fits(row)]
        wanted = "".join(f"{self.files[path].id}\n" for path in kept).encode()
        data = git(self.root, "cat-file", "--batch", stdin=wanted, variables=self.variables).stdout
        found, at = {}, 0
        for path in kept:
            end = data.find(b"\n", at)
            if end < 0:
                break
            size = int(data[at:end].split()[-1])
            found[path] = data[end + 1 : end + 1 + size]
            at = end + size + 2
        return found


def _fits(row: bytes) -> bool:
    size = row.split()[-1]
    return size.isdigit() and int(size) <= _LARGEST


@dataclass(frozen=True)
class FolderTree:
    """The files of a folder as they are on the disk.

    `known` are the entries of the index, whose ids say how git wrote them: line ends that git converts are no change.
    Without `listed`, every file below the folder counts except those that tools fill. Without `has_modes`, the disk
    does not say which files can be executed. `nested` are repositories of their own, whose files git does not list.
    """

    root: Path
    name: str = "working tree"
    listed: tuple[str, ...] | None = None
    known: Mapping[str, TreeEntry] = field(default_factory=dict)
    has_modes: bool = True
    nested: tuple[str, ...] = ()

    @cached_property
    def files(self) -> Mapping[str, TreeEntry]:
        """The entries of what can be read; a pipe or a device is none."""
        folders: dict[str, bool] = {"": True}
        paths = self._walked() if self.listed is None else self.listed
        rows = ((path, self._entry(path)) for path in paths if self._is_inside(path, folders))
        own = {path: TreeEntry(SUBMODULE, _id(b"", "")) for path in self.nested}
        return own | {path: entry for path, entry in rows if entry is not None}

    def read(self, paths: Iterable[str]) -> Mapping[str, bytes]:
        """The contents as git would write them."""
        regular = (path for path in paths if path in self.files and self.files[path].mode not in (LINK, SUBMODULE))
        return {path: data for path in regular if (data := self._data(path)) is not None}

    def _data(self, path: str) -> bytes | None:
        try:
            data = read_regular(self.root / path, most=_LARGEST)
        except OSError:
            return None
        known = self.known.get(path)
        if known is not None and b"\r\n" in data and _id(data.replace(b"\r\n", b"\n"), known.id) == known.id:
            return data.replace(b"\r\n", b"\n")
        return data

    def _entry(self, path: str) -> TreeEntry | None:
        known = self.known.get(path)
        if known is not None and known.mode == SUBMODULE:
            return known
        like = known.id if known is not None else ""
        try:
            status = (self.root / path).lstat()
            if stat.S_ISLNK(status.st_mode):
                return TreeEntry(LINK, _id(os.fsencode((self.root / path).readlink()), like))
        except OSError:
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        data = self._data(path)
        mode = "100755" if status.st_mode & 0o100 else "100644"
        if not self.has_modes and known is not None:
            mode = known.mode
        return TreeEntry(mode, "unread" if data is None else _id(data, like))

    def _is_inside(self, path: str, folders: dict[str, bool]) -> bool:
        """Whether no folder on the way is a link, which could lead anywhere."""
        parent = path.rpartition("/")[0]
        if parent not in folders:
            own = self.root / parent
            folders[parent] = self._is_inside(parent, folders) and not own.is_symlink()
        return folders[parent]

    def _walked(self) -> Iterable[str]:
        pending, left = [""], _MOST_FILES
        while pending:
            below = pending.pop()
            for entry in entries(self.root / below):
                path = f"{below}/{entry.name}" if below else entry.name
                if entry.is_dir(follow_symlinks=False):
                    pending += [path] if entry.name not in TOOL_FOLDERS else []
                elif (left := left - 1) >= 0:
                    yield path


def working_tree(root: Path, index: GitTree) -> FolderTree:
    """The working folder: tracked files, and untracked ones that nothing ignores."""
    listed = git(root, "ls-files", "-z", "--others", "--exclude-standard")
    if listed.status != 0:
        raise UsageError(f"cannot list untracked files: {complaint(listed)}")
    others = [os.fsdecode(each) for each in listed.stdout.split(b"\0") if each]
    nested = tuple(each.removesuffix("/") for each in others if each.endswith("/"))
    paths = tuple(dict.fromkeys((*index.files, *(each for each in others if not each.endswith("/")))))
    modes = git(root, "config", "--type=bool", "core.fileMode").stdout.strip()
    return FolderTree(root, "working tree", paths, index.files, modes != b"false", nested)


@dataclass(frozen=True)
class EditedTree:
    """A tree in which some files have other contents: those of open documents that are not saved."""

    tree: Tree
    contents: Mapping[str, bytes]

    @property
    def name(self) -> str:
        """That of the tree."""
        return self.tree.name

    @cached_property
    def files(self) -> Mapping[str, TreeEntry]:
        """The entries, with those of the contents."""
        old = self.tree.files
        new = {path: TreeEntry(old[path].mode, _id(data, old[path].id)) for path, data in self.contents.items()}
        return {**old, **new}

    def read(self, paths: Iterable[str]) -> Mapping[str, bytes]:
        """The contents of some of its files."""
        wanted = list(paths)
        rest = self.tree.read(path for path in wanted if path not in self.contents)
        return {**rest, **{path: self.contents[path] for path in wanted if path in self.contents}}


def with_documents(tree: FolderTree, documents: Mapping[Path, bytes]) -> Tree:
    """The tree with the texts of open documents that differ from their files. Others than its files do not count."""
    below = {path.relative_to(tree.root).as_posix(): data for path, data in documents.items()
             if path.is_relative_to(tree.root)}  # fmt: skip
    held = tree.read(path for path in below if path in tree.files)
    contents = {}
    for path, saved in held.items():
        text = below[path] if b"\r\n" in saved else below[path].replace(b"\r\n", b"\n")
        if text != saved.removeprefix(b"\xef\xbb\xbf"):
            contents[path] = text
    return EditedTree(tree, contents) if contents else tree


def _id(data: bytes, like: str) -> str:
    """The id that git gives a content, in the format of the id `like`."""
    algorithm = hashlib.sha256 if len(like) == _SHA256 else hashlib.sha1
    return algorithm(b"blob %d\0" % len(data) + data).hexdigest()


_SHA256 = 64
