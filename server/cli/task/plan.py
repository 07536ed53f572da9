"""`stet plan TARGET...`: prints the plan of a task as a document to edit, and changes nothing."""

from __future__ import annotations

import argparse

from stet_ls.engine.api.actions import PROJECT_ACTION
from stet_ls.engine.api.budget import Budget
from stet_ls.server.cli.run import command
from stet_ls.server.cli.run.task_request import configure_task


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("target", metavar="TARGET", nargs="+", help="folder or files; the first file is the main one")
    command.configure_words(parser)
    parser.add_argument("--json", action="store_true", help="print the answer, which holds the plan, as JSON")
    configure_task(parser, plans=False)
    parser.set_defaults(
        action=PROJECT_ACTION, budget=Budget.STANDARD.value, plan_only=True, apply=False, diff=False, accept_risk=[],
        only=[], step=[], coverage=False, no_cache=False, evidence=None, show_prompt=False, trust=False,
        sandbox_level=None, edit=False,
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Prints the plan; 1 if there is none."""
    return command.run_task(arguments, list(arguments.target))
