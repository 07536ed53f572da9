"""Bubblewrap: a sandbox of namespaces with a minimal view of the host and a system call filter."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import platform
import shlex
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from stet_ls.engine.sandbox.backends import reaper
from stet_ls.engine.sandbox.env_vars import environment
from stet_ls.engine.sandbox.files import mounts, outputs
from stet_ls.engine.sandbox.files.disk_usage import DiskUsage
from stet_ls.engine.sandbox.files.overlay import OverlayFolders
from stet_ls.engine.sandbox.files.scratch import put
from stet_ls.engine.sandbox.files.workspace_copy import WorkspaceCopies, WorkspaceCopy
from stet_ls.engine.sandbox.isolation import IsolationReport, Wall, WallState, level_of
from stet_ls.engine.sandbox.linux import bpf, seccomp_filters
from stet_ls.engine.sandbox.processes import process_tree
from stet_ls.engine.sandbox.processes.box_start import BoxStart
from stet_ls.engine.sandbox.processes.procfs import children
from stet_ls.engine.sandbox.processes.supervise import SIGNALED, ExitInfo, memory_file, supervise
from stet_ls.engine.sandbox.spec import BoxError, Limits, RunResult, RunSpec, RunStatus

_MOST_FILES = 500
_WRITABLE = ("/tmp", "/dev/shm")  # noqa: S108 - the sandbox's own, each in memory with its own size limit


@dataclass(frozen=True, slots=True)
class Bwrap:
    """One bwrap of this machine. `overlays`: it supports overlays with a discarded upper layer (0.11 and later)."""

    program: Path
    version: str
    overlays: bool
    report: IsolationReport
    layers: OverlayFolders
    mirrors: WorkspaceCopies
    name: ClassVar = "bubblewrap"

    async def run(self, spec: RunSpec) -> RunResult:
        """Runs `spec`. Raises BoxError if the sandbox cannot be built, ValueError for a bind that shows too much."""
        with ExitStack() as stack:
            return await self._run(spec, stack, None)

    async def serve(self, spec: RunSpec, start: BoxStart) -> RunResult:
        """Builds the sandbox and runs its command, which finds the number of its job's descriptor in BOX_JOB_FD."""
        with ExitStack() as stack:
            return await self._run(spec, stack, start)

    async def _run(self, spec: RunSpec, stack: ExitStack, start: BoxStart | None) -> RunResult:
        plan = _Plan(stack)
        work = str(spec.overlay.root) if spec.overlay else mounts.BOX
        variables = environment(spec.env, spec.binds)
        mirror = None
        if spec.overlay and not self.overlays:
            mirror = await self.mirrors.borrow(spec.overlay.root, stack, mounted=True)
            put(mirror.folder, mirror.unmasked({**spec.overlay.buffers, **spec.files}))
        growth = DiskUsage((str(mirror.folder),) if mirror else (), spec.limits.scratch, spec.limits.scratch_files)
        masked: tuple[str, ...] = ()
        if spec.overlay and not mirror:
            # In a thread: a workspace may have very many files.
            masked = await asyncio.to_thread(self.layers.masked, spec.overlay.root)
        arguments = [*_walls(plan), *_view(spec, plan, mirror or self.layers, masked, stack)]
        readers = {"status": plan.pipe("--json-status-fd", arguments)}
        if spec.report:
            readers["report"] = plan.pipe(None, variables, "BOX_REPORT_FD")
        if spec.artifacts:
            readers["artifacts"] = plan.pipe(None, variables, "BOX_ARTIFACTS_FD")
        if start:
            variables["BOX_JOB_FD"] = str(plan.take(start.take()))
        arguments += ["--chdir", work, "--"]
        options = plan.data("\0".join(arguments).encode() + b"\0")
        argv = [str(self.program), "--args", str(options), *_command(spec)]
        writable = _WRITABLE if mirror else (work, *_WRITABLE)
        ended = await supervise(
            argv,
            env=variables,
            limits=spec.limits,
            writable=writable,
            growth=growth,
            pass_fds=plan.hand_over(),
            pipes=readers,
            start=start,
        )
        # The command has ended and been reported; processes that it left die with the sandbox's first process.
        first = [process for process in _numbers_in(ended.extra["status"], "child-pid") if any(children(process))]
        await process_tree.wait_until_ended(process_tree.open_descriptors(first))
        return self._result(spec, ended, _on_disk(self.report) if mirror else self.report)

    def _result(self, spec: RunSpec, ended: ExitInfo, report: IsolationReport) -> RunResult:
        code = next(_numbers_in(ended.extra["status"], "exit-code"), None)
        if code is None and ended.why is None:
            raise BoxError(f"cannot build the sandbox: {ended.stderr.decode('utf-8', 'replace').strip()}")
        status, number, detail = _judge(code, ended.why)
        return ended.result(
            status,
            report,
            exit=code if number is None and ended.why is None else None,
            signal=number,
            artifacts=outputs.from_tar(ended.extra.get("artifacts", b""), spec.artifacts),
            detail=detail,
        )


