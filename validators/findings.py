"""The result of a check of a text: its findings, and whether it parses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, TypeVar

from stet_ls.validators.source import Span

_LINE_NUMBER = re.compile(r"\blines? \d+")

Kind = Literal["syntax", "semantic", "lint"]
Item = TypeVar("Item")


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
class Related:
    """Another place that explains a finding, such as where a bracket was opened."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of a tool at one place."""

    span: Span
    """Its place, in bytes."""
    message: str
    """What the tool says."""
    kind: Kind = "syntax"
    """Whether a parser, a linter or another tool found it."""
    severity: Severity = Severity.ERROR
    """How serious the tool says it is."""
    source: str = "tree-sitter"
    """Name of the tool."""
    code: str = ""
    """Its rule, "" without one."""
    line: int = 0
    """From 0."""
    suggestions: tuple[str, ...] = ()
    """Possible corrections."""
    related: tuple[Related, ...] = ()
    """Other places that explain it."""
    without_line: str = ""
    """The message without its place, if it begins with that: where a list names the line of each finding; else ""."""
    signature: str = field(default="", repr=False)
    """Identifies it in two versions of a text; "" if its message does that."""


@dataclass(frozen=True, slots=True)
class SyntaxResult:
    """The answer of the syntax check."""

    status: Status
    """Whether the text parses."""
    language: str
    """LSP language id."""
    findings: tuple[Finding, ...] = ()
    """Its errors and warnings."""
    source: str = "tree-sitter"
    """Name of the tool that decided."""
    authoritative: bool = False
    """Whether the tool is the language's own. Only its errors, or a trusted grammar's, may block an edit."""
    may_block: bool = True
    """Whether an error may block an edit."""
    reason: str = ""
    """Why the status is unknown or a better tool did not answer, "" otherwise."""
    echoes: tuple[Finding, ...] = ()
    """A tool's follow-up errors: never shown, but counted when two texts are compared."""


def new_findings(before: Iterable[Finding], after: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings of `after` that `before` does not have, compared by content, not by place.

    A second copy of an old finding is new. Text that moved keeps its old findings, even if a message contains a line
    ("redefinition of `x` from line 3").
    """
    return added(before, after, _identity)


def added(before: Iterable[Item], after: Iterable[Item], identity: Callable[[Item], Hashable]) -> tuple[Item, ...]:
    """The multiset difference: the items of `after`, in their order, that `before` does not have, by their identity."""
    known = Counter(map(identity, before))
    fresh = []
    for item in after:
        key = identity(item)
        if known[key]:
            known[key] -= 1
        else:
            fresh.append(item)
    return tuple(fresh)


def _identity(finding: Finding) -> tuple[str, ...]:
    if finding.signature:
        return finding.source, finding.signature
    return finding.source, finding.code, _LINE_NUMBER.sub("line", finding.message)
