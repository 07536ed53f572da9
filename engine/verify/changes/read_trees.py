"""Finds the two trees of a change, from what a person or a program named."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from stet_ls.engine.errors import UsageError
from stet_ls.engine.verify.changes.tree import Tree
from stet_ls.engine.verify.changes.trees import FolderTree, GitTree, with_documents, working_tree
from stet_ls.engine.workspace.git import complaint, git, repository

EMPTY_TREE = "the empty tree"


@dataclass(frozen=True, slots=True)
class ChangeQuery:
    """What to verify. Without anything, the working folder against `HEAD`.

    `span` is a range of commits ("A..B" or "A...B"). `patch` is a diff that is applied to `base`. `base` is a revision
    or a folder. `base_tree` is used instead where the caller recorded one. `paths` limit what is judged. `documents`
    are texts of files that are not saved yet, by their real paths; they count instead of what is on the disk.
    """

    folder: Path
    span: str = ""
    staged: bool = False
    patch: bytes | None = None
    base: str = ""
    paths: tuple[Path, ...] = ()
    base_tree: Tree | None = None
    documents: Mapping[Path, bytes] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class TwoTrees:
    """The states before and after a change, and the one that is in the folder now. Paths outside of `within` are not
    judged; all are if it is empty. `messages` are those of the commits, the newest first.
    """

    root: Path
    base: Tree
    head: Tree
    disk: Tree
    within: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()


@contextmanager
def read_trees(asked: ChangeQuery) -> Iterator[TwoTrees]:
    """The trees of a change; they can be read within the context. UsageError if they cannot be found.

    Runs git: not for an event loop.
    """
    folder = asked.folder.resolve()
    root = repository(folder)
    if root is None and asked.base_tree is not None:
        disk = FolderTree(folder)
        yield TwoTrees(folder, asked.base_tree, disk, disk, _within(asked, folder, asked.base_tree, disk))
    elif asked.base and not asked.base_tree and _is_folder(asked, folder, root):
        if asked.staged or asked.patch is not None:
            raise UsageError(f"`--base {asked.base}` is a folder; name a revision, or leave out --staged and --patch")
        yield _of_folders(asked, folder)
    elif root is None:
        raise UsageError(f"{asked.folder} is in no git repository; name a folder to compare with: `--base FOLDER`")
    elif asked.patch is not None:
        with tempfile.TemporaryDirectory(prefix="stet-verify-") as own:
            yield _of_patch(asked, root, Path(own))
    else:
        yield _of_git(asked, root)


def _is_folder(asked: ChangeQuery, folder: Path, root: Path | None) -> bool:
    if not (folder / asked.base).is_dir():
        return False
    return root is None or _commit(root, asked.base) is None


def _of_folders(asked: ChangeQuery, folder: Path) -> TwoTrees:
    base, head = FolderTree((folder / asked.base).resolve(), asked.base), FolderTree(folder, str(asked.folder))
    return TwoTrees(folder, base, head, head, _within(asked, folder, base, head))


def _of_git(asked: ChangeQuery, root: Path) -> TwoTrees:
    index = GitTree(root, "index", variables=_own_index())
    disk = working_tree(root, index)
    if not asked.span:
        base = asked.base_tree or _base(root, asked.base)
        head = index if asked.staged else with_documents(disk, asked.documents)
        return TwoTrees(root, base, head, disk, _within(asked, root, base, head))
    first, dots, last = asked.span.partition("...") if "..." in asked.span else asked.span.partition("..")
    old, new = first or "HEAD", last or "HEAD"
    if dots == "...":
        merge = git(root, "merge-base", "--", _known(root, old), _known(root, new))
        if merge.status != 0:
            raise UsageError(f"`{asked.span}` has no common commit; a shallow clone needs `git fetch --unshallow`")
        old = merge.stdout.decode().strip()
    trees = (
        GitTree(root, old[:12] if len(old) > _LONG else old, _known(root, old)),
        GitTree(root, new, _known(root, new)),
    )
    log = git(root, "log", "--format=%B%x00", "--max-count=200", f"{trees[0].revision}..{trees[1].revision}", "--")
    messages = tuple(each.strip() for each in log.stdout.decode("utf-8", "replace").split("\0") if each.strip())
    return TwoTrees(root, *trees, disk, _within(asked, root, *trees), messages)


def _of_patch(asked: ChangeQuery, root: Path, own: Path) -> TwoTrees:
    """Applies the patch to an index of our own: the working folder and the object store stay as they are."""
    base = _base(root, asked.base)
    objects = git(root, "rev-parse", "--path-format=absolute", "--git-path", "objects").stdout
    (own / "objects").mkdir()
    variables = {
        "GIT_INDEX_FILE": str(own / "index"), "GIT_OBJECT_DIRECTORY": str(own / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.fsdecode(objects.removesuffix(b"\n")),
    }  # fmt: skip
    start = ("read-tree", base.revision) if isinstance(base, GitTree) else ("read-tree", "--empty")
    for words, stdin in ((start, b""), (("apply", "--cached", "--whitespace=nowarn", "-"), asked.patch or b"")):
        done = git(root, *words, stdin=stdin, variables=variables)
        if done.status != 0:
            raise UsageError(f"the patch does not apply to {base.name}: {complaint(done)}")
    disk = working_tree(root, GitTree(root, "index"))
    head = GitTree(root, "the patch", variables=variables)
    return TwoTrees(root, base, head, disk, _within(asked, root, base, head))


def _base(root: Path, named: str) -> Tree:
    """The tree to compare with; an empty one before the first commit."""
    if named:
        return GitTree(root, named, _known(root, named))
    head = _commit(root, "HEAD")
    return GitTree(root, "HEAD", head) if head is not None else FolderTree(root, EMPTY_TREE, ())


def _known(root: Path, revision: str) -> str:
    found = _commit(root, revision)
    if found is None:
        more = "; in a shallow clone, fetch it first" if (root / ".git" / "shallow").exists() else ""
        raise UsageError(f"unknown revision `{revision}`{more}")
    return found


def _commit(root: Path, revision: str) -> str | None:
    """The id of a revision's commit or tree."""
    for kind in ("commit", "tree"):
        words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{{kind}}}")
        found = git(root, *words)
        if found.status == 0:
            return found.stdout.decode("ascii", "replace").strip()
    return None


def _own_index() -> Mapping[str, str]:
    """The index of a commit that is being made: git names it to its hooks."""
    named = os.environ.get("GIT_INDEX_FILE", "")
    return {"GIT_INDEX_FILE": str(Path(named).absolute())} if named else {}


def _within(asked: ChangeQuery, root: Path, *trees: Tree) -> tuple[str, ...]:
    """The paths below the root that are judged. UsageError for one outside, and for one that is nowhere: that no file
    there changed would be a conclusion on nothing.
    """
    found = []
    for each in asked.paths:
        path = Path(os.path.normpath(asked.folder.resolve() / each))
        if not path.is_relative_to(root):
            raise UsageError(f"{each} is outside of {root}")
        name = path.relative_to(root).as_posix()
        if not os.path.lexists(path) and not any(_holds(tree, name) for tree in trees):
            raise UsageError(f"no file or folder `{each}` on either side; for a revision use `--base` or `A..B`")
        found.append(name)
    return () if "." in found else tuple(found)


def _holds(tree: Tree, name: str) -> bool:
    return any(each == name or each.startswith(f"{name}/") for each in tree.files)


_LONG = 39
