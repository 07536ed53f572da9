"""Runs the same calls against several texts of a module in the sandbox, each in an equally fresh state.

Needs Python 3.8 and its standard library. Reads one job (JSON, the path is its argument, see `harness_run.py`) and
writes one report to the descriptor BOX_REPORT_FD. Each text is loaded and run in a separate fork, so that it cannot
affect another; randomness and clock are pinned, and a call that would access the outside of the process (files written,
processes, network) ends before it does.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import types
from typing import Any, Iterator, NoReturn  # noqa: UP035 - as Python 3.8 has them

from stet_ls.engine.execution.python.inside.compare import compare, plain
from stet_ls.engine.execution.python.inside.fork import ForkBegun
from stet_ls.engine.execution.python.inside.result_pipe import write_message
from stet_ls.engine.execution.python.inside.times.timing import measure

try:
    import ctypes
except ImportError:  # this Python was built without it
    ctypes = None  # type: ignore[assignment]


HERE: list[Any] = []  # an unreferenced module would be emptied


def main() -> NoReturn:
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    for name in (sys.argv[1], sys.argv[0]):
        os.unlink(name)
    place(job)
    sys.path[:1] = job["roots"]
    sys.stdin = open(os.devnull)
    for name in job["warm"]:
        try:
            importlib.import_module(name)
        except BaseException:  # the text itself will fail, or not need it
            continue
    calls = list(compiled(job["calls"]))
    protect_memory(enabled=True)  # from here on, nothing before the forks uses a path
    try:
        report = {"time": measure, "plain": plain, "compare": compare}[job["mode"]](job, calls)
    except ForkBegun as begun:
        work, *given = begun.args
        begun.__traceback__ = None
    else:
        report["nonce"] = job["nonce"]
        write_message(REPORT, report)
        os._exit(0)
    alone(job, calls, work, given)


def place(job: dict[str, Any]) -> None:
    """Makes the job's paths absolute: they are relative to the working folder, whose path depends on the sandbox."""
    folder = os.getcwd()
    job["folder"] = os.path.dirname(os.path.join(folder, sys.argv[1]))
    job["path"] = os.path.join(folder, job["path"])
    former = job["former"]["texts"]
    job["former"]["texts"] = {os.path.join(folder, path): text for path, text in former.items()}
    job["roots"] = [os.path.normpath(os.path.join(folder, root)) for root in job["roots"]]


def compiled(calls: list[Any]) -> Iterator[tuple[int, Any]]:
    """The calls that are valid Python, by number. Most have the same body: each text is compiled once."""
    bodies: dict[str, Any] = {}
    for number, (setup, body, names) in enumerate(calls):
        try:
            if body not in bodies:
                bodies[body] = compile(body, "<call>", "exec")
            yield number, (compile(setup, "<input>", "exec"), bodies[body], names)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue


def alone(job: dict[str, Any], calls: list[Any], work: Any, given: list[Any]) -> NoReturn:
    """The rest of a fork. Only objects of its own text are reachable by name or frame."""
    status = 1
    try:
        os.close(REPORT)
        protect_memory(enabled=False)
        part()
        for name in ("nonce", "texts", "calls", "probed"):
            del job[name]
        HERE.append(sys.modules["__main__"])
        sys.modules["__main__"] = types.ModuleType("__main__")
        sys.argv = [job["path"]]
        work(job, *given)
        status = 0
    finally:
        os._exit(status)


def protect_memory(enabled: bool) -> None:
    """Sets whether other processes of this user are kept out: through /proc they could write into its memory."""
    prctl = getattr(ctypes and ctypes.CDLL(None), "prctl", None)
    if prctl:
        prctl(4, int(not enabled), 0, 0, 0)  # PR_SET_DUMPABLE; Linux


def part() -> None:
    """Moves this fork into its own Landlock domain, which only denies access to processes outside.

    Otherwise the text could write, through /proc, into the pipes of its parent and of other forks. If
    `protect_memory` is denied, as in a Landlock sandbox, this is the only barrier. Moving files between folders needs a
    rule that allows it.
    """
    libc = ctypes and ctypes.CDLL(None)
    if not sys.platform.startswith("linux") or not libc:
        return
    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    for right in (1 << 13, 1 << 11):  # LANDLOCK_ACCESS_FS_REFER; before ABI 2 MAKE_BLOCK, which is root's alone
        access = right.to_bytes(8, sys.byteorder)
        rules = libc.syscall(ctypes.c_long(444), access, ctypes.c_long(8), ctypes.c_long(0))
        if rules < 0:
            continue
        root = os.open("/", os.O_PATH)
        beneath = access + root.to_bytes(4, sys.byteorder)
        libc.syscall(ctypes.c_long(445), ctypes.c_long(rules), ctypes.c_long(1), beneath, ctypes.c_long(0))
        libc.syscall(ctypes.c_long(446), ctypes.c_long(rules), ctypes.c_long(0))
        os.close(root)
        os.close(rules)
        return


if __name__ == "__main__":
    REPORT = int(os.environ.pop("BOX_REPORT_FD"))
    main()
