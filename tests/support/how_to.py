"""The examples of CONTRIBUTING.md, as edits that can be applied to a copy of the project and taken out of it again."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```\w+\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_HEAD = re.compile(r"^# (?P<path>[\w./-]+)(?: \(new\)|, (?P<how>below|instead of) `(?P<line>.+)`|: (?P<there>.+))$")
_COPIED = ("engine", "server", "validators", "src", "tests", "editors", "pyproject.toml")


@dataclass(frozen=True, slots=True)
class Part:
    """Lines of one file: below the line `neighbor` or, with `replaces`, instead of it.

    Without such a line they are a file of their own, or stand in the project already (`is_there`).
    """

    path: str
    lines: tuple[str, ...]
    neighbor: str = ""
    replaces: bool = False
    is_there: bool = False


def parts(section: str) -> list[Part]:
    """The parts of the example under a heading, in order. AssertionError where its form is not known."""
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    _, heading, rest = page.partition(f"## {section}\n")
    assert heading, f"no section {section!r}"
    found: list[Part] = []
    for block in _BLOCK.finditer(rest.partition("\n## ")[0]):
        lines = block["text"].splitlines()
        starts = [number for number, line in enumerate(lines) if _HEAD.match(line)]
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            head = _HEAD.match(lines[start])
            assert head is not None
            body = lines[start + 1 : end]
            while body and not body[-1].strip():
                body.pop()
            found.append(
                Part(
                    head["path"],
                    tuple(body),
                    head["line"] or "",
                    head["how"] == "instead of",
                    head["there"] is not None,
                )
            )
    return found


def copy(folder: Path) -> Path:
    """A copy of the project's code and tests in `folder`."""
    for name in _COPIED:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "node_modules", "*.vsix", "dist")
            shutil.copytree(source, folder / name, symlinks=True, ignore=ignored)
        else:
            shutil.copy2(source, folder / name)
    return folder


def apply(part: Part, folder: Path) -> None:
    """Writes a part into a copy. AssertionError if the line that it belongs to is not there exactly once."""
    path = folder / part.path
    if not part.neighbor:
        assert not path.exists(), f"{part.path} exists"
        path.write_text("\n".join(part.lines) + "\n", "utf-8")
        return
    lines = path.read_text("utf-8").splitlines()
    places = [number for number, line in enumerate(lines) if line.strip() == part.neighbor.strip()]
    assert len(places) == 1, f"{part.path}: {len(places)} lines are {part.neighbor!r}"
    first = places[0] if part.replaces else places[0] + 1
    lines[first : places[0] + 1] = part.lines
    path.write_text("\n".join(lines) + "\n", "utf-8")


def remove(part: Part, folder: Path) -> None:
    """Takes lines out of a copy that has them. AssertionError if they are not there exactly once."""
    path = folder / part.path
    lines = path.read_text("utf-8").splitlines()
    size = len(part.lines)
    wanted = [line.strip() for line in part.lines]
    starts = [n for n in range(len(lines)) if [line.strip() for line in lines[n : n + size]] == wanted]
    assert len(starts) == 1, f"{part.path}: the example stands there {len(starts)} times"
    del lines[starts[0] : starts[0] + size]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def run_tests(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """pytest in a copy, which imports the copy's own packages."""
    code = (
        "import sys; sys.path.insert(0, 'src'); import stet_ls.engine as engine, pathlib; "
        "assert pathlib.Path(engine.__file__).resolve().is_relative_to(pathlib.Path.cwd().resolve()), engine.__file__; "
        "import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, "-q", "-p", "no:xdist", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
