"""A sandbox without namespaces: Landlock, a system call filter, limits, and a warden that ends every process.

For machines that do not allow bubblewrap. It has no private view of the file system and no private network: files that
are not listed cannot be opened, and no socket can be created. A program that needs a server on loopback or a
`multiprocessing` pool (its semaphores are in /dev/shm) does not work here: see `docs/sandbox.md`.
"""

from __future__ import annotations

import base64
import json
import os
import platform
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from stet_ls.engine.sandbox.backends.plain_run import RunFolders, prepare
from stet_ls.engine.sandbox.env_vars import environment
from stet_ls.engine.sandbox.files import mounts
from stet_ls.engine.sandbox.files.scratch import artifacts
from stet_ls.engine.sandbox.isolation import IsolationReport, Wall
from stet_ls.engine.sandbox.linux import bpf, seccomp_filters
from stet_ls.engine.sandbox.processes.supervise import SIGNALED, ExitInfo, memory_file, supervise
from stet_ls.engine.sandbox.spec import BoxError, Limits, RunResult, RunSpec, RunStatus

_PACKAGE = Path(__file__).parents[4]
_LAUNCH = (
    "import sys; sys.path.append(sys.argv.pop()); "
    "from stet_ls.engine.sandbox.linux.landlock_launcher import main; main()"
)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_KERNEL = (
    "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/version", "/proc/filesystems", "/proc/sys/vm",
    "/proc/sys/kernel/pid_max", "/proc/sys/kernel/ngroups_max", "/sys/devices/system/cpu",
    "/sys/kernel/mm/transparent_hugepage",
)  # fmt: skip
_NODE = (Path(__file__).parents[1] / "inside" / "landlock_node.cjs").resolve()
_OWN = {"USER": "box", "LOGNAME": "box", "NODE_OPTIONS": f'--require="{_NODE}"'}
"""Values that programs elsewhere read from /etc/passwd, /proc and /etc/hosts."""

PARTLY: Mapping[Wall, str] = {Wall.DISK: "scratch files are on the disk and measured several times a second"}
"""What no probe can verify fully here."""


@dataclass(frozen=True, slots=True)
class LandlockBox:
    """The kernel's own sandbox, for one ABI; `folder` holds scratch folders and mirrors, private to the user."""

    abi: int
    folder: Path
    report: IsolationReport
    name: ClassVar = "landlock"
    overlays: ClassVar = False

    async def run(self, spec: RunSpec) -> RunResult:
        """Runs `spec`. Raises BoxError if a wall cannot be set up, ValueError for a bind that shows too much."""
        with ExitStack() as stack:
            place = await prepare(spec, self.folder, stack)
            return await self._run(spec, place, stack)

    async def _run(self, spec: RunSpec, place: RunFolders, stack: ExitStack) -> RunResult:
        work, temporary = place.work, place.temporary
        here = _places(spec, work, temporary)
        variables = {**_OWN, **environment(spec.env, spec.binds)}
        variables = {name: here(value) for name, value in variables.items()}
        readers, writers = {}, []
        for name in ("status", *(("report",) if spec.report else ())):
            readers[name], writing = os.pipe()
            writers.append(writing)
        keep = writers[1:]
        if keep:
            variables["BOX_REPORT_FD"] = str(keep[0])
        rules = seccomp_filters.confined_filter(self.abi, counted=os.geteuid() == 0)
        machine = platform.machine()
        binds = [name for path in [*spec.binds, *(each.folder for each in place.shown)] if (name := _shown(path))]
        policy: dict[str, Any] = {
            "argv": [here(word) for word in spec.argv],
            "env": variables,
            "cwd": str(work),
            "status": writers[0],
            "keep": keep,
            "limits": _rlimits(spec.limits),
            "processes": _ROOM * spec.limits.processes,
            "scratch": spec.limits.scratch,
            "scratch_files": spec.limits.scratch_files,
            "read": [*(str(path.resolve()) for path in mounts.readable()), *binds, *_KERNEL, str(_NODE)],
            "write": [str(work), str(temporary)],
            "devices": _DEVICES,
            "abi": self.abi,
            "filter": base64.b64encode(bpf.program(rules, machine)).decode("ascii"),
            "asked": seccomp_filters.asked_calls(rules, machine),
        }
        policy_at = memory_file(json.dumps(policy).encode())
        lifeline, end = _lifeline(stack)
        ended = await supervise(
            [sys.executable, "-I", "-S", "-c", _LAUNCH, str(policy_at), str(lifeline), str(_PACKAGE)],
            env={"LC_ALL": "C.UTF-8"},
            limits=spec.limits,
            pass_fds=(policy_at, lifeline, *writers),
            pipes=readers,
            stop=end,
        )
        return self._result(spec, ended, artifacts(work, spec.artifacts))

    def _result(self, spec: RunSpec, ended: ExitInfo, found: Mapping[str, bytes]) -> RunResult:
        report = _warden_report(ended.extra["status"])
        if ended.why is None and "error" in report and report.get("errno") not in _NOT_STARTED:
            raise BoxError(f"cannot build the sandbox: {report['error']}")
        if ended.why is None and not report:
            raise BoxError(f"cannot build the sandbox: {ended.stderr.decode('utf-8', 'replace').strip()[-500:]}")
        status, detail = _judge(report, ended.why)
        own = status in (RunStatus.OK, RunStatus.FAILED)
        return ended.result(
            status,
            self.report,
            exit=report.get("exit") if own else None,
            signal=report.get("signal") if ended.why is None else None,
            artifacts=found,
            detail=detail,
        )


