"""`stet memory`: lists, searches, learns and forgets solutions."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stet_ls.engine.errors import StetError, StoreError, StoreFault, UsageError
from stet_ls.engine.plurals import plural
from stet_ls.server.cli.inputs.load_settings import load_settings
from stet_ls.server.cli.terminal import render
from stet_ls.server.cli.terminal.status import StatusLine, bar, print_status, print_warning

if TYPE_CHECKING:
    from stet_ls.engine.memory.job_memory import JobMemory
    from stet_ls.engine.memory.solution import Solution

_WIDE = 76
"""Characters of an instruction in a list."""
_FILE = "file, or - for standard output or input"
_MOST_LISTED = 5
"""Broken lines of a file that are reported one by one."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    def verb(name: str, help_: str, *, as_json: bool = False) -> argparse.ArgumentParser:
        found = verbs.add_parser(name, help=help_, allow_abbrev=False)
        if as_json:
            found.add_argument("--json", action="store_true", help="print JSON")
        return found

    verb("stats", "show the number of solutions, their size and the embedder", as_json=True)
    search = verb("search", "search for solutions", as_json=True)
    search.add_argument("text", metavar="TEXT", help="search text")
    search.add_argument("--language", metavar="L", help="only solutions in this language")
    search.add_argument("--limit", type=_positive, default=5, metavar="N", help="maximum number of results")
    for name, help_ in (("show", "show a solution and its code"), ("forget", "delete a solution")):
        verb(name, help_).add_argument("id", metavar="ID", help="solution id, from `stet memory search`")
    clear = verb("clear", "delete all solutions, or those of one scope")
    clear.add_argument("--scope", metavar="S", help="only solutions of this scope, as in `stet memory show`")
    clear.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    verb("export", "export all solutions as JSON lines").add_argument("file", metavar="FILE|-", help=_FILE)
    verb("import", "import solutions from JSON lines").add_argument("file", metavar="FILE|-", help=_FILE)
    learn = verb("learn", "remember a project's documented functions whose tests pass")
    learn.add_argument("path", metavar="PATH", type=Path, help="the project's folder, or one file")
    learn.add_argument("--untested", action="store_true", help="run no tests, and include untested functions")
    verb("compact", "compact the files")
    verb("doctor", "check the table against the journal and repair it", as_json=True)


def run(arguments: argparse.Namespace) -> int:
    """Runs the verb; returns 1 for an unknown id, or a memory that had to be repaired."""
    settings = load_settings().settings.memory
    from stet_ls.engine.memory.job_memory import JobMemory
    from stet_ls.engine.memory.memory_client import COMMANDS_STAY, MemoryClient
    from stet_ls.engine.storage.paths import user_paths

    async def work() -> int:
        flow = JobMemory(MemoryClient(settings, user_paths()), settings)
        flow.memory.stays_seconds = COMMANDS_STAY
        if obstacle := flow.memory.obstacle():
            raise StoreError(obstacle, fault=StoreFault.UNAVAILABLE)
        try:
            await flow.settle()
            return await _VERBS[arguments.verb](flow, arguments)
        finally:
            await flow.close()

    return asyncio.run(work())


async def _stats(flow: JobMemory, arguments: argparse.Namespace) -> int:
    found = await flow.stats()
    if arguments.json:
        print(json.dumps(found, indent=2))
        return 0
    embedder = found["embedder"] or "words only"
    rows = [
        ("solutions", f"{found['solutions']:,}"),
        ("compared by", f"{embedder}, {found['dimension']} numbers" if found["dimension"] else embedder),
        ("on the disk", f"{found['bytes'] / 1e6:.1f} MB"),
        ("in", found["uri"]),
    ]
    if team := found.get("team"):
        count = "ready" if team["solutions"] is None else f"{team['solutions']:,} solutions"
        rows.append(("the team's", f"{team['uri']} ({team['access']}): {team['fault'] or count}"))
    render.print_table(rows)
    return 0


async def _search(flow: JobMemory, arguments: argparse.Namespace) -> int:
    languages = [arguments.language] if arguments.language else None
    found = await flow.search(arguments.text, languages=languages, limit=arguments.limit)
    if arguments.json:
        print(json.dumps(found, ensure_ascii=False, indent=2))
    elif found:
        render.print_table(
            [
                (
                    row["id"][:12],
                    f"{row['score']:.2f}",
                    row["language"],
                    render.shortened(row["instruction"], _WIDE),
                    row["from"],
                )
                for row in found
            ]
        )
    else:
        render.print_line("No solution matches.")
    return 0


async def _show(flow: JobMemory, arguments: argparse.Namespace) -> int:
    row = await flow.memory.ask("show", ident=arguments.id)
    print(json.dumps(row, ensure_ascii=False, indent=2))
    return 0


