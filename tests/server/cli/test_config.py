"""`stet config` and `stet editor`."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from support.processes.command import Stet

from stet_ls.engine.settings import KEYS


def test_show_has_a_row_for_each_key_and_hides_keys(stet: Stet, folder: Path) -> None:
    (folder / ".stet.toml").write_text("deadline = 9\n[memory]\nuri = 's3://x'\n")

    ran = stet("config", "show", "--json", STET_LOG_LEVEL="debug")

    rows = {row["key"]: row for row in json.loads(ran.out) if not row["refused"]}
    assert ran.status == 0
    assert set(KEYS) - {"providers"} <= set(rows)
    assert rows["deadline"] == {
        "key": "deadline",
        "value": 9,
        "origin": f"project file: {folder / '.stet.toml'}, line 1",
        "refused": False,
    }
    assert rows["log.level"]["origin"] == "environment: STET_LOG_LEVEL"
    assert rows["providers[0].api_key"]["value"] == "set (from STET_API_KEY)"
    assert [row["key"] for row in json.loads(ran.out) if row["refused"]] == ["memory.uri"]
    assert "test-key" not in ran.out + ran.err
    assert f'"memory.uri" in {folder / ".stet.toml"}, line 3 is ignored' in ran.err


def test_show_prints_a_readable_table(stet: Stet, folder: Path) -> None:
    (folder / ".stet.toml").write_text("[memory]\nuri = 's3://x'\n")

    lines = stet("config", "show").out.splitlines()

    assert lines[0].split() == ["deadline", "30.0", "default"]
    assert lines[-1].split()[:5] == ["memory.uri", "s3://x", "refused,", "from", "project"]


def test_show_continues_after_a_mistake_and_exits_with_2(stet: Stet, stet_home: Path) -> None:
    (stet_home / "config.toml").write_text("deadlin = 1\n[model]\nmax_tokens = 99\n")

    ran = stet("config", "show")

    assert ran.status == 2
    assert 'did you mean "deadline"?' in ran.err
    assert "model.max_tokens" in ran.out


def test_init_writes_a_file_that_changes_nothing_and_never_overwrites(stet: Stet, stet_home: Path) -> None:
    ran = stet("config", "init")

    file = stet_home / "config.toml"
    assert (ran.status, ran.out) == (0, f"{file}\n")
    assert {key: value for key, value in tomllib.loads(file.read_text()).items() if value} == {}
    shown = stet("config", "show")
    assert (shown.status, shown.err) == (0, ""), "the file is a valid one"
    before = file.read_bytes()
    again = stet("config", "init")
    assert (again.status, again.out) == (2, "")
    assert file.read_bytes() == before


def test_the_lines_of_the_first_file_are_valid_settings(stet: Stet, stet_home: Path) -> None:
    """Someone takes every # away: all of it has to be understood, the placeholders aside."""
    stet("config", "init")
    file = stet_home / "config.toml"
    lines = (line.removeprefix("# ") for line in file.read_text().splitlines())
    file.write_text("\n".join(line for line in lines if (" = " in line or line.startswith("[")) and "..." not in line))

    ran = stet("config", "show", LOCAL_API_KEY="k")

    assert (ran.status, ran.err) == (0, "")


def test_every_editor_has_its_configuration(stet: Stet) -> None:
    names = stet("editor").out.split()

    plugins = {"vscode"}
    assert {"neovim", "helix", "emacs", "vim", "kate", "sublime", "zed", "jetbrains"} | plugins == set(names)
    for name in sorted({*names} - plugins):
        ran = stet("editor", name)
        assert ran.status == 0
        assert "stet" in ran.out
        assert ran.out.endswith("\n")
    assert stet("editor", "nvim").out == stet("editor", "neovim").out, "people call an editor by its program"
