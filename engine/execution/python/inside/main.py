"""Goes into the box: runs the same calls against several texts of a module, each in a state as fresh as the others'.

Needs Python 3.8 and its standard library. Reads one job (JSON, the path is its argument, see `trial.py`) and writes
one report to the descriptor BOX_REPORT_FD. Each text is loaded and run in a fork of its own, so that nothing one of
them does to its process reaches the other; chance, clock and system randomness are pinned, and what would reach out of
the process (files written, processes, network) ends a call before it happens.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import types
from typing import Any, Iterator, NoReturn  # noqa: UP035 - as Python 3.8 has them

from stet_ls.engine.execution.python.inside.compare import compare, plain
from stet_ls.engine.execution.python.inside.fork import Begun
from stet_ls.engine.execution.python.inside.result_pipe import tell
from stet_ls.engine.execution.python.inside.timing import measure

try:
    import ctypes
except ImportError:  # a Python that was built without
    ctypes = None  # type: ignore[assignment]


HERE: list[Any] = []  # a module that nobody holds is emptied


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
        except BaseException:  # the text itself will say so, or do without
            continue
    calls = list(compiled(job["calls"]))
    keep(shut=True)  # the last that is done by path before all forks is done
    try:
        report = {"time": measure, "plain": plain, "compare": compare}[job["mode"]](job, calls)
    except Begun as begun:
        work, *given = begun.args
        begun.__traceback__ = None
    else:
        report["nonce"] = job["nonce"]
        tell(REPORT, report)
        os._exit(0)
    alone(job, calls, work, given)


def place(job: dict[str, Any]) -> None:
    """Its paths come relative to the working folder, which boxes show at different places."""
    folder = os.getcwd()
    job["path"] = os.path.join(folder, job["path"])
    job["roots"] = [os.path.normpath(os.path.join(folder, root)) for root in job["roots"]]


def compiled(calls: list[Any]) -> Iterator[tuple[int, Any]]:
    """The calls that are Python, by number. Most have the same body: each text is compiled once."""
    bodies: dict[str, Any] = {}
    for number, (setup, body, names) in enumerate(calls):
        try:
            if body not in bodies:
                bodies[body] = compile(body, "<call>", "exec")
            yield number, (compile(setup, "<input>", "exec"), bodies[body], names)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue


def alone(job: dict[str, Any], calls: list[Any], work: Any, given: list[Any]) -> NoReturn:
    """The rest of a fork. What is not of its own text is not within its reach by any name or frame."""
    status = 1
    try:
        os.close(REPORT)
        keep(shut=False)
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


def keep(shut: bool) -> None:
    """Whether other processes of this user are kept from this one: by /proc they could write into its memory."""
    prctl = getattr(ctypes and ctypes.CDLL(None), "prctl", None)
    if prctl:
        prctl(4, int(not shut), 0, 0, 0)  # PR_SET_DUMPABLE; Linux


def part() -> None:
    """Moves this fork into its own Landlock domain, which only denies access to processes outside.

    By /proc it could else write into the pipes of its parent and of other forks. Where `keep` is denied, as in the box
    of Landlock, nothing else stands in between. Moving files between folders is what a domain has to allow by a rule.
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
