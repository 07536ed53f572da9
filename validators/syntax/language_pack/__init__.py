"""Some 150 more languages with untested grammars: the extra `all-languages`.

They are parsed in a child process, because a grammar is C code that may never finish (one does not, on the text "x") or
crash its process. That costs only one result: UNKNOWN, with the reason. The child ends at the deadline of its text,
when idle, and with its parent.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec

from stet_ls.validators.findings import Status, SyntaxResult
from stet_ls.validators.install_hints import install_command
from stet_ls.validators.language_table.row import Language
from stet_ls.validators.source import Source
from stet_ls.validators.syntax.language_pack.child_pool import PackError, ParserPool, parser_pool
from stet_ls.validators.syntax.language_pack.frames import verdict_of

__all__ = ["DENIED", "PackError", "check_fast", "installed"]

DENIED: Mapping[str, str] = {"cobol": "it does not terminate on some texts"}
"""Grammars that are never tried, and why."""


@cache
def installed() -> bool:
    """True if the language pack is installed. Only the child loads it."""
    return find_spec("tree_sitter_language_pack") is not None


def check_fast(
    source: Source, row: Language, *, deadline: float, by: ParserPool | None = None, denied: Mapping[str, str] = DENIED
) -> SyntaxResult:
    """The result of a grammar of the pack, as from `syntax.check_fast`; advice, never a reason to block.

    `deadline` is in seconds. Never raises: what the child could not judge is UNKNOWN.
    """
    name = row.packed or ""
    if not installed():
        reason = f"not parsed: no grammar for {row.title}; `{install_command('all-languages')}` brings one"
    elif name in denied:
        reason = f"not parsed: the grammar for {row.title} is not used, because {denied[name]}"
    else:
        try:
            return (by or parser_pool()).ask(
                row.id, source.data, lambda answer: verdict_of(answer, source), deadline=deadline
            )
        except PackError as error:
            reason = f"not parsed: {row.title}'s grammar {error}"
    return SyntaxResult(Status.UNKNOWN, row.id, may_block=False, reason=reason)
