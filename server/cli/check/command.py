"""The arguments of `stet check`, and how they become an exit status."""

from __future__ import annotations

import argparse
import io
import os
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from stet_ls.engine.errors import UsageError
from stet_ls.server.cli.check.check_file import FileChecker, FileReport, FileTask, failed_report
from stet_ls.server.cli.check.file_discovery import collect
from stet_ls.server.cli.check.formats import FORMATS
from stet_ls.server.cli.check.signals import cleanup_on_signal
from stet_ls.server.cli.check.summary import CheckSummary, with_progress
from stet_ls.server.cli.command_table import positive
from stet_ls.server.cli.inputs.files import MOST_BYTES, decode
from stet_ls.server.cli.terminal.status import print_error, print_warning
from stet_ls.validators.checkers.toolbox import BUILT_IN, Toolbox
from stet_ls.validators.languages import PLAIN, language_of

if TYPE_CHECKING:
    from stet_ls.server.cli.check.baseline import Baseline

STANDARD_INPUT = Path("-")
_CHUNK = 96
_HEAVY = 8  # the cost of a file that needs a tool process to itself
_VARIABLES = ("STET_CHECKS_DISABLED_TOOLS", "STET_CHECKS_TRUSTED_WORKSPACES", "STET_CHECKS_FORMAT_EDITS")
"""The variables that a toolbox depends on."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "files", nargs="*", metavar="FILE", type=Path, default=[Path()],
        help="files and folders to check, or - for standard input [default: working folder]",
    )  # fmt: skip
    parser.add_argument("--lint", action="store_true", help="run linters, too")
    parser.add_argument("--baseline", metavar="REV", help="report only findings that are new since a git revision")
    parser.add_argument(
        "--exclude", metavar="PATTERN", action="append", default=[],
        help="exclude files and folders that match: a name anywhere, or a path if it has a slash; repeatable",
    )  # fmt: skip
    parser.add_argument("--language", metavar="NAME", help="language of standard input and of the named files")
    parser.add_argument("--stdin-filename", metavar="FILE", type=Path, help="file name to use for standard input")
    formats = "text, one JSON object, GitHub annotations, or SARIF"
    parser.add_argument("--format", choices=tuple(FORMATS), default="text", help=formats)
    as_json = "same as --format json; lines and columns count from 1"
    parser.add_argument("--json", action="store_const", const="json", dest="format", help=as_json)
    parser.add_argument("--outline", action="store_true", help="list the declarations of each file, too")
    jobs = "maximum number of processes [default: one per processor]"
    parser.add_argument("--jobs", metavar="N", type=positive, help=jobs)


def run(arguments: argparse.Namespace) -> int:
    """Checks every file. Returns 1 if any has an error, and 2 if a named file cannot be read."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name may hold bytes that no encoding can represent
    with cleanup_on_signal():
        return _check(arguments, time.perf_counter())


def _tools() -> Toolbox:
    """The user's tools, without a project's. Settings are read only if there are any: their library loads slowly."""
    from stet_ls.engine.storage.paths import user_paths

    if not user_paths().config_file.is_file() and not any(name in os.environ for name in _VARIABLES):
        return BUILT_IN
    from stet_ls.engine.settings.tool_settings import toolbox
    from stet_ls.server.cli.inputs.load_settings import load_settings

    return toolbox(load_settings().settings)


def _check(arguments: argparse.Namespace, started: float) -> int:
    language = _language(arguments.language)
    tools = _tools()
    walk = collect([path for path in arguments.files if path != STANDARD_INPUT], arguments.exclude, tools)
    for problem in walk.unlisted:
        print_error(problem)
    for problem in walk.problems:
        print_warning(problem)
    tasks = [FileTask(named.path, language if named.explicit else "") for named in walk.files]
    if STANDARD_INPUT in arguments.files:
        tasks.append(_standard_input(arguments.stdin_filename, language))
    if not tasks and not walk.unlisted:
        print_warning(_nothing(arguments))
    named = {each.path for each in walk.files if each.explicit}
    named |= {task.path for task in tasks if task.text is not None}
    judging = FileChecker(arguments.lint, arguments.outline, _baseline(tasks, arguments.baseline), tools)
    tally = CheckSummary(named)
    chunks = _chunks(tasks)
    with closing(_spread(judging, chunks, min(_processes(arguments.jobs), len(chunks)))) as done:
        reports = (report for chunk in with_progress(done, len(tasks)) for report in tally.counted(chunk))
        FORMATS[arguments.format](reports, lambda: time.perf_counter() - started)
    tally.print()
    return UsageError.exit_code if tally.unread or walk.unlisted else int(tally.failed)


def _nothing(arguments: argparse.Namespace) -> str:
    """A warning for runs that checked nothing, whose silence would look like success."""
    places = ", ".join(str(path) for path in arguments.files)
    where = "the working folder" if arguments.files == [Path()] else places
    more = ", or all of it is excluded" if arguments.exclude else ""
    return f"nothing was checked: {where} has no file in a supported language{more}"


def _language(name: str | None) -> str:
    if name is None:
        return ""
    from stet_ls.server.cli.inputs.command_target import language_id

    return language_id(name)


def _baseline(tasks: Sequence[FileTask], revision: str | None) -> Baseline | None:
    if revision is None:
        return None
    from stet_ls.server.cli.check import baseline

    return baseline.load([task.path for task in tasks], revision)


def _spread(
    judging: FileChecker, chunks: Sequence[Sequence[FileTask]], processes: int
) -> Generator[Sequence[FileReport], None, None]:
    """Yields the reports chunk by chunk. A single process does without a pool."""
    if processes <= 1:
        yield from map(judging, chunks)
        return
    from stet_ls.server.cli.check.worker_pool import WorkerTask, map_in_processes

    yield from map_in_processes(WorkerTask(judging, failed_report), chunks, processes=processes)


def _standard_input(name: Path | None, language: str) -> FileTask:
    """The task for standard input. UsageError if its language is unknown."""
    if not language and name is None:
        raise UsageError("standard input needs --language or --stdin-filename")
    if not language and name is not None and language_of(name) == PLAIN:
        raise UsageError(f"--stdin-filename {name} has no known language; add `--language`")
    data = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise UsageError(f"standard input is larger than {MOST_BYTES // 1_000_000} MB")
    return FileTask(name or STANDARD_INPUT, language, decode(data, "standard input"))


def _chunks(tasks: Sequence[FileTask]) -> list[list[FileTask]]:
    """The tasks in order, cut into chunks that are worth sending to a process."""
    from stet_ls.validators import batch

    chunks: list[list[FileTask]] = []
    room = 0
    for task in tasks:
        weight = 1 if batch.reads_many(language_of(task.path)) else _HEAVY
        if room < weight:
            chunks.append([])
            room = _CHUNK
        chunks[-1].append(task)
        room -= weight
    return chunks


def _processes(wanted: int | None) -> int:
    if wanted is not None:
        return wanted
    # The processors that this process may use: a container can restrict them.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
