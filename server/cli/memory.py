"""`stet memory`: not there yet, and says so."""

from __future__ import annotations

import argparse

from stet_ls.engine.errors import StetError


def configure(parser: argparse.ArgumentParser) -> None:
    """Takes any words, so that whatever is asked gets the same plain answer."""
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="...", help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    """Refuses."""
    del arguments
    raise StetError("the memory of solutions comes in a later version; nothing is remembered yet")
