"""The arguments of `stet review`, and how a review becomes an exit status."""

from __future__ import annotations

import argparse
import asyncio
from typing import TYPE_CHECKING

from stet_ls.engine.errors import PolicyError
from stet_ls.server.cli.inputs.load_settings import load_settings
from stet_ls.server.cli.inputs.sandbox_levels import LEVELS
from stet_ls.server.cli.terminal.progress_line import ProgressLine
from stet_ls.server.cli.verify.change_arguments import change_query, declare_change

if TYPE_CHECKING:  # the engine is imported once the arguments are known to fit
    from stet_ls.engine.review.report import ChangeReview


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    declare_change(parser)
    parser.add_argument("--no-model", action="store_true", help="ask no reviewer: judges and tools alone")
    parser.add_argument("--no-cache", action="store_true", help="run and ask everything again")
    parser.add_argument(
        "--fail-on",
        choices=("refuted", "confirmed", "finding"),
        default="refuted",
        help="exit with 1 if a judge refutes the change, also if a run confirms a finding, or at any finding",
    )
    parser.add_argument("--format", choices=("text", "json", "sarif"), default="text", help="format of the report")
    parser.add_argument("--json", action="store_const", const="json", dest="format", help="same as --format json")
    parser.add_argument("--sandbox-level", choices=LEVELS, help="weakest isolation level at which code may run")


def run(arguments: argparse.Namespace) -> int:
    """Reviews the change, prints the review, and returns the exit status."""
    return asyncio.run(_run(arguments))


async def _run(arguments: argparse.Namespace) -> int:
    settings = load_settings(arguments={"sandbox.minimum_level": arguments.sandbox_level}).settings

    from stet_ls.engine.api.events import Stage
    from stet_ls.engine.review.change_review import ReviewOptions, review_change
    from stet_ls.engine.run import Engine
    from stet_ls.engine.settings.tool_settings import toolbox
    from stet_ls.engine.storage.paths import user_paths
    from stet_ls.engine.verify.changes.read_change import read_change
    from stet_ls.engine.verify.options import VerifyOptions
    from stet_ls.server.cli.review.formats import FORMATS
    from stet_ls.server.cli.terminal.consent import Terminal

    engine = Engine(settings, user_paths())
    engine.ask_by(Terminal())
    progress = ProgressLine()
    try:
        if arguments.sandbox_level not in (None, "none"):
            await engine.runtimes.sandbox.allow()
        with read_change(change_query(arguments)) as change:

            def show(words: str) -> None:
                progress(Stage("review", words))

            judging = VerifyOptions(
                arguments.intent, arguments.budget, tools=toolbox(settings, (change.root,)),
                uses_cache=not arguments.no_cache, on_progress=show,
            )  # fmt: skip
            review = await review_change(change, engine, ReviewOptions(judging, not arguments.no_model, show))
    finally:
        progress.clear()
        await engine.close()
    FORMATS[arguments.format](review)
    return _status(review, arguments.fail_on)


def _status(review: ChangeReview, fail_on: str) -> int:
    from stet_ls.engine.verify.report import Conclusion

    refuted = review.verified.conclusion is Conclusion.REFUTED
    if review.verified.refused and not refuted:
        return PolicyError.exit_code
    confirmed = any(one.confirmed for _, one in review.findings)
    found = {"refuted": False, "confirmed": confirmed, "finding": bool(review.findings)}
    return int(refuted or found[fail_on])
