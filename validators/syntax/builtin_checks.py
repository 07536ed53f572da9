"""Checks of our own, in process, for what a language forbids and its grammar accepts: rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stet_ls.validators.findings import Finding
from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.syntax import clauses, directives, members, repeated_words

OwnCheck = Callable[[Parsed], tuple[Finding, ...]]
"""What is wrong with a text that was parsed. Takes a few milliseconds at most: it is asked while one types."""

OWN_CHECKS: Mapping[str, tuple[OwnCheck, ...]] = {
    "go": (clauses.package, clauses.top_level, repeated_words.check),
    "rust": (clauses.top_level, repeated_words.check),
    "java": (clauses.top_level, repeated_words.check, members.constructors),
    "csharp": (directives.balance, repeated_words.check, members.constructors, members.parameters, members.arrays),
    "typescript": (repeated_words.check,),
    "typescriptreact": (repeated_words.check,),
    "c": (repeated_words.check,),
    "cpp": (repeated_words.check,),
}
"""By language id. Their findings are part of the grammar's verdict."""


def builtin_findings(parsed: Parsed) -> tuple[Finding, ...]:
    """What the own checks of the text's language find."""
    return tuple(found for check in OWN_CHECKS.get(parsed.language, ()) for found in check(parsed))