def _on_disk(report: IsolationReport) -> IsolationReport:
    """The report of a run in a copy of the workspace, which is on the disk and measured from outside."""
    enforced = {**report.enforced, Wall.DISK: WallState.PARTIAL}
    why = "; ".join(
        filter(None, (report.why_not_stronger, ("bwrap before 0.11 has no overlays, so runs write to a copy")))
    )
    return replace(report, enforced=enforced, level=level_of(enforced), why_not_stronger=why)


class _Plan:
    """The descriptors passed into the sandbox: data that bwrap reads, and pipes for its output."""

    def __init__(self, stack: ExitStack) -> None:
        self._mine: list[int] = []
        stack.callback(self._close)

    def data(self, content: bytes) -> int:
        """A descriptor from which `content` can be read once."""
        return self.take(memory_file(content))

    def pipe(self, option: str | None, into: list[str] | dict[str, str], name: str = "") -> int:
        """A pipe: its writing end goes into the sandbox by an option or a variable; returns the reading end."""
        reading, writing = os.pipe()
        self._mine.append(writing)
        if isinstance(into, list):
            assert option
            into += [option, str(writing)]
        else:
            into[name] = str(writing)
        return reading

    def take(self, descriptor: int) -> int:
        """Adds an existing descriptor."""
        self._mine.append(descriptor)
        return descriptor

    def hand_over(self) -> tuple[int, ...]:
        """All descriptors; the caller closes them."""
        mine, self._mine = tuple(self._mine), []
        return mine

    def _close(self) -> None:
        for descriptor in self._mine:
            os.close(descriptor)


def _walls(plan: _Plan) -> list[str]:
    return [
        *("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"),
        *("--cap-drop", "ALL", "--hostname", "box", "--uid", "1000", "--gid", "1000"),
        *("--seccomp", str(plan.data(bpf.program(seccomp_filters.BOX, platform.machine())))),
    ]


