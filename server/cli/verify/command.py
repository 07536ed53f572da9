"""The arguments of `stet verify`, and how a report becomes an exit status."""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stet_ls.engine.errors import PolicyError, UsageError
from stet_ls.engine.workspace.git import project_top
from stet_ls.server.cli.inputs.load_settings import load_settings
from stet_ls.server.cli.inputs.sandbox_levels import LEVELS
from stet_ls.server.cli.inputs.shard import Shard, read_shard
from stet_ls.server.cli.terminal.progress_line import ProgressLine
from stet_ls.server.cli.terminal.status import print_error, print_json

if TYPE_CHECKING:  # the engine is imported once the arguments are known to fit
    from stet_ls.engine.verify.changes.change import Tree
    from stet_ls.engine.verify.changes.read_change import ChangeQuery

INTENTS = ("docs", "feature", "fix", "perf", "refactor", "test")
_MOST_PATCH = 50_000_000
_MOST_RECEIPT = 10_000_000
_MOST_PART = 100_000_000
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)(s|m|min)?")
_RANGE = re.compile(r"[^\s:]*\.\.[^\s:/][^\s:]*|[^\s:/.][^\s:]*\.\.[^\s:]*")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    declare_change(parser)
    share = parser.add_mutually_exclusive_group()
    share.add_argument(
        "--shard", type=read_shard, metavar="I/N", help="judge only part I of N of the units, for several machines"
    )
    share.add_argument(
        "--merge",
        nargs="+",
        metavar="FILE",
        type=Path,
        help="put together the output of `--shard I/N --json`; run nothing",
    )
    parser.add_argument("--no-cache", action="store_true", help="run everything again")
    parser.add_argument(
        "--fail-on", choices=("refuted", "unproven"), default="refuted", help="exit with 1 from this verdict on"
    )
    parser.add_argument(
        "--format", choices=("text", "json", "github", "sarif", "junit"), default="text", help="format of the report"
    )
    parser.add_argument("--json", action="store_const", const="json", dest="format", help="same as --format json")
    record = parser.add_mutually_exclusive_group()
    record.add_argument(
        "--receipt", metavar="FILE", type=Path, help="write an unsigned in-toto statement of the verdict"
    )
    record.add_argument("--recheck", metavar="FILE", type=Path, help="verify again and compare with a receipt")
    parser.add_argument("--sandbox-level", choices=LEVELS, help="weakest isolation level at which code may run")


def declare_change(parser: argparse.ArgumentParser) -> None:
    """Declares what names a change, its intent and the time for judging it."""
    parser.add_argument(
        "what", nargs="*", metavar="RANGE|PATH",
        help="commits to verify (A..B), and files or folders to judge [default: working tree against HEAD]",
    )  # fmt: skip
    side = parser.add_mutually_exclusive_group()
    side.add_argument("--staged", action="store_true", help="verify what is staged")
    side.add_argument("--patch", metavar="FILE", help="verify a patch without applying it; - for standard input")
    side.add_argument(
        "--since-start", action="store_true", help="verify all changes since an agent's session began (`stet hook`)"
    )
    parser.add_argument("--base", metavar="REV", default="", help="revision or folder to compare with [default: HEAD]")
    parser.add_argument("--intent", choices=INTENTS, default="", help="what the change claims to be")
    parser.add_argument(
        "--budget", metavar="SECONDS", type=duration_argument, default=60.0, help="time limit, such as 10s or 2m"
    )


def duration_argument(text: str) -> float:
    """The type of a time: "10s", "2m" or a number of seconds."""
    match = _SECONDS.fullmatch(text)
    if match is None or not float(match[1]):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a time such as 10s or 2m")
    return float(match[1]) * (60 if match[2] in ("m", "min") else 1)


def run(arguments: argparse.Namespace) -> int:
    """Verifies the change, prints the report, and returns the exit status."""
    return asyncio.run(_run(arguments))


