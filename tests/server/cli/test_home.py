"""A home that cannot be written takes no job and no judge away: each kind of it, on a real disk of that kind."""

from __future__ import annotations

import json
import re
import subprocess
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from support.processes.command import SECONDS, Ran, Stet
from support.processes.mounts import read_only, tiny
from support.processes.stet import stet_argv
from support.servers.scripted import Reply, ScriptedModel

HEAD = 'def add(a: int, b: int) -> int:\n    """The sum.\n\n    >>> add(1, 2)\n    3\n    """\n'
OLD = f"{HEAD}    total = a + b\n    return total\n"
NEW = f"{HEAD}    return a + b\n"
WORDS = ("run", "refactor", "a.py:1", "--json")
FULL = "No space left on device"
ROOMY = 8_000_000


@pytest.fixture
def environment(environment: Mapping[str, str]) -> Mapping[str, str]:
    """The same, with the memory."""
    return {**environment, "STET_MEMORY_ENABLED": "true"}


def file_in_place(home: Path) -> list[str]:
    home.write_text("in the way")
    return []


def read_only_disk(home: Path) -> list[str]:
    home.mkdir(mode=0o700)
    return read_only(home)


def full_disk(home: Path) -> list[str]:
    home.mkdir(mode=0o700)
    return tiny(home, 4096)


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """The folder for temporary files of the command alone."""
    folder = tmp_path / "temporary"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def file(folder: Path, scripted: ScriptedModel) -> Path:
    scripted.default = Reply(f"PLAN: shorter\nCODE:\n```python\n{NEW}```\n")
    (folder / "a.py").write_text(OLD)
    return folder / "a.py"


def ran_in(folder: Path, argv: list[str], environment: Mapping[str, str]) -> Ran:
    done = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS)
    return Ran(done.returncode, done.stdout, done.stderr)


def proven(answer: Mapping[str, object]) -> None:
    """The edit is offered, and code of it ran: its example, and the comparison on inputs."""
    evidence = {line["check"]: line for line in answer["evidence"]}  # type: ignore[attr-defined]
    assert answer["success"] is True
    assert len(answer["edits"]) == 1  # type: ignore[arg-type]
    assert (evidence["doctest"]["verdict"], evidence["differential"]["verdict"]) == ("pass", "pass"), (
        evidence["doctest"]["detail"],
        evidence["differential"]["detail"],
    )
    assert "1 doctest passes" in evidence["doctest"]["detail"]
    inputs = re.fullmatch(r"same behavior on (\d+) inputs", evidence["differential"]["detail"])
    assert inputs is not None, evidence["differential"]["detail"]
    assert int(inputs[1]) > 100


@pytest.mark.parametrize(
    ("spoiled", "reason"),
    [(file_in_place, "Not a directory"), (read_only_disk, "Read-only file system"), (full_disk, FULL)],
)
def test_a_job_with_an_unwritable_home_is_proven_with_one_warning(
    file: Path, environment: Mapping[str, str], temporary: Path, spoiled: Callable[[Path], list[str]], reason: str
) -> None:
    home = temporary.parent / "home"
    around = spoiled(home)

    ran = ran_in(
        file.parent, [*around, *stet_argv(*WORDS)], {**environment, "STET_HOME": str(home), "TMPDIR": str(temporary)}
    )

    assert ran.status == 0, ran.err
    answer = json.loads(ran.out)
    proven(answer)
    (warning,) = answer["warnings"]
    assert warning == (
        f"`{home}` is not writable ({reason}). Disabled until it is: the memory, job records, the ledger, "
        "model profiles, the symbol index, packages for test runs; code runs from a temporary folder. "
        "Make room or make it writable, or set `STET_HOME` to another folder."
    )
    assert "Traceback" not in ran.err
    assert "Errno" not in ran.err + ran.out
    assert len(ran.err.splitlines()) <= 1, "the log, too, says so once"
    assert not list(temporary.iterdir()), "what runs needed is gone"


def test_a_file_in_place_of_the_home_does_not_block_an_edit(stet: Stet, file: Path, tmp_path: Path) -> None:
    file_in_place(tmp_path / "home")

    ran = stet("run", "refactor", "a.py:1", "--apply", STET_HOME=str(tmp_path / "home"))

    assert ran.status == 0, ran.err
    assert file.read_text() == NEW
    assert ran.err.count("Disabled until it is") == 1


FILLING = """
import os, subprocess, sys
job = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL)
sys.stdin.readline()
with open(os.path.join(sys.argv[1], "filler"), "wb", buffering=0) as file:
    try:
        while file.write(bytes(4096)):
            pass
    except OSError as error:
        print(error.strerror, file=sys.stderr, flush=True)
sys.exit(job.wait())
"""
"""Runs a command, and fills the disk at a folder as soon as a line comes."""


def test_a_disk_that_fills_up_during_a_job_does_not_lose_the_answer(
    file: Path, environment: Mapping[str, str], temporary: Path, scripted: ScriptedModel
) -> None:
    home = temporary.parent / "home"
    home.mkdir(mode=0o700)
    released = threading.Event()
    scripted.default = Reply(f"PLAN: shorter\nCODE:\n```python\n{NEW}```\n", hold=released)
    job = stet_argv(*WORDS)
    argv = [*tiny(home, ROOMY), job[0], "-c", FILLING, str(home), *job]
    process = subprocess.Popen(
        argv, cwd=file.parent, env={**environment, "STET_HOME": str(home), "TMPDIR": str(temporary)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        scripted.wait_request(1)
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write("now\n")
        process.stdin.flush()
        assert process.stderr.readline() == f"{FULL}\n"
        released.set()
        out, err = process.communicate(timeout=SECONDS)
    finally:
        released.set()
        process.kill()
        process.wait()

    assert process.returncode == 0, err
    answer = json.loads(out)
    proven(answer)
    (warning,) = answer["warnings"]
    assert warning.startswith(f"`{home}` is not writable ({FULL}). Disabled until it is: ")
    assert "Traceback" not in err
    assert "Errno" not in err + out
    assert not list(temporary.iterdir())
