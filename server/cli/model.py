"""`stet model list|pull|allow|deny|probe`: weights of embedded models, discovered servers, and a self-test."""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path
from typing import Any

from stet_ls.engine.errors import UsageError
from stet_ls.engine.storage.paths import user_paths
from stet_ls.server.cli.command_table import did_you_mean
from stet_ls.server.cli.terminal import render
from stet_ls.server.cli.terminal.status import StatusLine, bar, print_status

PROBE_SECONDS = 120.0
"""Limit of a self-test. A model on two old processors does three quarters of it in that time."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    verbs = parser.add_subparsers(dest="verb", required=True)
    listing = verbs.add_parser("list", help="list the embedded models, their size and SHA-256")
    listing.add_argument("--json", action="store_true", help="print as JSON")
    pulling = verbs.add_parser("pull", help="download a model, unless it is already here")
    pulling.add_argument("name", nargs="?", metavar="NAME", help="tiny or small [default: the configured model]")
    pulling.add_argument(
        "--from", type=Path, dest="source", metavar="FILE", help="use a local file instead of a download"
    )
    for verb, what in (
        ("allow", "allow a local model server to get your code"),
        ("deny", "deny a local model server your code"),
    ):
        verbs.add_parser(verb, help=what).add_argument(
            "url", metavar="URL", help="the server's address, from `stet doctor`"
        )
    probing = verbs.add_parser("probe", help="test the configured models with small tasks, and save their profiles")
    probing.add_argument("--endpoint", metavar="NAME", help="test this endpoint only")
    probing.add_argument(
        "--seconds", type=float, default=PROBE_SECONDS, metavar="S", help="start no task after this many seconds"
    )
    probing.add_argument("--json", action="store_true", help="print the results as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Runs the verb."""
    if arguments.verb == "list":
        return _list(as_json=arguments.json)
    if arguments.verb == "pull":
        return _pull(arguments.name, arguments.source)
    if arguments.verb in ("allow", "deny"):
        from stet_ls.server.cli.terminal.consent import answer

        return answer(arguments.url, allowed=arguments.verb == "allow")
    from stet_ls.server.cli.model_probe import probe

    return asyncio.run(probe(endpoint=arguments.endpoint, seconds=arguments.seconds, as_json=arguments.json))


def _list(*, as_json: bool) -> int:
    from stet_ls.engine.model.embedded.weights import WEIGHTS, installed

    paths = user_paths()
    rows: list[dict[str, Any]] = []
    for name, weights in WEIGHTS.items():
        place = installed(paths, name)
        rows.append(
            {
                "name": name,
                "model": weights.title,
                "bytes": weights.size,
                "sha256": weights.sha256,
                "path": None if place is None else str(place),
            }
        )
    if as_json:
        print(json.dumps(rows, indent=2))
        return 0
    columns = [
        (row["name"], row["model"], f"{row['bytes'] / 1e6:.0f} MB", row["sha256"], row["path"] or "not here")
        for row in rows
    ]
    render.print_table(columns)
    return 0


def _pull(name: str | None, source: Path | None) -> int:
    from stet_ls.engine.model.embedded.weights import DEFAULT, WEIGHTS, installed, pull

    name = name or DEFAULT
    if name not in WEIGHTS:
        raise UsageError(f"unknown model `{name}`: {did_you_mean(name, WEIGHTS)}")
    weights, line = WEIGHTS[name], StatusLine()
    if source is None and installed(user_paths(), name) is None:  # a log shows no progress bar
        print_status(f"Downloading the embedded model {weights.title}: {weights.megabytes} MB (once)")

    def on_progress(done: int, total: int) -> None:
        line.show(f"{name} {bar(done, total)} {done / 1e6:.0f} of {total / 1e6:.0f} MB")

    try:
        path = pull(name, user_paths(), source=source, on_progress=on_progress)
    finally:
        line.clear()
    render.print_line(str(path))
    return 0
