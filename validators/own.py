"""Checks of our own, in process, for what a language forbids and its grammar accepts: rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stet_ls.validators import clauses, directives, members, repeats
from stet_ls.validators.findings import Finding
from stet_ls.validators.parse import Parsed

OwnCheck = Callable[[Parsed], tuple[Finding, ...]]
"""What is wrong with a text that was parsed. Takes a few milliseconds at most: it is asked while one types."""

OWN_CHECKS: Mapping[str, tuple[OwnCheck, ...]] = {
    "go": (clauses.package, clauses.top_level, repeats.check),
    "rust": (clauses.top_level, repeats.check),
    "java": (clauses.top_level, repeats.check, members.constructors),
    "csharp": (directives.balance, repeats.check, members.constructors, members.parameters, members.arrays),
    "typescript": (repeats.check,),
    "typescriptreact": (repeats.check,),
    "c": (repeats.check,),
    "cpp": (repeats.check,),
}
"""By language id. Their findings are part of the grammar's verdict."""


def own_findings(parsed: Parsed) -> tuple[Finding, ...]:
    """What the own checks of the text's language find."""
    return tuple(found for check in OWN_CHECKS.get(parsed.language, ()) for found in check(parsed))
