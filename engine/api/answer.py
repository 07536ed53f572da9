"""The data that goes through the engine: Request in, Answer out, and its Evidence. Frozen and plain."""

from __future__ import annotations

import base64
import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate
from pathlib import Path
from typing import Any

from stet_ls.engine.api.evidence import EVIDENCE_SCHEMA, UNPROVEN, Check, Evidence, Ruling
from stet_ls.engine.api.execution_result import EXECUTION_SCHEMA, FILES_SCHEMA, ExecutionResult, ProducedFile
from stet_ls.engine.api.json_schema import COUNT, FLAG, TEXT, array, nullable, table
from stet_ls.engine.api.metadata import METADATA_SCHEMA, Metadata
from stet_ls.engine.api.summary import Summary, render
from stet_ls.validators.findings import Finding
from stet_ls.validators.source import Source, Span, Splice


class EditOutcome(StrEnum):
    """The outcome of an edit that was offered."""

    KEPT = "kept"
    EDITED = "edited"
    UNDONE = "undone"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Edit:
    """Replaces `span` of the text `base` only. `path` is None for a document that was never saved.

    `steps` are the numbers of the steps of a task that made it.
    """

    path: Path | None
    base: Source = field(repr=False)
    span: Span
    new_text: str
    steps: tuple[int, ...] = ()


def edits_by_path(edits: Iterable[Edit]) -> Mapping[Path | None, list[Edit]]:
    """The edits of each file, in the order in which the files first occur."""
    grouped: dict[Path | None, list[Edit]] = {}
    for edit in edits:
        grouped.setdefault(edit.path, []).append(edit)
    return grouped


def edited_text(edits: Sequence[Edit]) -> Source:
    """The text of one file after its edits."""
    return edits[0].base.splice(Splice(edit.span, edit.new_text) for edit in edits)


def line_edits(path: Path, base: Source, after: str) -> Iterator[Edit]:
    """The changes of a file as edits of whole lines."""
    old, new = base.text.splitlines(keepends=True), after.splitlines(keepends=True)
    starts = [0, *accumulate(len(line.encode("utf-8", "surrogatepass")) for line in old)]
    for kind, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            yield Edit(path, base, Span(starts[i1], starts[i2]), "".join(new[j1:j2]))


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file to be created; `path` does not exist yet. `data` is its content if that is not text.

    `steps` are the numbers of the steps of a task that made it.
    """

    path: Path
    text: str
    data: bytes | None = field(default=None, repr=False)
    steps: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class FileMove:
    """A file to be renamed or moved once its edits are made; `to` does not exist yet."""

    path: Path
    to: Path


CONFIRMED = "stet (confirmed)"
"""The source of a model's finding that a run confirmed."""

