"""Checks of our own, in process, for what a language forbids and its grammar accepts: rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stet_ls.validators.findings import Finding
from stet_ls.validators.parse import Parsed

OwnCheck = Callable[[Parsed], tuple[Finding, ...]]
"""What is wrong with a text that was parsed. Takes a few milliseconds at most: it is asked while one types."""

OWN_CHECKS: Mapping[str, tuple[OwnCheck, ...]] = {}
"""By language id. Their findings are part of the grammar's verdict."""


def own_findings(parsed: Parsed) -> tuple[Finding, ...]:
    """What the own checks of the text's language find."""
    return tuple(found for check in OWN_CHECKS.get(parsed.language, ()) for found in check(parsed))
