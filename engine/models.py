"""The data that goes through the engine: Request in, Answer out, Evidence beside it. Frozen and plain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Literal

from stet_ls.validators.findings import Finding, Severity
from stet_ls.validators.source import Source, Span

ACTIONS = ("generate", "debug", "refactor", "analyze", "test", "explain", "optimize", "task")
"""The built-in actions, in the order in which they are shown."""


class Budget(StrEnum):
    """How much a job may spend; `loop.CALLS` says how many model calls each one buys."""

    QUICK = "quick"
    STANDARD = "standard"
    THOROUGH = "thorough"
    TASK = "task"


class Outcome(StrEnum):
    """What became of an edit that was offered."""

    KEPT = "kept"
    EDITED = "edited"
    UNDONE = "undone"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding of any tool that the user wants answered. `span` counts bytes of the request's text."""

    span: Span
    message: str
    severity: Severity = Severity.ERROR
    source: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class Buffer:
    """An unsaved document of the workspace, as the editor holds it."""

    path: Path
    version: int
    text: str


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folders that are open, and the buffers that differ from the disk."""

    roots: tuple[Path, ...] = ()
    buffers: tuple[Buffer, ...] = ()


@dataclass(frozen=True, slots=True)
class Selection:
    """What the user pointed at, in bytes: a range, a mere position, or (None) the whole document.

    `unit` is the qualified name of the unit that was named instead of pointed at, "" otherwise.
    """

    span: Span
    unit: str = ""

    @property
    def is_position(self) -> bool:
        """True if only the cursor's place is known."""
        return self.span.empty


@dataclass(frozen=True, slots=True)
class Request:
    """One job. `path` is None for a document that was never saved; `language` is an LSP language id.

    `hidden` maps placeholders to values that are secrets whatever they look like: what a replayed record has instead.
    `said` are the user's own words where `instruction` is a model's (a step of a plan): they alone let go of code.
    """

    action: str
    language: str
    source: Source
    selection: Selection | None = None
    path: Path | None = None
    instruction: str = ""
    constraints: tuple[str, ...] = ()
    context: Mapping[str, str] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
    budget: Budget = Budget.STANDARD
    workspace: Workspace = field(default_factory=Workspace)
    tab_size: int = 4
    hidden: Mapping[str, str] = field(default_factory=dict, repr=False)
    said: str | None = None


class TargetKind(StrEnum):
    """What a job replaces. An INSERTION replaces nothing: its span is a position."""

    UNIT = "unit"
    STATEMENTS = "statements"
    DOCUMENT = "document"
    INSERTION = "insertion"


@dataclass(frozen=True, slots=True)
class Target:
    """The part of the request's text that a job is about, widened to whole units.

    `span` runs from column 0 of the first line to the end of the last, without its line end. `name` is the unit's
    qualified name ("Parser.parse_date"), "" where there is none. `indent` is the white space before its first line.
    `selection` is what the user had really selected.
    """

    kind: TargetKind
    span: Span
    name: str = ""
    indent: str = ""
    selection: Span | None = None


Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation with a model."""

    role: Role
    content: str


class Check(StrEnum):
    """The names of the judges, as evidence carries them. CUSTOM: a package's own, of which evidence has the name."""

    REPRODUCED = "reproduced"
    NOOP = "noop"
    SYNTAX = "syntax"
    NAMES = "names"
    SIGNATURE = "signature"
    LINT = "lint"
    DOCTEST = "doctest"
    TESTS = "tests"
    DIFFERENTIAL = "differential"
    MUTANTS = "mutants"
    TIMING = "timing"
    AGREEMENT = "agreement"
    DANGER = "danger"
    CUSTOM = "custom"


