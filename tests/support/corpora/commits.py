"""Commits of public projects by their ids: clones of the projects are the reader's own, nothing of them is kept here.

A folder holds a clone of each project, named as in the table, and may hold `python`, a virtual environment with what
their tests need.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

CORPUS = Path(__file__).parents[2] / "corpora" / "commits"


@dataclass(frozen=True, slots=True)
class RealCommit:
    """A commit; `kind` is "tests" if it changes tests, else "code"."""

    project: str
    id: str
    kind: str

    @property
    def is_reported(self) -> bool:
        """Whether it belongs to the reporting half."""
        return sha256(self.id.encode()).digest()[0] % 2 == 1


@dataclass(frozen=True, slots=True)
class Label:
    """A person's judgment of a refutation: "right" or "wrong", and why."""

    is_right: bool
    why: str


def commits() -> list[RealCommit]:
    """All commits of the table, in its order."""
    return [RealCommit(*row) for row in _rows("commits.tsv")]


def labels() -> dict[str, Label]:
    """The judgments by the commits' ids."""
    return {commit: Label(word == "right", why) for _, commit, word, why in _rows("refuted.tsv")}


def _rows(name: str) -> Iterator[list[str]]:
    path = CORPUS / name
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return (line.split("\t") for line in lines if line and not line.startswith("#"))


@dataclass(frozen=True, slots=True)
class Clones:
    """Working copies of the projects in `data`, made below `folder`."""

    data: Path
    folder: Path

    @property
    def python(self) -> str:
        """The environment for the projects' code, "" for any that is found."""
        own = self.data / "python"
        return str(own) if own.exists() else ""

    def at(self, project: str, commit: str) -> Path:
        """The working copy of a project at a commit."""
        copy = self.folder / project
        if not copy.exists():
            _git("clone", "--quiet", "--shared", "--no-checkout", str((self.data / project).resolve()), str(copy))
        _git("-C", str(copy), "checkout", "--quiet", "--force", "--detach", commit)
        _git("-C", str(copy), "clean", "-fdxq")
        return copy

    def clear(self, project: str) -> None:
        """Removes a working copy."""
        shutil.rmtree(self.folder / project, ignore_errors=True)


def _git(*words: str) -> None:
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": "core.hooksPath", "GIT_CONFIG_VALUE_0": os.devnull}  # fmt: skip
    subprocess.run(["git", *words], env={**os.environ, **settings}, check=True, capture_output=True)
