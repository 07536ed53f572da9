"""What a check says about a text: findings, and the verdict they add up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from stet_ls.validators.source import Span

Kind = Literal["syntax", "semantic", "lint"]


class Severity(StrEnum):
    """The severities of LSP, from worst to mildest."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"
    HINT = "hint"


class Status(StrEnum):
    """OK and ERROR are claims about the text; UNKNOWN says that it could not be judged."""

    OK = "ok"
    ERROR = "error"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a tool found at one place. `span` counts bytes; `source` is the tool; `code` its rule, or ""."""

    span: Span
    message: str
    kind: Kind = "syntax"
    severity: Severity = Severity.ERROR
    source: str = "tree-sitter"
    code: str = ""
    line: int = 0
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer of the syntax check. Only an `authoritative` error, or one of a trusted grammar, may block an edit.

    `reason` says in words why the status is unknown; `seconds` is the time the check took.
    """

    status: Status
    language: str
    findings: tuple[Finding, ...] = ()
    source: str = "tree-sitter"
    authoritative: bool = False
    may_block: bool = True
    reason: str = ""
    seconds: float = field(default=0.0, compare=False)


def new_findings(before: Iterable[Finding], after: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings of `after` that `before` does not have, compared by source, code and message but not by place.

    A multiset difference: a second copy of an old finding is new. Text that moved keeps its old findings.
    """
    known = Counter((finding.source, finding.code, finding.message) for finding in before)
    fresh = []
    for finding in after:
        key = (finding.source, finding.code, finding.message)
        if known[key]:
            known[key] -= 1
        else:
            fresh.append(finding)
    return tuple(fresh)
