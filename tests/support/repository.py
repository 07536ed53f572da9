"""A git repository for a test, untouched by the developer's own configuration of git."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


@dataclass(frozen=True)
class Repository:
    """A folder, made a repository. Call it with the words of a git command."""

    folder: Path

    @classmethod
    def new(cls, folder: Path) -> Repository:
        """Makes the folder and the repository in it."""
        folder.mkdir(parents=True, exist_ok=True)
        repository = cls(folder)
        repository("init", "--quiet", "--initial-branch=main")
        return repository

    def __call__(self, *words: str) -> str:
        """Runs git there and returns what it prints."""
        environment = {**{k: v for k, v in os.environ.items() if not k.startswith("GIT_")}, **_ENVIRONMENT}
        done = subprocess.run(
            ["git", *words], cwd=self.folder, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    def write(self, files: dict[str, str]) -> None:
        """Writes files by their relative paths."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def commit(self, files: dict[str, str] | None = None) -> None:
        """Writes files and commits everything that is there."""
        self.write(files or {})
        self("add", "--all")
        self("commit", "--quiet", "--allow-empty", "--message", "a step")
