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
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
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