class Ruling(StrEnum):
    """What a judge says. SKIPPED: it was not asked or does not apply. UNKNOWN: it was asked and could not tell."""

    PASS = "pass"
    FAIL = "fail"
    SKIPPED = "skipped"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Attachment:
    """Something to open beside a line of evidence: a counter-example as a runnable file, a failing test's output.

    `name` is a file name, `language` an LSP language id. Nothing is longer than `MOST_BYTES`.
    """

    MOST_BYTES: ClassVar[int] = 64 * 1024

    name: str
    language: str
    text: str

    @classmethod
    def of(cls, name: str, language: str, text: str) -> Attachment:
        """With the text cut at its bound, and the cut told in a last line."""
        data = text.encode("utf-8", "replace")
        if len(data) <= cls.MOST_BYTES:
            return cls(name, language, text)
        kept = data[: cls.MOST_BYTES - 100].decode("utf-8", "ignore").rpartition("\n")[0]
        return cls(name, language, f"{kept}\n... cut: {len(data):,} bytes are more than is kept\n")

    def to_json(self) -> dict[str, str]:
        """As answers hold it."""
        return {"name": self.name, "language": self.language, "text": self.text}


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one judge found out about a candidate. `trusted` evidence may refute it on its own.

    `count` says on how many tests, examples or valid inputs it rests, where it rests on any. `codes` name the dangers
    that it tells of, by which a person accepts them. `name` is that of a custom judge, "" for others.
    """

    check: Check
    verdict: Ruling
    detail: str
    trusted: bool = False
    seconds: float = 0.0
    count: int = 0
    attachments: tuple[Attachment, ...] = field(default=(), repr=False)
    codes: tuple[str, ...] = ()
    name: str = ""

    @property
    def label(self) -> str:
        """What users read: the check, or the name of a custom judge."""
        return self.name or self.check.value


@dataclass(frozen=True, slots=True)
class Edit:
    """Replaces `span` of the text `base`, and of no other text. `path` is None for a document that was never saved."""

    path: Path | None
    base: Source = field(repr=False)
    span: Span
    new_text: str


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file to be created; nothing stands at `path` yet."""

    path: Path
    text: str


OPINION = "stet (model)"
"""The source of a finding that a model told: an opinion, which no tool confirmed and no number counts."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a job came to.

    `message` is the one sentence for the user, evidence included; without success it says why nothing is offered.
    `guard` is the span of the request's text which must stay untouched until the edits land.
    `findings` are what tools found in the request's text `base`, and what a model thinks of it (`OPINION`).
    `isolation` is the weakest box in which code ran (`IsolationReport.to_json`), None if none ran.
    `unneeded`: without success because nothing is to be done, such as tests for what is tested already.
    `confidence` is a chance from 0 to 1. `metadata` holds model, endpoint, tokens, cost, calls, memory_hits,
    stages (seconds per stage), the trace's id and the command that shows it.
    """

    success: bool
    action: str
    language: str
    message: str
    edits: tuple[Edit, ...] = ()
    new_files: tuple[NewFile, ...] = ()
    markdown: str = ""
    code: str = ""
    tests: str | None = None
    explanation: str = ""
    confidence: float = 0.0
    warnings: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    findings: tuple[Finding, ...] = ()
    base: Source | None = field(default=None, repr=False)
    isolation: Mapping[str, Any] | None = None
    guard: Span | None = None
    unneeded: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def refuted(self) -> bool:
        """True if a judge failed it: such an edit is never applied without the user's word."""
        return any(item.verdict is Ruling.FAIL for item in self.evidence)

    def to_json(self) -> dict[str, Any]:
        """The answer as design 4.4 names it; positions from 0, columns in UTF-16 units."""
        return {
            "success": self.success,
            "action": self.action,
            "language": self.language,
            "message": self.message,
            "edits": [_edit_to_json(edit) for edit in self.edits],
            "new_files": [{"path": str(file.path), "text": file.text} for file in self.new_files],
            "markdown": self.markdown,
            "code": self.code,
            "tests": self.tests,
            "explanation": self.explanation,
            "confidence": round(self.confidence, 3),
            "warnings": list(self.warnings),
            "evidence": [
                {
                    "check": item.label,
                    "verdict": item.verdict.value,
                    "detail": item.detail,
                    "trusted": item.trusted,
                    "seconds": round(item.seconds, 3),
                    "count": item.count,
                    "codes": list(item.codes),
                    "attachments": [each.to_json() for each in item.attachments],
                }
                for item in self.evidence
            ],
            "findings": [_finding_to_json(self.base, finding) for finding in self.findings if self.base],
            "isolation": self.isolation,
            "metadata": dict(self.metadata),
        }


def _edit_to_json(edit: Edit) -> dict[str, Any]:
    return {
        "path": None if edit.path is None else str(edit.path),
        "range": _range(edit.base, edit.span),
        "new_text": edit.new_text,
    }


def _finding_to_json(base: Source, finding: Finding) -> dict[str, Any]:
    return {
        "range": _range(base, finding.span),
        "severity": finding.severity.value,
        "kind": finding.kind,
        "code": finding.code,
        "message": finding.message,
        "source": finding.source,
        "suggestions": list(finding.suggestions),
    }


def _range(base: Source, span: Span) -> dict[str, Any]:
    start, end = (base.position(at, "utf-16") for at in (span.start, span.end))
    return {"start": {"line": start[0], "character": start[1]}, "end": {"line": end[0], "character": end[1]}}
