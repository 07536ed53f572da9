"""`stet model list|pull|probe`: the embedded models' weights, and a short call to whatever serves."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from stet_ls.engine.errors import UsageError
from stet_ls.engine.models import Message
from stet_ls.engine.paths import user_paths
from stet_ls.server.cli import present
from stet_ls.server.cli.commands import did_you_mean
from stet_ls.server.cli.progress import ProgressLine
from stet_ls.server.cli.session import load_settings

PROBE = "Reply with the word ready."
PROBE_SECONDS = 300.0
"""The embedded model may have to be loaded first, on a slow disk."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    verbs = parser.add_subparsers(dest="verb", required=True)
    listing = verbs.add_parser("list", help="the embedded models: size, SHA-256, and which are here")
    listing.add_argument("--json", action="store_true", help="print a list as JSON")
    pulling = verbs.add_parser("pull", help="fetch a model; what is here already is not fetched again")
    pulling.add_argument("name", nargs="?", metavar="NAME", help="tiny or small; without it the default one")
    pulling.add_argument("--from", type=Path, dest="source", metavar="FILE", help="take it from a file on this machine")
    probing = verbs.add_parser("probe", help="make one short call to the model that serves, and measure it")
    probing.add_argument("--json", action="store_true", help="print the measurements as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Does what the verb says."""
    if arguments.verb == "list":
        return _list(as_json=arguments.json)
    if arguments.verb == "pull":
        return _pull(arguments.name, arguments.source)
    return asyncio.run(_probe(as_json=arguments.json))


def _list(*, as_json: bool) -> int:
    from stet_ls.engine.model.weights import WEIGHTS, installed

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
    for line in present.table(columns):
        present.print_line(line)
    return 0


def _pull(name: str | None, source: Path | None) -> int:
    from stet_ls.engine.model.weights import DEFAULT, WEIGHTS, pull

    name = name or DEFAULT
    if name not in WEIGHTS:
        raise UsageError(f'unknown model "{name}": {did_you_mean(name, WEIGHTS)}')
    bar = _Bar(name)
    try:
        path = pull(name, user_paths(), source=source, on_progress=bar)
    finally:
        bar.clear()
    present.print_line(str(path))
    return 0


class _Bar:
    """The download on one line of the terminal."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._shown = sys.stderr.isatty()

    def __call__(self, done: int, total: int) -> None:
        """Shows how many bytes are here."""
        if self._shown:
            filled = 30 * done // max(total, 1)
            bar = "█" * filled + "·" * (30 - filled)
            sys.stderr.write(f"\r\x1b[K{self._name} {bar} {done / 1e6:.0f} of {total / 1e6:.0f} MB")
            sys.stderr.flush()

    def clear(self) -> None:
        """Takes the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


async def _probe(*, as_json: bool) -> int:
    from stet_ls.engine.model.chat import Sampling
    from stet_ls.engine.model.pool import Models

    models = Models(load_settings().settings, user_paths())
    progress = ProgressLine()
    try:
        completion = await models.complete(
            (Message("user", PROBE),),
            sampling=Sampling(temperature=0.0, max_tokens=16),
            deadline=PROBE_SECONDS,
            on_event=progress,
        )
        profile = await models.profile()
    finally:
        progress.clear()
        await models.close()
    found = {
        "model": completion.model,
        "endpoint": completion.endpoint,
        "tier": profile.tier,
        "context": profile.context,
        "tokens_per_second": profile.tokens_per_second,
        "first_token_seconds": completion.first_token_seconds,
        "seconds": completion.seconds,
    }
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        rows = [(name, f"{value:.2f}" if isinstance(value, float) else str(value)) for name, value in found.items()]
        for line in present.table(rows):
            present.print_line(line)
    return 0