_ROOM = 4
"""Threads and short bursts above the number of processes at which the monitor outside ends a run."""
_NOT_STARTED = (2, 8, 13)  # ENOENT, ENOEXEC, EACCES: from starting the command, the last step


def _judge(status: Mapping[str, Any], why: RunStatus | None) -> tuple[RunStatus, str]:
    if why is not None:
        return why, ""
    if status.get("stopped") == "disk":
        return RunStatus.DISK, ""
    if "error" in status:
        return RunStatus.NO_RUNNER, "the program is not in the sandbox"
    if "signal" in status:
        return SIGNALED.get(status["signal"], (RunStatus.KILLED, ""))
    return (RunStatus.OK if status["exit"] == 0 else RunStatus.FAILED), ""


def _warden_report(status: bytes) -> Mapping[str, Any]:
    """The launcher's first report: a failure of its child comes before the child's exit."""
    try:
        found: Mapping[str, Any] = json.loads(status.splitlines()[0])
    except (IndexError, ValueError):
        return {}
    return found


def _rlimits(limits: Limits) -> Mapping[str, int]:
    """Limits by their names in `resource`. The kernel counts processes per user id, so those running now are added."""
    running = int(Path("/proc/loadavg").read_text(encoding="ascii").split()[3].partition("/")[2])
    return {
        "RLIMIT_CORE": 0,
        "RLIMIT_DATA": limits.data,
        "RLIMIT_FSIZE": limits.file,
        "RLIMIT_NOFILE": limits.open_files,
        "RLIMIT_NPROC": running + _ROOM * limits.processes,
        "RLIMIT_MSGQUEUE": 0,
    }


def _places(spec: RunSpec, work: Path, temporary: Path) -> Callable[[str], str]:
    """Maps other sandboxes' folders to this one's, at the start of a word or after `=` or `:`."""
    folders = {mounts.BOX: str(work)} | {str(bind): str(bind) for bind in spec.binds}
    if spec.overlay:
        folders.setdefault(str(spec.overlay.root), str(work))
    names = "|".join(re.escape(name) for name in sorted(folders, key=len, reverse=True))
    pattern = re.compile(rf"(?<![^=:])(?:(?:{names})(?=/|:|$)|/tmp(?=:|$))")
    return lambda word: pattern.sub(lambda found: folders.get(found[0], str(temporary)), word)


def _shown(path: Path) -> str | None:
    """A bind with links resolved, or None if the sandbox has it anyway. Raises ValueError if it shows too much."""
    real = mounts.bindable(path)
    behind = real and mounts.bindable(real.resolve())
    return str(behind) if behind else None


def _lifeline(stack: ExitStack) -> tuple[int, Callable[[int], None]]:
    """A pipe end for the launcher, and a function that closes the other end: it then ends all, itself last."""
    theirs, ours = os.pipe()
    held = [ours]

    def end(_: int = 0) -> None:
        for descriptor in held:
            os.close(descriptor)
        held.clear()

    stack.callback(end)
    return theirs, end
