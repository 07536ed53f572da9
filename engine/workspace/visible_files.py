"""Files around a document that a prompt may show: those of its workspace, judged by their resolved paths.

A project can contain links, and a link called `AGENTS.md` or `notes.md` may lead to a key, to another project's code
or into `/proc`. So the resolved file has to be in the workspace and not hidden by a list.
"""

from __future__ import annotations

from pathlib import Path

from stet_ls.engine.api.request import Request
from stet_ls.engine.privacy.ignored_files import IgnoredFiles
from stet_ls.validators.containment import is_inside, is_inside_any, real_path
from stet_ls.validators.project_files import read_text

_FOLDERS_UP = 12


def folders_up(request: Request) -> list[Path]:
    """The document's folder and those above, up to the root or repository; none outside of the workspace."""
    if request.path is None:
        return []
    roots, path = request.workspace.roots, request.path.absolute()
    if roots and not is_inside_any(path.parent, roots):
        return []
    folders: list[Path] = []
    for folder in list(path.parents)[:_FOLDERS_UP]:
        folders.append(folder)
        if any(is_inside(root, folder) for root in roots) or (folder / ".git").exists():
            return folders
    return folders[:1]  # no root: the folders above belong to no project


def homes(request: Request) -> tuple[Path, ...]:
    """The folders outside of which nothing is read for a prompt: the roots, else the repository or the folder."""
    return request.workspace.roots or tuple(folders_up(request)[-1:])


def shown_text(request: Request, path: Path, ignored: IgnoredFiles, *, most: int) -> str | None:
    """The text of a visible file, unsaved as in the editor; None if it is hidden, unreadable or over `most` bytes."""
    if not may_show(request, path, ignored):
        return None
    for buffer in request.workspace.buffers:
        if buffer.path == path:
            return buffer.text
    real = real_path(path)  # reads the same path that was checked
    return None if real is None else read_text(real, most=most)


def may_show(request: Request, path: Path, ignored: IgnoredFiles) -> bool:
    """True if a prompt may show the file's content."""
    return is_inside_any(path, homes(request)) and ignored.reason(path) is None
