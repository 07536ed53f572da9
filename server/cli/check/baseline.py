"""The content of files in a git revision, so that only newer findings count."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from stet_ls.engine.errors import UsageError
from stet_ls.engine.workspace.git import complaint, git, repository
from stet_ls.server.cli.inputs.files import MOST_BYTES

_FILE_MODES = ("100644", "100755", "100664")  # neither links (120000) nor submodules (160000)
_SIMILAR = 0.5  # the share of common lines above which git, too, calls a file renamed
_MOST_CANDIDATES = 400


@dataclass(frozen=True, slots=True)
class Blob:
    """A file's content in a revision."""

    id: str
    size: int


@dataclass(frozen=True)
class Revision:
    """The files of one revision of one repository, by their paths below its top folder `root`, which is resolved."""

    root: Path
    files: Mapping[str, Blob] = field(repr=False)

    @cached_property
    def gone(self) -> Mapping[str, Blob]:
        """The files that are no longer at their path: candidates for the older name of a new file."""
        return {name: blob for name, blob in self.files.items() if not os.path.lexists(self.root / name)}


@dataclass(frozen=True)
class Baseline:
    """The revisions to compare with, one for each repository that contains checked files."""

    revisions: Mapping[Path, Revision]

    def before(self, path: Path, now: bytes) -> bytes | None:
        """The content of a file in its revision, also under an older name; None for a new file.

        `now` is its current content: a renamed file is recognized by the lines that it kept.
        """
        place = path.parent.resolve() / path.name
        root = repository(place.parent)
        revision = self.revisions.get(root) if root else None
        if revision is None:
            return None
        known = revision.files.get(place.relative_to(revision.root).as_posix())
        if known is not None:
            return next(_contents(revision.root, [known]), None)
        return _renamed(revision, path, now)


def load(paths: Iterable[Path], name: str) -> Baseline:
    """Reads the trees of the revision `name`. UsageError if there is no such revision, repository or git."""
    folders = {path.parent.resolve(): path for path in paths}
    roots: dict[Path, Revision] = {}
    for folder, path in folders.items():
        root = repository(folder)
        if root is None:
            raise UsageError(f"--baseline: {path} is not in a git repository, so there is nothing to compare with")
        if root not in roots:
            roots[root] = _revision(root, name)
    return Baseline(roots)


def _revision(root: Path, name: str) -> Revision:
    found = git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if found.status == 1 and not found.stderr.strip():
        raise UsageError(f"--baseline: {root} has no revision `{name}`; fetch it first if this is a shallow clone")
    if found.status != 0:
        raise UsageError(f"--baseline: {complaint(found)}")
    commit = found.stdout.decode("ascii").split()[-1]
    listed = git(root, "ls-tree", "-r", "-l", "-z", "--full-tree", commit)
    if listed.status != 0:
        raise UsageError(f"--baseline: cannot list the files of `{name}`: {complaint(listed)}")
    return Revision(root, dict(_entries(listed.stdout)))


def _entries(output: bytes) -> Iterator[tuple[str, Blob]]:
    """Each entry is "MODE TYPE ID SIZE<tab>PATH"."""
    for entry in os.fsdecode(output).split("\0"):
        about, _, name = entry.partition("\t")
        mode, _, identity, size = (about.split() + [""] * 4)[:4]
        if mode in _FILE_MODES and size.isdigit() and int(size) <= MOST_BYTES:
            yield name, Blob(identity, int(size))


def _contents(root: Path, blobs: Sequence[Blob]) -> Iterator[bytes]:
    """Yields the contents in order; stops at an object that git does not find. Ids cannot be misread, as names can."""
    result = git(root, "cat-file", "--batch", stdin="".join(f"{blob.id}\n" for blob in blobs).encode("ascii"))
    at = 0
    for blob in blobs:
        header, _, _ = result.stdout[at : at + 200].partition(b"\n")
        if header.split() != [blob.id.encode("ascii"), b"blob", str(blob.size).encode("ascii")]:
            return
        start = at + len(header) + 1
        yield result.stdout[start : start + blob.size]
        at = start + blob.size + 1


def _renamed(revision: Revision, path: Path, now: bytes) -> bytes | None:
    """The content of the removed file that is most similar; asking git would make it read the work tree."""
    candidates = [
        (name, blob)
        for name, blob in revision.gone.items()
        if Path(name).suffix == path.suffix and len(now) <= 2 * blob.size and blob.size <= 2 * len(now)
    ]
    candidates.sort(key=lambda each: (Path(each[0]).name != path.name, abs(each[1].size - len(now))))
    best: tuple[float, bytes | None] = (_SIMILAR, None)
    for text in _contents(revision.root, [blob for _, blob in candidates[:_MOST_CANDIDATES]]):
        if (likeness := _likeness(text, now)) >= best[0] and (best[1] is None or likeness > best[0]):
            best = likeness, text
    return best[1]


def _likeness(one: bytes, other: bytes) -> float:
    """The number of common lines, as a share of the lines of the longer text."""
    lines, others = (Counter(text.splitlines()) for text in (one, other))
    longer = max(lines.total(), others.total())
    return (lines & others).total() / longer if longer else 1.0
