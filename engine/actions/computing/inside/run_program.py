"""Runs one program in the sandbox, then reports its exit status and the files that it made or changed.

The program is a child process, so that whatever it does to itself this one can still report. The report is a line of
JSON, then the contents of the files, one after the other.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from typing import Any

_CHUNK = 1 << 20


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    report = int(os.environ.pop("BOX_REPORT_FD"))
    os.set_inheritable(report, False)
    before = _listing(job)
    code = subprocess.call([sys.executable, "-s", "-B", job["program"]], stdin=subprocess.DEVNULL)
    outcome: Any = {"exit": code, "files": [], "changed": [], "inputs": [], "problem": ""}
    if code == 0:
        _compare(outcome, before, _listing(job), job)
    if outcome["problem"] or outcome["inputs"]:
        outcome["files"] = []
    _write(report, json.dumps(outcome).encode() + b"\n")
    for name, size in outcome["files"]:
        _send(report, name, size)
    sys.exit(code if code >= 0 else 128 - code)


def _listing(job: Any) -> Any:
    """The regular files below the working folder, and what changes when they are written to."""
    found: Any = {}
    left = job["most_entries"]
    pending = [""]
    while pending:
        below = pending.pop()
        try:
            entries = list(os.scandir(below or "."))
        except OSError:
            continue
        left -= len(entries)
        if left < 0:
            raise SystemExit("the folder has too many files")
        for entry in entries:
            name = below + "/" + entry.name if below else entry.name
            if entry.is_dir(follow_symlinks=False):
                if not entry.name.startswith(".") and entry.name not in job["skip"]:
                    pending.append(name)
            elif entry.is_file(follow_symlinks=False):
                state = entry.stat(follow_symlinks=False)
                found[name] = (state.st_size, state.st_mtime_ns)
    return found


def _compare(outcome: Any, before: Any, after: Any, job: Any) -> None:
    """What the program made: new files, and those of earlier programs that it wrote again."""
    total = 0
    for name in sorted(set(before) | set(after)):
        if before.get(name) == after.get(name) or name.rpartition("/")[2].startswith("."):
            continue
        if name in job["inputs"]:
            outcome["inputs"].append(name)
        elif name in before and name not in job["own"]:
            outcome["changed"].append(name)
        elif name in after:
            outcome["files"].append([name, after[name][0]])
            total += after[name][0]
    if total > job["most_bytes"]:
        outcome["problem"] = f"the files hold {total >> 20} MB; at most {job['most_bytes'] >> 20} MB can be kept"
    elif len(outcome["files"]) > job["most_files"]:
        outcome["problem"] = f"the program wrote {len(outcome['files'])} files; at most {job['most_files']} can be kept"


def _send(report: int, name: str, size: int) -> None:
    """Exactly `size` bytes: a process that still writes cannot shift the files that follow."""
    opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        left = size if stat.S_ISREG(os.fstat(opened).st_mode) else 0
        while left:
            data = os.read(opened, min(left, _CHUNK)) or b"\0" * min(left, _CHUNK)
            _write(report, data)
            left -= len(data)
    finally:
        os.close(opened)


def _write(report: int, data: bytes) -> None:
    while data:
        data = data[os.write(report, data) :]


main()
