"""The subject of a request for the memory: its words, its project, the text of its files."""

from __future__ import annotations

from pathlib import Path

from stet_ls.engine.api.request import Request
from stet_ls.engine.errors import StetError
from stet_ls.engine.memory.solution import scope_of
from stet_ls.engine.prompt.instruction import find_instruction
from stet_ls.engine.prompt.target import resolve_target
from stet_ls.validators import structure
from stet_ls.validators.project_files import read_regular

UNSAVED = "unsaved"
"""The scope of unsaved documents."""

_LARGEST = 2_000_000
"""Bytes of a file that is read again."""


def scope_for(request: Request) -> str:
    """The scope of a request's workspace."""
    root = root_of(request)
    return UNSAVED if root is None else scope_of(root)


def root_of(request: Request) -> Path | None:
    """The workspace folder that contains the document, or its own folder; None for one that was never saved."""
    path = request.path
    roots = [root for root in request.workspace.roots if path is None or path.is_relative_to(root)]
    if roots:
        return max(roots, key=lambda root: len(root.parts)).resolve()
    return None if path is None else path.parent.resolve()


def request_wording(request: Request) -> tuple[str, str]:
    """The request in words, and the signature of its unit; "" where there is none."""
    try:
        target = resolve_target(request)
        instruction = find_instruction(request, target)
    except StetError:
        return "", ""
    units = structure.units(request.source, request.language) if target.name else ()
    signature = next((unit.signature for unit in units if unit.qualified == target.name), "")
    return instruction.text if instruction is not None else "", signature


def text_of(path: Path) -> str:
    """The text of a file; "" if it is not a text file of moderate size."""
    try:
        return read_regular(path, most=_LARGEST).decode("utf-8", "replace")
    except OSError:
        return ""


def squeezed(text: str) -> str:
    """A text without its white space."""
    return "".join(text.split())
