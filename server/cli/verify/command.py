"""The arguments of `stet verify`, and how a report becomes an exit status."""

from __future__ import annotations

import argparse
from pathlib import Path

from stet_ls.engine.storage.paths import user_paths
from stet_ls.engine.verify.changes.read_trees import TwoTrees, read_trees
from stet_ls.engine.verify.stored.known_answers import VerifyRequest, known_answer, request_for
from stet_ls.server.cli.inputs.sandbox_levels import LEVELS
from stet_ls.server.cli.inputs.shard import read_shard
from stet_ls.server.cli.verify.change_arguments import change_query, declare_change
from stet_ls.server.cli.verify.formats import FORMATS, exit_status


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


def run(arguments: argparse.Namespace) -> int:
    """Verifies the change, prints the report, and returns the exit status."""
    with read_trees(change_query(arguments)) as trees:
        request = _request(arguments, trees)
        if request is not None and (report := known_answer(request)) is not None:
            FORMATS[arguments.format](report)
            return exit_status(report, arguments.fail_on)
        # Importing these takes longer than finding a kept conclusion.
        from stet_ls.server.cli.verify.judged import judged

        return judged(arguments, trees, request)


def _request(arguments: argparse.Namespace, trees: TwoTrees) -> VerifyRequest | None:
    """What may have been asked before; None for what has to run, or needs more than the report."""
    own = arguments.no_cache, arguments.shard, arguments.merge, arguments.receipt, arguments.recheck
    if any(own) or arguments.sandbox_level is not None:
        return None
    return request_for(trees, Path.cwd(), user_paths(), arguments.intent)
