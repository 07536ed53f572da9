"""Judges a change for `stet verify`, and prints the report."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stet_ls.engine.api.events import Stage
from stet_ls.engine.errors import UsageError
from stet_ls.engine.execution.runtime_provider import RuntimeProvider
from stet_ls.engine.settings.tool_settings import toolbox
from stet_ls.engine.storage.paths import user_paths
from stet_ls.engine.verify import receipt
from stet_ls.engine.verify.changes.read_change import change_between
from stet_ls.engine.verify.changes.read_trees import TwoTrees
from stet_ls.engine.verify.stored.known_answers import VerifyRequest
from stet_ls.engine.verify.verify import VerifyOptions, merged, verify
from stet_ls.server.cli.inputs.load_settings import load_settings
from stet_ls.server.cli.inputs.shard import Shard
from stet_ls.server.cli.terminal.machine_output import print_json
from stet_ls.server.cli.terminal.progress_line import ProgressLine
from stet_ls.server.cli.terminal.status import print_error
from stet_ls.server.cli.verify import parts
from stet_ls.server.cli.verify.change_arguments import read_input
from stet_ls.server.cli.verify.formats import FORMATS, exit_status

_MOST_RECEIPT = 10_000_000
_MOST_PART = 100_000_000


def judged(arguments: argparse.Namespace, trees: TwoTrees, request: VerifyRequest | None) -> int:
    """Verifies the change between two trees, and returns the exit status. The report is kept for the `request`."""
    return asyncio.run(_judged(arguments, trees, request))


async def _judged(arguments: argparse.Namespace, trees: TwoTrees, request: VerifyRequest | None) -> int:
    loaded = load_settings(arguments={"sandbox.minimum_level": arguments.sandbox_level})
    settings = loaded.settings
    known = receipt.read_receipt(read_input(arguments.recheck, _MOST_RECEIPT)) if arguments.recheck else None
    intent = arguments.intent or (receipt.intent_in(known) if known else "")
    shard = arguments.shard or Shard()
    runtimes = RuntimeProvider(settings, user_paths())
    progress = ProgressLine()
    try:
        if arguments.sandbox_level not in (None, "none"):
            await runtimes.sandbox.allow()
        change = await asyncio.to_thread(change_between, trees)
        options = VerifyOptions(
            intent, arguments.budget, tools=toolbox(settings, (change.root,)),
            uses_cache=not (arguments.no_cache or arguments.recheck), shard=(shard.number, shard.count),
            request=None if loaded.warnings else request, on_progress=lambda words: progress(Stage("verify", words)),
        )  # fmt: skip
        if arguments.merge:
            rows = [parts.read_part(read_input(each, _MOST_PART), each) for each in arguments.merge]
            report = await merged(change, rows)
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
    return exit_status(report, arguments.fail_on)


def _write(path: Path, statement: Mapping[str, Any]) -> None:
    try:
        path.write_text(f"{json.dumps(statement, indent=2)}\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
