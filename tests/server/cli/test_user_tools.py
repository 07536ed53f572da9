"""Tools that a user adds in the settings: `stet check` and `stet doctor` know them, and mistakes tell their place."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from support.processes.command import Stet

WORDS = (
    "import sys\\nfor n, line in enumerate(sys.stdin, 1):\\n"
    "    if 'forbidden' in line: print(str(n) + ':3: no such word')"
)
CHECKER = f"""
[[checkers]]
language = "ini"
name = "words"
argv = [{json.dumps(sys.executable)}, "-c", "{WORDS}"]
pattern = '^(?P<line>\\d+):(?P<column>\\d+): (?P<message>.+)$'
"""


@pytest.fixture
def user_file(stet_home: Path) -> Path:
    stet_home.mkdir(parents=True, exist_ok=True)
    return stet_home / "config.toml"


def test_check_runs_the_tool_of_the_user(stet: Stet, folder: Path, user_file: Path) -> None:
    user_file.write_text(CHECKER)
    (folder / "a.ini").write_text("a = 1\nb = forbidden\n")

    ran = stet("check", "a.ini")

    assert (ran.status, ran.out) == (1, "a.ini:2:3: error: no such word [words]\n")


def test_doctor_names_the_tool_of_the_user(stet: Stet, user_file: Path) -> None:
    user_file.write_text(CHECKER)

    assert "✓ checker   ini: syntax by words" in stet("doctor").out


def test_a_project_cannot_add_a_tool(stet: Stet, folder: Path, user_file: Path) -> None:
    (folder / ".stet.toml").write_text(CHECKER)

    ran = stet("config", "show", "--json")

    (refused,) = [row for row in json.loads(ran.out) if row.get("refused")]
    assert (refused["key"], str(folder / ".stet.toml") in refused["origin"]) == ("checkers", True)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("language = 3", '"checkers[0].language"'),
        ("argv = []", '"checkers[0].argv"'),
        ("argv = [1]", '"checkers[0].argv"'),
        ("pattern = '('", '"checkers[0].pattern"'),
        ("pattern = '(?P<line>x)'", "(?P<message>...)"),
        ('kind = "style"', '"checkers[0].kind"'),
        ("seconds = 0", '"checkers[0].seconds"'),
        ('patern = "x"', 'did you mean "pattern"?'),
    ],
)
def test_a_mistake_is_reported_with_its_file_table_and_key(stet: Stet, user_file: Path, line: str, says: str) -> None:
    key = line.partition(" ")[0]
    rows = [row for row in ('language = "ini"', 'argv = ["true"]') if not row.startswith(f"{key} ")]
    user_file.write_text("\n".join(["[[checkers]]", *rows, line, ""]))

    ran = stet("config", "show")

    assert ran.status == 2
    assert says in ran.err
    assert str(user_file) in ran.err
