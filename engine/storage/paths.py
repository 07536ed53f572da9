"""Stet's folders on this system."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs


@dataclass(frozen=True, slots=True)
class Paths:
    """The folders of one user. They need not exist; `runtime` holds sockets and locks, private to the user."""

    config_file: Path
    data: Path
    cache: Path
    logs: Path
    runtime: Path

    @property
    def model_file(self) -> Path:
        """The model that the user chose by question, next to the settings."""
        return self.config_file.with_name("model.toml")

    @property
    def models(self) -> Path:
        """The weights of the embedded models."""
        return self.data / "models"

    @property
    def profiles(self) -> Path:
        """Learned facts about models."""
        return self.data / "profiles"

    @property
    def ledger(self) -> Path:
        """The spending of jobs, one file per month."""
        return self.data / "ledger"

    @property
    def traces(self) -> Path:
        """The records of the last jobs."""
        return self.data / "traces"

    @property
    def replies(self) -> Path:
        """Replies of models to prompts that may be asked again."""
        return self.cache / "replies"

    @property
    def tasks(self) -> Path:
        """The history of tasks."""
        return self.data / "tasks"

    @property
    def evidence(self) -> Path:
        """Evidence of jobs that can be opened while their server knows the jobs."""
        return self.data / "evidence"

    @property
    def results(self) -> Path:
        """The files that the last tasks made."""
        return self.data / "results"

    @property
    def trust(self) -> Path:
        """The projects whose actions the user trusts."""
        return self.data / "trust.json"

    @property
    def consents(self) -> Path:
        """The model servers of this machine that may receive the user's code."""
        return self.data / "endpoints.json"

    @property
    def memory(self) -> Path:
        """The stored solutions."""
        return self.data / "memory"


def user_paths() -> Paths:
    """The paths of this user; `STET_HOME` moves all of them."""
    if home := os.environ.get("STET_HOME"):
        root = Path(home).expanduser().absolute()
        return Paths(root / "config.toml", root / "data", root / "cache", root / "log", root / "run")
    dirs = platformdirs.PlatformDirs("stet", appauthor=False)
    return Paths(
        Path(dirs.user_config_dir) / "config.toml",
        Path(dirs.user_data_dir),
        Path(dirs.user_cache_dir),
        Path(dirs.user_log_dir),
        # Without XDG_RUNTIME_DIR platformdirs would warn and use a folder in /tmp that others can guess.
        Path(dirs.user_runtime_dir if os.environ.get("XDG_RUNTIME_DIR") else dirs.user_cache_dir, "run"),
    )


def unwritable(error: OSError) -> str | None:
    """The message about an unwritable folder of Stet, with the way out; None for any other path."""
    paths, failed = user_paths(), Path(str(error.filename or ""))
    ours = (paths.data, paths.cache, paths.logs, paths.runtime)
    near = any(failed == each or failed in each.parents or each in failed.parents for each in ours)
    if error.filename is None or not near:
        return None
    where = Path(home).expanduser().absolute() if (home := os.environ.get("STET_HOME")) else failed
    problem = f"Stet keeps its files below {where}, which is not writable ({error.strerror})"
    return f"{problem}: set `STET_HOME` to a writable folder"
