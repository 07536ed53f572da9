"""Stet's folders on this system."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import overload

import platformdirs


class StoredAt:
    """A file or folder of Stet: below which of its folders it lies, what is in it, and how long it stays.

    The value of such an attribute of `Paths` is the path.
    """

    def __init__(self, base: str, path: str, holds: str, stays: str) -> None:
        self.base, self.path, self.holds, self.stays = base, path, holds, stays

    @overload
    def __get__(self, paths: None, owner: type[Paths]) -> StoredAt: ...

    @overload
    def __get__(self, paths: Paths, owner: type[Paths]) -> Path: ...

    def __get__(self, paths: Paths | None, owner: type[Paths]) -> StoredAt | Path:
        return self if paths is None else getattr(paths, self.base) / self.path


_YOURS = "until you delete it"


@dataclass(frozen=True, slots=True)
class Paths:
    """The folders of one user. They need not exist; `runtime` holds sockets and locks, private to the user.

    What is in them is listed here alone, and shown in `docs/storage.md`.
    """

    config_file: Path
    data: Path
    cache: Path
    logs: Path
    runtime: Path

    @property
    def config(self) -> Path:
        """The folder of the settings."""
        return self.config_file.parent

    model_file = StoredAt("config", "model.toml", "The model that you chose by question.", "until you choose again")
    models = StoredAt("data", "models", "The weights of the embedded models.", _YOURS)
    own_weights = StoredAt("data", "own-models/list.json", "Weights of your own: name, place, SHA-256.", _YOURS)
    profiles = StoredAt("data", "profiles", "What was learned about models, one file for each.", _YOURS)
    ledger = StoredAt("data", "ledger", "What jobs cost, one file for each month.", _YOURS)
    traces = StoredAt("data", "traces", "The records of the last jobs.", "the last `trace.keep`")
    memory = StoredAt("data", "memory", "Solutions that were kept.", "until they are undone, forgotten or too old")
    tasks = StoredAt("data", "tasks", "The history of tasks, with instructions and changed code.", "the last 100")
    results = StoredAt("data", "results", "The files that tasks made.", "the last 20 tasks")
    batches = StoredAt("data", "batches", "What `stet run` over many files has done.", "the last 50")
    evidence = StoredAt("data", "evidence", "Evidence of jobs that can be opened.", "while the server knows the job")
    hooks = StoredAt("data", "hooks", "The answers to agents, and the files as each session began.", "30 days")
    trust = StoredAt("data", "trust.json", "The projects whose actions you trust.", _YOURS)
    consents = StoredAt("data", "endpoints.json", "The model servers of this machine that may get your code.", _YOURS)
    replies = StoredAt(
        "cache",
        "replies",
        "Replies of models to prompts that may be asked again.",
        "the last 500, for `model.cache_days`",
    )
    symbols = StoredAt("cache", "symbols", "Names and heads of the workspace's functions and classes.", _YOURS)
    sandbox = StoredAt("cache", "sandbox", "Folders in which code runs, and what the sandbox was found to do.", "a run")
    environments = StoredAt(
        "cache", "environments", "Packages for test runs.", "up to `sandbox.environments_mb`, the oldest go first"
    )
    verified = StoredAt("cache", "verify", "Verdicts of `stet verify` by the content of what was judged.", _YOURS)
    checksums = StoredAt("cache", "weights", "Which files were found to have the SHA-256 of a model.", _YOURS)
    reports = StoredAt("cache", "reports", "Reports that a client opens as files.", "until the server ends")
    log_file = StoredAt("logs", "stet.log", "The log.", "the last 4 MB")


def stored() -> Mapping[str, StoredAt]:
    """All files and folders of Stet by the names of their attributes."""
    return {name: each for name, each in vars(Paths).items() if isinstance(each, StoredAt)}


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