OPINION = "stet (model)"
"""The source of a finding from a model: an opinion that no tool confirmed and no number counts."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a job."""

    success: bool
    """Whether it offers what was requested."""
    action: str
    """Name of the action."""
    language: str
    """LSP language id."""
    summary: Summary
    """What was done, or on failure why nothing is offered."""
    edits: tuple[Edit, ...] = ()
    """Edits of the request's document and of other files."""
    new_files: tuple[NewFile, ...] = ()
    """Files to create."""
    moves: tuple[FileMove, ...] = ()
    """Files to rename."""
    markdown: str = ""
    """A report or an explanation, "" for other actions."""
    code: str = ""
    """The new text of the target alone."""
    tests: str | None = None
    """The generated tests; None if none were written."""
    explanation: str = ""
    """The model's words on its change."""
    confidence: float = 0.0
    """The probability that the answer is right, from 0 to 1."""
    warnings: tuple[str, ...] = ()
    """Sentences on what limits the answer."""
    evidence: tuple[Evidence, ...] = ()
    """What the judges found."""
    findings: tuple[Finding, ...] = ()
    """What tools found in `base`, and a model's opinions on it (`OPINION`)."""
    base: Source | None = field(default=None, repr=False)
    """The text that the findings belong to; None without findings."""
    isolation: Mapping[str, Any] | None = None
    """The weakest sandbox in which code ran (`IsolationReport.to_json`); None if none ran."""
    guard: Span | None = None
    """The span of the request's text that must not change until the edits are applied; None for no such span."""
    nothing_to_do: bool = False
    """Whether it is no success because there is nothing to do: the code is tested already."""
    execution: ExecutionResult | None = None
    """The result of the programs that a task ran; None for other actions."""
    files: tuple[ProducedFile, ...] = ()
    """The new files that those programs made."""
    plan: Mapping[str, Any] | None = None
    """The plan of a task (`Plan.to_json`); None for other actions."""
    metadata: Metadata = field(default_factory=Metadata)
    """Its cost, its model and the reasons of its confidence."""

    @property
    def message(self) -> str:
        """The sentence for the user, evidence included."""
        return render(self.summary, self.evidence, self.metadata)

    @property
    def changes_files(self) -> bool:
        """True if there is something to apply."""
        return bool(self.edits or self.new_files or self.moves)

    @property
    def touched(self) -> frozenset[Path | None]:
        """The files that it edits or makes."""
        return frozenset([*(edit.path for edit in self.edits), *(file.path for file in self.new_files)])

    @property
    def refuted(self) -> bool:
        """True if a judge failed it: such an edit is never applied without the user's consent."""
        return any(item.verdict is Ruling.FAIL for item in self.evidence)

    @property
    def not_run(self) -> bool:
        """True if checks were made and nothing ran the edit: it is asked about, not offered as done.

        A fix of what a checker reported needs no run if the checker no longer reports it, and what refuted an edit is
        the reason to ask about it.
        """
        checked = any(item.check is Check.SYNTAX and item.verdict is not Ruling.SKIPPED for item in self.evidence)
        is_open = self.success and checked and not self.refuted and not self.metadata.is_resolved
        return is_open and self.metadata.evidence_tier in UNPROVEN

    def to_json(self) -> dict[str, Any]:
        """The answer as JSON; positions from 0, columns in UTF-16 units."""
        return {
            "success": self.success,
            "action": self.action,
            "language": self.language,
            "message": self.message,
            "edits": [_edit_to_json(edit) for edit in self.edits],
            "new_files": [_file_to_json(file) for file in self.new_files],
            "moves": [{"path": str(move.path), "to": str(move.to)} for move in self.moves],
            "markdown": self.markdown,
            "code": self.code,
            "tests": self.tests,
            "explanation": self.explanation,
            "confidence": round(self.confidence, 3),
            "warnings": list(self.warnings),
            "evidence": [item.to_json() for item in self.evidence],
            "findings": [_finding_to_json(self.base, finding) for finding in self.findings if self.base],
            "isolation": self.isolation,
            "execution_result": None if self.execution is None else self.execution.to_json(),
            "file_summary": [file.to_json() for file in self.files],
            "plan": self.plan,
            "metadata": self.metadata.to_json(),
        }


def _edit_to_json(edit: Edit) -> dict[str, Any]:
    return {
        "path": None if edit.path is None else str(edit.path),
        "range": _range(edit.base, edit.span),
        "new_text": edit.new_text,
        "steps": list(edit.steps),
    }


def _file_to_json(file: NewFile) -> dict[str, Any]:
    data = None if file.data is None else base64.b64encode(file.data).decode("ascii")
    return {"path": str(file.path), "text": file.text, "base64": data, "steps": list(file.steps)}


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


_POSITION = table(line=COUNT, character=COUNT)
_RANGE = table(start=_POSITION, end=_POSITION)
ANSWER_SCHEMA = table(
    success=FLAG,
    action=TEXT,
    language=TEXT,
    message=TEXT,
    edits=array(table(path=nullable("string"), range=_RANGE, new_text=TEXT, steps=array(COUNT))),
    new_files=array(table(path=TEXT, text=TEXT, base64=nullable("string"), steps=array(COUNT))),
    moves=array(table(path=TEXT, to=TEXT)),
    markdown=TEXT,
    code=TEXT,
    tests=nullable("string"),
    explanation=TEXT,
    confidence={"type": "number", "minimum": 0, "maximum": 1},
    warnings=array(TEXT),
    evidence=array(EVIDENCE_SCHEMA),
    findings=array(
        table(range=_RANGE, severity=TEXT, kind=TEXT, code=TEXT, message=TEXT, source=TEXT, suggestions=array(TEXT))
    ),
    isolation=nullable("object"),
    execution_result=EXECUTION_SCHEMA,
    file_summary=FILES_SCHEMA,
    plan=nullable("object"),
    metadata=METADATA_SCHEMA,
)
"""The JSON schema of `Answer.to_json`."""
