"""A project's declared dependencies, read from its files as data: `setup.py` and other code is never executed."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from stet_ls.engine.sandbox.environments.known_packages import normalized
from stet_ls.validators.containment import is_inside
from stet_ls.validators.project_files import inner_table, matching, parse_table, read_text

_NAME = re.compile(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(\[[\w\s,.-]*\])?\s*([^;#@]*)")
_VERSIONS = re.compile(r"\(?\s*((?:(?:~=|===|==|!=|<=|>=|<|>)\s*[\w.*+!-]+\s*,?\s*)*)\)?\s*$")
_MOST = 1_000_000
"""Bytes of a file that are read."""


def dependencies(root: Path) -> Mapping[str, str]:
    """Normalized name -> a requirement such as `numpy>=1.26`, of every group, because tests need theirs too.

    The first mention of a package is used. An address, a path or a pip option instead of a version is dropped: only
    the name is used, and the user's index decides where it comes from.
    """
    found: dict[str, str] = {}
    for line in _lines(root):
        parsed = requirement(line)
        if parsed is not None:
            found.setdefault(*parsed)
    return found


def requirement(text: str) -> tuple[str, str] | None:
    """A requirement's normalized name, and the requirement reduced to name, extras and versions."""
    match = _NAME.match(text)
    if match is None or "://" in text.split("#")[0].split("@")[0]:
        return None
    versions = _VERSIONS.match(match[3])
    pinned = re.sub(r"\s+", "", versions[1]).strip(",") if versions else ""
    extras = re.sub(r"\s+", "", match[2] or "")
    return normalized(match[1]), f"{match[1]}{extras}{pinned}"


def _lines(root: Path) -> Iterator[str]:
    yield from _pyproject(root)
    files = [*matching(root, "requirements*.txt"), *matching(root / "requirements", "*.txt")]
    for file in files[:20]:
        # A line that begins with a dash is an option: another index, another file, a package to build.
        lines = _text(root, file).replace("\\\n", " ").splitlines()
        yield from (line.split(" --")[0] for line in lines if not line.lstrip().startswith(("-", "#", ".", "/")))
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(_text(root, root / "setup.cfg"))
    except configparser.Error:
        return
    yield from parser.get("options", "install_requires", fallback="").splitlines()
    if parser.has_section("options.extras_require"):
        for _, lines_ in parser.items("options.extras_require"):
            yield from lines_.splitlines()


def _pyproject(root: Path) -> Iterator[str]:
    try:
        table = parse_table(_text(root, root / "pyproject.toml"))
    except ValueError:
        return
    project, poetry = inner_table(table, "project"), inner_table(table, "tool", "poetry")
    yield from _strings(project.get("dependencies"))
    for group in (
        *inner_table(project, "optional-dependencies").values(),
        *inner_table(table, "dependency-groups").values(),
    ):
        yield from _strings(group)
    groups = [poetry, *(inner_table(inner_table(poetry, "group"), name) for name in inner_table(poetry, "group"))]
    for each in groups:
        for name in ("dependencies", "dev-dependencies"):
            yield from (key for key in inner_table(each, name) if key != "python")


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, list):
        yield from (each for each in value if isinstance(each, str))


def _text(root: Path, file: Path) -> str:
    """A file's text; "" if it is outside the project: names in it are looked up and would leak other files."""
    return (read_text(file, most=_MOST) or "") if is_inside(file, root) else ""
