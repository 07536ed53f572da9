"""A run in a folder on the disk, for sandboxes that a program of the host builds around a command."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from stet_ls.engine.sandbox.files.disk_usage import DiskUsage
from stet_ls.engine.sandbox.files.scratch import artifacts, put, scratch
from stet_ls.engine.sandbox.files.workspace_copy import ShownFolder, WorkspaceCopies
from stet_ls.engine.sandbox.isolation import IsolationReport
from stet_ls.engine.sandbox.processes.supervise import ExitInfo, supervise
from stet_ls.engine.sandbox.spec import RunResult, RunSpec, RunStatus


@dataclass(frozen=True, slots=True)
class RunFolders:
    """The run's working folder, its folder for temporary files, and workspace folders that links lead to."""

    work: Path
    temporary: Path
    shown: tuple[ShownFolder, ...] = ()


async def prepare(spec: RunSpec, folder: Path, stack: ExitStack, *, mounted: bool = False) -> RunFolders:
    """Puts a run's files into a new folder, or into a copy of the workspace; both last until `stack` closes.

    Raises ValueError for a file outside of that folder, or a workspace that is too large.
    """
    place = stack.enter_context(scratch(folder / "runs"))
    temporary = place / "tmp"
    temporary.mkdir()
    if spec.overlay is None:
        work = place / "box"
        work.mkdir()
        put(work, spec.files)
        return RunFolders(work, temporary)
    copy = await WorkspaceCopies(folder / "mirrors").borrow(spec.overlay.root, stack, mounted=mounted)
    put(copy.folder, copy.unmasked({**spec.overlay.buffers, **spec.files}))
    return RunFolders(copy.folder, temporary, copy.shown)


async def run(
    argv: Sequence[str],
    spec: RunSpec,
    place: RunFolders,
    report: IsolationReport,
    *,
    env: Mapping[str, str],
    stop: Callable[[int], None] | None = None,
) -> RunResult:
    """Runs `argv`, which builds the sandbox and starts the spec's command in it; `stop` ends all of it."""
    growth = DiskUsage((str(place.work), str(place.temporary)), spec.limits.scratch, spec.limits.scratch_files)
    variables = dict(env)
    pipes: dict[str, int] = {}
    writers: tuple[int, ...] = ()
    if spec.report:
        pipes["report"], writing = os.pipe()
        variables["BOX_REPORT_FD"] = str(writing)
        writers = (writing,)
    ended = await supervise(
        argv, env=variables, limits=spec.limits, growth=growth, stop=stop, pass_fds=writers, pipes=pipes
    )
    return _result(ended, report, artifacts(place.work, spec.artifacts))


def _result(ended: ExitInfo, report: IsolationReport, found: Mapping[str, bytes]) -> RunResult:
    code = ended.returncode
    status = ended.why or (RunStatus.OK if code == 0 else RunStatus.FAILED if 0 < code < 126 else RunStatus.KILLED)
    own = status in (RunStatus.OK, RunStatus.FAILED)
    return ended.result(
        status,
        report,
        exit=code if own else None,
        signal=-code if code < 0 and ended.why is None else None,
        artifacts=found,
    )
