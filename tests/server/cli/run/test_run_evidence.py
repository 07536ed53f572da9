"""`stet run --evidence`: what the evidence rests on, as files."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from support.processes.command import Stet
from support.servers.scripted import Reply, ScriptedModel

OLD = "def add(a: int, b: int) -> int:\n    total = a + b\n    return total\n"
NEW = "def add(a: int, b: int) -> int:\n    return a + b\n"


def test_the_report_and_each_attachment_are_written(stet: Stet, scripted: ScriptedModel, folder: Path) -> None:
    (folder / "a.py").write_text(OLD)
    scripted.default = Reply(f"PLAN: shorter\nCODE:\n```python\n{NEW}```\n")

    ran = stet("run", "refactor", "a.py:1", "--evidence", "proof")

    assert ran.status == 0, ran.err
    assert "wrote proof/inputs_add.py" in ran.err
    report = (folder / "proof" / "evidence.md").read_text()
    assert "- ✓ differential: " in report
    file = folder / "proof" / "inputs_add.py"
    assert file.stat().st_mode & 0o777 == 0o600
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("0 of ")
    assert set(re.findall(r"same behavior on (\d+ inputs)", report)) == set(
        re.findall(r"\((\d+ inputs), ", done.stdout)
    )
    assert "of them called again" in done.stdout


def test_an_unwritable_report_folder_is_named(stet: Stet, scripted: ScriptedModel, folder: Path) -> None:
    (folder / "a.py").write_text(OLD)
    (folder / "proof").write_text("a file")
    scripted.default = Reply(f"PLAN: shorter\nCODE:\n```python\n{NEW}```\n")

    ran = stet("run", "refactor", "a.py:1", "--evidence", "proof")

    assert ran.status == 2
    assert "--evidence proof: cannot write:" in ran.err
