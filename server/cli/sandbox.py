"""`stet sandbox`: runs a command as a job would, and reports the isolation that this machine supports."""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
from pathlib import Path

from stet_ls.engine.errors import UsageError
from stet_ls.engine.sandbox.files import mounts
from stet_ls.engine.sandbox.isolation import IsolationLevel, IsolationReport
from stet_ls.engine.sandbox.sandbox import Sandbox, no_backend_report
from stet_ls.engine.sandbox.spec import RunResult, RunSpec, RunStatus
from stet_ls.engine.storage.paths import user_paths
from stet_ls.server.cli.inputs.load_settings import load_settings
from stet_ls.server.cli.terminal.status import print_error

_TIMED_OUT = 124
_STOPPED = 125


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the two commands."""
    doors = parser.add_subparsers(dest="door", required=True, metavar="exec|probe")
    execute = doors.add_parser(
        "exec", help=("run a command in the sandbox, without network and with only the given files")
    )
    execute.add_argument("--file", action="append", default=[], type=Path, metavar="F", help="copy F into the sandbox")
    execute.add_argument("--json", action="store_true", help="print the result and the isolation report as JSON")
    execute.add_argument("argv", nargs="+", metavar="ARGV", help="command to run, after --")
    probe = doors.add_parser("probe", help="test what the sandbox isolates here, and why not more")
    probe.add_argument("--json", action="store_true", help="print as JSON")
    for door in (execute, probe):
        door.add_argument("--backend", default=None, metavar="NAME", help="backend to use, as in `sandbox.backend`")


def run(arguments: argparse.Namespace) -> int:
    """Returns the command's exit status, 124 at the wall clock, 125 past another limit; 4 if the run was refused."""
    sandbox = _sandbox(arguments.backend)
    if arguments.door == "probe":
        return _probe(sandbox, as_json=arguments.json)
    spec = RunSpec(tuple(arguments.argv), files=_files(arguments.file), binds=_binds(arguments.argv[0]))
    try:
        result = asyncio.run(sandbox.run(spec))
    except ValueError as error:
        raise UsageError(str(error)) from error
    return _show(result, as_json=arguments.json)


def _sandbox(backend: str | None) -> Sandbox:
    settings = load_settings().settings.sandbox
    named = settings.backend if backend is None else backend
    return Sandbox(IsolationLevel(settings.minimum_level), user_paths().sandbox, backend=named)


def _files(paths: list[Path]) -> dict[str, bytes]:
    try:
        return {path.name: path.read_bytes() for path in paths}
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}") from error


def _binds(program: str) -> tuple[Path, ...]:
    """The folders outside of the system that a program needs: the installation that it belongs to."""
    found = Path(sys.executable) if program in ("python", "python3") else shutil.which(program)
    return mounts.interpreter(Path(found)) if found else ()


def _show(result: RunResult, *, as_json: bool) -> int:
    if as_json:
        print(json.dumps(result.to_json(), ensure_ascii=False))
    else:
        sys.stdout.buffer.write(result.stdout)
        sys.stdout.flush()
        sys.stderr.buffer.write(result.stderr)
        sys.stderr.flush()
        if result.status not in (RunStatus.OK, RunStatus.FAILED):
            print_error(f"stopped: {result.status}{f', {result.detail}' if result.detail else ''}")
    if result.status is RunStatus.TIMEOUT:
        return _TIMED_OUT
    if result.exit is not None:
        return result.exit
    return 128 + result.signal if result.signal else _STOPPED


def _probe(sandbox: Sandbox, *, as_json: bool) -> int:
    reports = asyncio.run(_reports(sandbox))
    if as_json:
        print(json.dumps({"backends": [report.to_json() for report in reports]}, ensure_ascii=False))
        return 0
    for report in reports:
        print(f"{report.backend} {report.version}: {report.level}".replace("  ", " "))
        for wall, holds in report.enforced.items():
            print(f"  {wall.value:<13} {holds.value}")
        if report.why_not_stronger:
            print(f"  not stronger because: {report.why_not_stronger}")
        if report.advice:
            print(f"  to improve: {report.advice}")
    return 0


async def _reports(sandbox: Sandbox) -> list[IsolationReport]:
    """The reports of all backends, in the order in which jobs try them."""
    best = await sandbox.best()
    if best is None:
        return [no_backend_report(sandbox.backend)]
    others = [each.report for each in await sandbox.candidates()]
    first = (best.report.backend, best.report.version)
    return [best.report, *(each for each in others if (each.backend, each.version) != first)]