async def _run(arguments: argparse.Namespace) -> int:
    settings = load_settings(arguments={"sandbox.minimum_level": arguments.sandbox_level}).settings

    from stet_ls.engine.api.events import Stage
    from stet_ls.engine.execution.runtime_provider import RuntimeProvider
    from stet_ls.engine.settings.tool_settings import toolbox
    from stet_ls.engine.storage.paths import user_paths
    from stet_ls.engine.verify import receipt
    from stet_ls.engine.verify.changes.read_change import read_change
    from stet_ls.engine.verify.report import Conclusion
    from stet_ls.engine.verify.verify import VerifyOptions, merged, verify
    from stet_ls.server.cli.verify import parts
    from stet_ls.server.cli.verify.formats import FORMATS

    known = receipt.read_receipt(_read(arguments.recheck, _MOST_RECEIPT)) if arguments.recheck else None
    intent = arguments.intent or (receipt.intent_in(known) if known else "")
    shard = arguments.shard or Shard()
    runtimes = RuntimeProvider(settings, user_paths())
    progress = ProgressLine()
    try:
        if arguments.sandbox_level not in (None, "none"):
            await runtimes.sandbox.allow()
        with read_change(change_query(arguments)) as change:
            tools = toolbox(settings, (change.root,))
            options = VerifyOptions(
                intent, arguments.budget, tools=tools, uses_cache=not (arguments.no_cache or arguments.recheck),
                shard=(shard.number, shard.count), on_progress=lambda words: progress(Stage("verify", words)),
            )  # fmt: skip
            if arguments.merge:
                report = await merged(
                    change, [parts.read_part(_read(each, _MOST_PART), each) for each in arguments.merge]
                )
            else:
                report = await verify(change, runtimes, options)
            more = parts.part_json(change, report, options.shard) if arguments.shard else {}
            made = {}
            if arguments.receipt or known:
                ran_with = {
                    "minimum_level": settings.sandbox.minimum_level, "python": settings.sandbox.python,
                    "python_version": await runtimes.python_version(change.root),
                }  # fmt: skip
                made = receipt.receipt(change, report, ran_with)
    finally:
        progress.clear()
        await runtimes.close()
    if more and arguments.format == "json":
        print_json({**report.to_json(), **more})
    else:
        FORMATS[arguments.format](report)
    if arguments.receipt:
        _write(arguments.receipt, made)
    if known is not None:
        found = [*receipt.differences(known, made)]
        for each in found:
            print_error(f"receipt: {each}")
        return int(bool(found))
    if report.refused and report.conclusion is not Conclusion.REFUTED:
        return PolicyError.exit_code
    failing = (Conclusion.REFUTED, Conclusion.UNPROVEN) if arguments.fail_on == "unproven" else (Conclusion.REFUTED,)
    return int(report.conclusion in failing)


def change_query(arguments: argparse.Namespace) -> ChangeQuery:
    """The change that the arguments of `declare_change` mean."""
    from stet_ls.engine.verify.changes.read_change import ChangeQuery

    here = Path.cwd()
    words = list(arguments.what)
    span = words.pop(0) if words and _RANGE.fullmatch(words[0]) and not (here / words[0]).exists() else ""
    if span and (arguments.staged or arguments.patch or arguments.base):
        raise UsageError(f"`{span}` names both sides; leave out --staged, --patch and --base")
    paths = tuple(map(Path, words))
    start = _session_start(here, arguments.base) if arguments.since_start else None
    return ChangeQuery(here, span, arguments.staged, _patch(arguments.patch), arguments.base, paths, start)


def _session_start(here: Path, base: str) -> Tree:
    """The state that the newest session of an agent in this project began with."""
    from stet_ls.server.cli.hook import recorded_tree, sessions

    if base:
        raise UsageError("--since-start compares with the start of a session; leave out --base")
    root = project_top(here)
    tree = recorded_tree.tree_named(root, sessions.newest_base(root))
    if tree is None:
        raise UsageError("no session of an agent is recorded for this project: install a hook, see `stet hook --help`")
    return tree


def _read(path: Path, most: int) -> bytes:
    from stet_ls.validators.project_files import read_regular

    try:
        return read_regular(path, most=most)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


def _write(path: Path, statement: Mapping[str, Any]) -> None:
    try:
        path.write_text(f"{json.dumps(statement, indent=2)}\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _patch(named: str | None) -> bytes | None:
    if named is None:
        return None
    data = sys.stdin.buffer.read(_MOST_PATCH + 1) if named == "-" else _read(Path(named), _MOST_PATCH)
    if len(data) > _MOST_PATCH:
        raise UsageError(f"the patch is larger than {_MOST_PATCH // 1_000_000} MB")
    if not data.strip():
        raise UsageError("the patch is empty")
    return data
