"""A file's text in the last commit."""

from __future__ import annotations

from pathlib import Path

from stet_ls.engine.workspace.git import git, repository


def head_text(path: Path) -> str | None:
    """The file's text in `HEAD`, "" if it is not in it; None outside of a repository. Runs git."""
    path = path.resolve()
    if repository(path.parent) is None:
        return None
    read = git(path.parent, "cat-file", "blob", f"HEAD:./{path.name}")
    return read.stdout.decode("utf-8", "replace") if read.status == 0 else ""
