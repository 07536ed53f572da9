"""The command that adds an extra names the Stet that is installed, and no package of someone else's."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ({"url": REPOSITORY.as_uri(), "dir_info": {"editable": True}}, f"pip install -e '{REPOSITORY}[ws]'"),
        ({"url": REPOSITORY.as_uri(), "dir_info": {}}, f"pip install '{REPOSITORY}[ws]'"),
        ({"url": "file:///nonesuch", "dir_info": {}}, "pip install '.[ws]' in a clone of Stet"),
        (
            {"url": "file:///w/stet", "vcs_info": {"vcs": "git", "commit_id": "ab12"}},
            "pip install 'stet-ls[ws] @ git+file:///w/stet'",
        ),
        ({"url": "file:///w/stet.whl", "archive_info": {}}, "pip install 'stet-ls[ws] @ file:///w/stet.whl'"),
        (None, "pip install 'stet-ls[ws]'"),
    ],
    ids=["make setup", "folder", "folder that is gone", "repository", "wheel", "index"],
)
def test_it_names_what_is_installed(tmp_path: Path, origin: object, expected: str) -> None:
    """As the installer's own record says, read by a fresh process."""
    info = tmp_path / "stet_ls-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stet-ls\nVersion: 1.0\n")
    if origin is not None:
        (info / "direct_url.json").write_text(json.dumps(origin))
    code = "from stet_ls.validators.install_hints import install_command; print(install_command('ws'))"
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert done.stdout.strip() == expected


def test_no_hint_names_a_package_of_an_index() -> None:
    """A clone is the only source of `stet-ls`: an index has none, or another project's."""
    rooms = [REPOSITORY / name for name in ("server", "engine", "validators", "editors", "docs")]
    files = [
        file
        for room in rooms
        for file in room.rglob("*")
        if file.suffix in SPEAKING and "node_modules" not in file.parts
    ]
    reported = [file for file in (*files, REPOSITORY / "README.md") if OF_AN_INDEX.search(file.read_text())]
    assert not reported


OF_AN_INDEX = re.compile(r"stet-ls\[[^\]]*\](?! @ )")
"""The package without the address of its source."""


SPEAKING = {".py", ".md", ".lua", ".txt", ".ts", ".json", ".el", ".vim"}