async def _forget(flow: JobMemory, arguments: argparse.Namespace) -> int:
    row = await flow.memory.ask("show", ident=arguments.id)
    await flow.forget([row["id"]])
    render.print_line(f"Deleted: {render.shortened(row['instruction'], _WIDE)}")
    return 0


async def _clear(flow: JobMemory, arguments: argparse.Namespace) -> int:
    what = "all solutions" if arguments.scope is None else f"the solutions of the scope {arguments.scope}"
    if not arguments.yes:
        if not sys.stdin.isatty():
            raise UsageError(f"`stet memory clear` deletes {what} permanently; add `--yes` to confirm.")
        print(f"Delete {what} permanently? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            return 1
    gone = await flow.memory.ask("clear", scope=arguments.scope)
    render.print_line(f"Deleted {plural(gone, 'solution')}.")
    return 0


async def _export(flow: JobMemory, arguments: argparse.Namespace) -> int:
    rows = await flow.memory.give_out()
    text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    if arguments.file == "-":
        sys.stdout.write(text)
        return 0
    await asyncio.to_thread(_write, Path(arguments.file), text)
    print_status(f"wrote {len(rows):,} solutions to {arguments.file}")
    return 0


async def _import(flow: JobMemory, arguments: argparse.Namespace) -> int:
    """Imports valid lines and reports invalid ones."""
    from stet_ls.engine.memory.import_solutions import read_lines

    solutions, problems = read_lines(await asyncio.to_thread(_read, arguments.file))
    new = await _take_in(flow, solutions)
    for problem in problems[:_MOST_LISTED]:
        print_warning(f"{arguments.file}, {problem}")
    if len(problems) > _MOST_LISTED:
        print_warning(f"skipped {len(problems) - _MOST_LISTED:,} more invalid lines")
    print_status(f"{new:,} new solutions, {len(solutions) - new:,} already known")
    return 1 if problems else 0


async def _learn(flow: JobMemory, arguments: argparse.Namespace) -> int:
    """Remembers functions in the scope of the project, the same as for an editor that has its folder open."""
    from stet_ls.engine.execution.runtime_provider import RuntimeProvider
    from stet_ls.engine.storage.paths import user_paths
    from stet_ls.server.cli.memory_learn import functions_of, take_in_proven

    root, solutions = await asyncio.to_thread(functions_of, arguments.path)
    if not solutions:
        raise StetError(f"{arguments.path} has no documented function in a supported language.")
    if arguments.untested:
        new = await _take_in(flow, solutions)
        print_status(f"{len(solutions):,} documented functions, {new:,} of them new")
        return 0
    runtimes = RuntimeProvider(load_settings(near=root).settings, user_paths())
    try:
        learned = await take_in_proven(flow.memory, runtimes, root, solutions, _draw_line)
    finally:
        StatusLine().clear()
        await runtimes.close()
    print_status(learned.words())
    return 0


async def _compact(flow: JobMemory, arguments: argparse.Namespace) -> int:
    sizes = await flow.memory.ask("compact")
    render.print_line(f"{sizes['before'] / 1e6:.1f} MB before, {sizes['after'] / 1e6:.1f} MB now")
    return 0


async def _doctor(flow: JobMemory, arguments: argparse.Namespace) -> int:
    found: Mapping[str, Any] = await flow.memory.ask("doctor")
    if arguments.json:
        print(json.dumps(found, indent=2))
    elif found["sound"]:
        render.print_line(f"{found['solutions']:,} solutions, none damaged.")
    else:
        render.print_table([(name.replace("_", " "), str(value)) for name, value in found.items() if value])
        render.print_line("Rebuilt the table from the journal.")
    return 0 if found["sound"] else 1


async def _take_in(flow: JobMemory, solutions: list[Solution]) -> int:
    try:
        return await flow.memory.take_in(solutions, partial(_draw_line, "vectors"))
    finally:
        StatusLine().clear()


def _draw_line(what: str, done: int, total: int) -> None:
    """Shows progress on one line of a terminal."""
    StatusLine().show(f"{bar(done, total)} {done:,} of {total:,} {what[-30:]}")


_VERBS: Mapping[str, Callable[[JobMemory, argparse.Namespace], Awaitable[int]]] = {
    "stats": _stats,
    "search": _search,
    "show": _show,
    "forget": _forget,
    "clear": _clear,
    "export": _export,
    "import": _import,
    "learn": _learn,
    "compact": _compact,
    "doctor": _doctor,
}


def _read(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text("utf-8", "replace")
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}.") from None


def _write(file: Path, text: str) -> None:
    """Writes a file that no other user may read: solutions are the user's code."""
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror}.") from None


def _positive(text: str) -> int:
    if not text.isdigit() or not 0 < int(text) <= 100:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number from 1 to 100")
    return int(text)