def _view(
    spec: RunSpec, plan: _Plan, over: OverlayFolders | WorkspaceCopy, masked: tuple[str, ...], stack: ExitStack
) -> Iterator[str]:
    """The mounts of the sandbox, in order."""
    size = str(spec.limits.scratch)
    for mount in mounts.system():
        yield from mount
    for name, text in mounts.NAMES.items():
        yield from ("--file", str(plan.data(text)), name)
    yield from ("--dev", "/dev", "--proc", "/proc")
    for mount in mounts.kernel():
        yield from mount
    for folder in _WRITABLE:
        yield from ("--size", size, "--tmpfs", folder)
    yield from ("--remount-ro", "/dev")
    root = spec.overlay.root if spec.overlay else None
    for bind in mounts.outermost_paths(real for path in spec.binds if (real := mounts.bindable(path))):
        if root is None or not bind.is_relative_to(root):
            yield from ("--ro-bind", str(bind), str(bind))
    if spec.overlay and isinstance(over, WorkspaceCopy):
        yield from ("--bind", str(over.folder), str(root))
        for shown in over.shown:
            yield from ("--ro-bind", str(shown.folder), str(shown.at))
    elif spec.overlay and isinstance(over, OverlayFolders):
        # `--file` is not used: bwrap would follow a link of the workspace while the host is still reachable.
        layer = stack.enter_context(over.layer(spec.overlay, spec.files, masked))
        yield from ("--overlay-src", str(root), "--overlay-src", str(layer), "--tmp-overlay", str(root))
    else:
        yield from ("--size", size, "--tmpfs", mounts.BOX)
        if len(spec.files) > _MOST_FILES:
            raise ValueError(f"{len(spec.files)} files for one run; the limit is {_MOST_FILES}")
        for name, content in spec.files.items():
            yield from ("--file", str(plan.data(content)), f"{mounts.BOX}/{outputs.relative(name)}")
    yield from _inputs(spec, masked)
    yield from ("--remount-ro", "/")


def _inputs(spec: RunSpec, masked: Iterable[str]) -> Iterator[str]:
    """What of the workspace is shown as it is: files, and packages in a folder of Stet that is masked there."""
    if spec.overlay:
        hidden = [spec.overlay.root / name for name in masked]
        for bind in spec.binds:
            if any(bind.is_relative_to(each) for each in hidden):
                yield from ("--ro-bind", str(bind), str(bind))
        for name in spec.read_only:
            place = f"{spec.overlay.root}/{outputs.relative(name)}"
            yield from ("--ro-bind", place, place)


def _command(spec: RunSpec) -> list[str]:
    """The command, run by a shell that first sets the limits: RLIMIT_NPROC then counts the sandbox's processes only."""
    script = "; ".join(_ulimits(spec.limits))
    if spec.artifacts:
        names = " ".join(shlex.quote(f"./{outputs.relative(name)}") for name in spec.artifacts)
        script += (
            '; work=$PWD; files=$BOX_ARTIFACTS_FD; unset BOX_ARTIFACTS_FD; "$@"; code=$?; '
            f'cd "$work" && tar -cf "/proc/self/fd/$files" -- {names} 2>/dev/null; exit $code'
        )
    else:
        script += '; exec "$@"'
    return ["/bin/sh", "-c", script, reaper.server_mark(), *spec.argv]


def _ulimits(limits: Limits) -> Iterator[str]:
    yield "ulimit -c 0"
    yield f"ulimit -d {limits.data // 1024}"
    yield f"ulimit -f {limits.file // 512}"
    yield f"ulimit -n {limits.open_files}"
    # dash calls it -p, bash -u. Two more than requested: the shell itself and bwrap.
    yield f"ulimit -u {limits.processes + 2} 2>/dev/null || ulimit -p {limits.processes + 2}"


def _numbers_in(status: bytes, name: str) -> Iterator[int]:
    """Numbers that bwrap reports: the sandbox's first process, or the command's exit status if it ran."""
    for line in status.splitlines():
        with contextlib.suppress(ValueError, KeyError, TypeError):
            yield int(json.loads(line)[name])


_NOT_FOUND = 127


def _judge(code: int | None, why: RunStatus | None) -> tuple[RunStatus, int | None, str]:
    """The status, the signal that ended the command, and a note. A shell reports signal N as 128 + N."""
    if why is not None or code is None:
        return why or RunStatus.KILLED, None, ""
    if code == 0:
        return RunStatus.OK, None, ""
    if code == _NOT_FOUND:
        return RunStatus.NO_RUNNER, None, "the program is not in the sandbox"
    if 128 < code < 128 + 65:
        status, note = SIGNALED.get(code - 128, (RunStatus.KILLED, ""))
        return status, code - 128, note
    return RunStatus.FAILED, None, ""
