"""What of the files around a document a prompt may show: those of its workspace, by where their names really lead.

A project can hold links, and a link called `AGENTS.md` or `notes.md` may lead to a key, to a neighbour's code or into
`/proc`. So it is the file behind a name that has to lie in the workspace and that no list may hide.
"""

from __future__ import annotations

from pathlib import Path

from stet_ls.engine.api.request import Request
from stet_ls.engine.privacy.ignored_files import IgnoredFiles
from stet_ls.validators.containment import is_inside, is_inside_any, real_path
from stet_ls.validators.project_files import read_text

_FOLDERS_UP = 12


def folders_up(request: Request) -> list[Path]:
    """The document's folder and those above it, up to the workspace's root or the repository's; nearest first.

    Empty for a document that lies outside of the workspace's roots: what is around it is none of the workspace's.
    """
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
    return folders[:1]  # no root: what lies above is nobody's project


def homes(request: Request) -> tuple[Path, ...]:
    """The folders outside of which nothing is read for a prompt: the roots, else the repository or the folder."""
    return request.workspace.roots or tuple(folders_up(request)[-1:])


def shown_text(request: Request, path: Path, ignored: IgnoredFiles, *, most: int) -> str | None:
    """The text of a file for a prompt, an unsaved one as the editor holds it.

    None where it is hidden, not there, no regular file, larger than `most` bytes, or leads out of the workspace.
    """
    if not may_show(request, path, ignored):
        return None
    for buffer in request.workspace.buffers:
        if buffer.path == path:
            return buffer.text
    real = real_path(path)  # what was judged is what is read
    return None if real is None else read_text(real, most=most)


def may_show(request: Request, path: Path, ignored: IgnoredFiles) -> bool:
    """True if a prompt may show what a file holds."""
    return is_inside_any(path, homes(request)) and ignored.reason(path) is None
