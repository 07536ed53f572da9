"""`stet stats`: the cost of jobs, by day, model or action."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from stet_ls.engine.job.ledger import GROUPS, LedgerFile, LedgerTotal, days_ago, total, totals
from stet_ls.engine.storage.paths import user_paths
from stet_ls.server.cli.command_table import positive
from stet_ls.server.cli.terminal import render


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("--by", choices=GROUPS, default="day", help="one row per day (UTC), model or action")
    parser.add_argument("--days", type=positive, default=30, metavar="N", help="the last N days, today included")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Prints the sums; they are empty if no job ran yet."""
    entries = list(LedgerFile(user_paths().ledger).entries(since=days_ago(arguments.days)))
    sums = totals(entries, arguments.by)
    if arguments.json:
        rows = {name: asdict(each) for name, each in sums.items()}
        print(json.dumps({"by": arguments.by, "rows": rows, "total": asdict(total(entries))}, ensure_ascii=False))
        return 0
    if not sums:
        render.print_line(f"No job ran in the last {arguments.days} days.")
        return 0
    head = (arguments.by, "jobs", "offered", "refuted", "calls", "tokens in", "tokens out", "cost", "seconds")
    render.print_table([head, *(_row(name, each) for name, each in sums.items()), _row("total", total(entries))])
    return 0


def _row(name: str, sum_: LedgerTotal) -> tuple[str, ...]:
    cost = f"{sum_.cost:.4f}" if sum_.unpriced == 0 else f"{sum_.cost:.4f} + {sum_.unpriced} unpriced"
    numbers = (sum_.jobs, sum_.offered, sum_.refuted, sum_.calls, sum_.prompt_tokens, sum_.completion_tokens)
    return (name, *map(str, numbers), cost, f"{sum_.seconds:.1f}")
