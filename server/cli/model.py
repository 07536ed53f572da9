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
    pulling.add_argument(
        "name",
        nargs="?",
        metavar="NAME",
        help="tiny, small or medium [default: small]; or the path or address of any GGUF file, with --sha256",
    )
    pulling.add_argument(
        "--from", type=Path, dest="source", metavar="FILE", help="use a local file instead of a download"
    )
    pulling.add_argument("--sha256", metavar="DIGEST", help="the SHA-256 of that file, as its author publishes it")
    pulling.add_argument(
        "--name", dest="own_name", metavar="NAME", default="", help="call it so [default: the name of the file]"
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
        return _pull(arguments)
    if arguments.verb in ("allow", "deny"):
        from stet_ls.server.cli.terminal.consent import answer

        return answer(arguments.url, allowed=arguments.verb == "allow")
    from stet_ls.server.cli.model_probe import probe

    return asyncio.run(probe(endpoint=arguments.endpoint, seconds=arguments.seconds, as_json=arguments.json))


def _list(*, as_json: bool) -> int:
    from stet_ls.engine.model.embedded.weights import installed, known

    paths = user_paths()
    rows: list[dict[str, Any]] = []
    for name, weights in known(paths).items():
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


def _pull(arguments: argparse.Namespace) -> int:
    from stet_ls.engine.model.embedded.weights import DEFAULT, installed, known, pull, pull_own

    name: str = arguments.name or DEFAULT
    paths, line = user_paths(), StatusLine()
    models = known(paths)
    is_file = name not in models and ("/" in name or name.endswith(".gguf"))
    if is_file and not arguments.sha256:
        raise UsageError(f"{name}: add `--sha256 DIGEST`, which its author publishes with the file")
    if not is_file and arguments.sha256:
        raise UsageError("`--sha256` needs the path or the address of a GGUF file")
    if not is_file and name not in models:
        raise UsageError(f"unknown model `{name}`: {did_you_mean(name, models)}")

    def on_progress(done: int, total: int) -> None:
        line.show(f"{name} {bar(done, total)} {done / 1e6:.0f} of {total / 1e6:.0f} MB")

    try:
        if is_file:
            path = pull_own(name, arguments.sha256, paths, name=arguments.own_name, on_progress=on_progress)
        else:
            if arguments.source is None and installed(paths, name) is None:  # a log shows no progress bar
                title, size = models[name].title, models[name].megabytes
                print_status(f"Downloading the embedded model {title}: {size} MB (once)")
            path = pull(name, paths, source=arguments.source, on_progress=on_progress)
    finally:
        line.clear()
    render.print_line(str(path))
    return 0
