"""The arguments that name a change."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from stet_ls.engine.errors import UsageError
from stet_ls.engine.verify.changes.read_trees import ChangeQuery
from stet_ls.engine.verify.changes.tree import Tree
from stet_ls.engine.workspace.git import project_top
from stet_ls.validators.project_files import read_regular

INTENTS = ("docs", "feature", "fix", "perf", "refactor", "test")
_MOST_PATCH = 50_000_000
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)(s|m|min)?")
_RANGE = re.compile(r"[^\s:]*\.\.[^\s:/][^\s:]*|[^\s:/.][^\s:]*\.\.[^\s:]*")


def declare_change(parser: argparse.ArgumentParser) -> None:
    """Declares what names a change, its intent and the time for judging it."""
    parser.add_argument(
        "what", nargs="*", metavar="RANGE|PATH",
        help="commits to verify (A..B), and files or folders to judge [default: working tree against HEAD]",
    )  # fmt: skip
    side = parser.add_mutually_exclusive_group()
    side.add_argument("--staged", action="store_true", help="verify what is staged")
    side.add_argument("--patch", metavar="FILE", help="verify a patch without applying it; - for standard input")
    side.add_argument(
        "--since-start", action="store_true", help="verify all changes since an agent's session began (`stet hook`)"
    )
    parser.add_argument("--base", metavar="REV", default="", help="revision or folder to compare with [default: HEAD]")
    parser.add_argument("--intent", choices=INTENTS, default="", help="what the change claims to be")
    parser.add_argument(
        "--budget", metavar="SECONDS", type=duration_argument, default=60.0, help="time limit, such as 10s or 2m"
    )


def duration_argument(text: str) -> float:
    """The type of a time: "10s", "2m" or a number of seconds."""
    match = _SECONDS.fullmatch(text)
    if match is None or not float(match[1]):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a time such as 10s or 2m")
    return float(match[1]) * (60 if match[2] in ("m", "min") else 1)


def change_query(arguments: argparse.Namespace) -> ChangeQuery:
    """The change that the arguments of `declare_change` mean."""
    here = Path.cwd()
    words = list(arguments.what)
    span = words.pop(0) if words and _RANGE.fullmatch(words[0]) and not (here / words[0]).exists() else ""
    if span and (arguments.staged or arguments.patch or arguments.base):
        raise UsageError(f"`{span}` names both sides; leave out --staged, --patch and --base")
    paths = tuple(map(Path, words))
    start = _session_start(here, arguments.base) if arguments.since_start else None
    return ChangeQuery(here, span, arguments.staged, _patch(arguments.patch), arguments.base, paths, start)


def _session_start(here: Path, base: str) -> Tree:
    """The state that the newest session of an agent in this project began with."""
    from stet_ls.server.cli.hook import recorded_tree, sessions

    if base:
        raise UsageError("--since-start compares with the start of a session; leave out --base")
    root = project_top(here)
    tree = recorded_tree.tree_named(root, sessions.newest_base(root))
    if tree is None:
        raise UsageError("no session of an agent is recorded for this project: install a hook, see `stet hook --help`")
    return tree


def read_input(path: Path, most: int) -> bytes:
    """The bytes of a file that an argument names. UsageError if it cannot be read."""
    try:
        return read_regular(path, most=most)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


def _patch(named: str | None) -> bytes | None:
    if named is None:
        return None
    data = sys.stdin.buffer.read(_MOST_PATCH + 1) if named == "-" else read_input(Path(named), _MOST_PATCH)
    if len(data) > _MOST_PATCH:
        raise UsageError(f"the patch is larger than {_MOST_PATCH // 1_000_000} MB")
    if not data.strip():
        raise UsageError("the patch is empty")
    return data
