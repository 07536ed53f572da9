"""The result of one step as a row of the history, from which a resumed task takes it instead of doing it again."""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from stet_ls.engine.api.answer import Answer, Edit, NewFile, edited_text, edits_by_path
from stet_ls.engine.api.evidence import Evidence
from stet_ls.engine.api.execution_result import ExecutionResult, FileKind, ProducedFile
from stet_ls.engine.api.metadata import Metadata
from stet_ls.engine.api.summary import Caution, Summary
from stet_ls.validators.source import Source, Span

DONE, SKIPPED, FAILED = "done", "skipped", "failed"
"""How a step ended."""


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step that ended. `tokens` are those of its calls; `answer` is what `answer_of` reads back."""

    number: int
    state: str
    message: str
    arm: str = ""
    reason: str = ""
    seconds: float = 0.0
    calls: int = 0
    tokens: int = 0
    answer: Mapping[str, Any] = field(default_factory=dict)


def row_of(answer: Answer) -> dict[str, Any]:
    """What is kept of an answer: its edits as hunks with the hash of their text, its evidence, its summary."""
    return {
        "action": answer.action,
        "language": answer.language,
        "summary": asdict(answer.summary),
        "edits": [
            {
                "path": str(edit.path),
                "base": digest(edit.base.text),
                "start": edit.span.start,
                "end": edit.span.end,
                "text": edit.new_text,
            }
            for edit in answer.edits
        ],
        "new_files": [_file_row(file) for file in answer.new_files],
        "after": _after(answer),
        "markdown": answer.markdown,
        "code": answer.code,
        "tests": answer.tests,
        "explanation": answer.explanation,
        "confidence": answer.confidence,
        "warnings": list(answer.warnings),
        "evidence": [item.to_json() for item in answer.evidence],
        "files": [{**asdict(each), "path": str(each.path)} for each in answer.files],
        "execution": answer.execution and asdict(answer.execution),
        "reasons": list(answer.metadata.reasons),
        "calibration": answer.metadata.calibration,
    }


def _file_row(file: NewFile) -> dict[str, Any]:
    data = {} if file.data is None else {"data": b64encode(file.data).decode("ascii")}
    return {"path": str(file.path), "text": file.text, **data}


def _after(answer: Answer) -> dict[str, str]:
    """The hash of each file as the step left it."""
    edited = {str(path): edited_text(own).text for path, own in edits_by_path(answer.edits).items()}
    new = {
        str(file.path): file.text if file.data is None else file.data.decode("utf-8-sig", "replace")
        for file in answer.new_files
    }
    return {path: digest(text) for path, text in (edited | new).items()}


def taken_paths(
    rows: Mapping[int, Mapping[str, Any]], text_of: Callable[[Path], str | None]
) -> dict[int, frozenset[Path]]:
    """For the rows of steps, the files that have their change already, because the user took it.

    A file that is as a step left it has what the steps before did to it, too.
    """
    last: dict[str, int] = {}
    for number, row in sorted(rows.items()):
        for path, after in row.get("after", {}).items():
            if (text := text_of(Path(path))) is not None and digest(text) == after:
                last[path] = number
    return {
        number: frozenset(Path(path) for path in row.get("after", {}) if number <= last.get(path, -1))
        for number, row in rows.items()
    }


def _data_of(row: Mapping[str, Any]) -> bytes | None:
    return b64decode(row["data"]) if "data" in row else None


def answer_of(
    row: Mapping[str, Any], text_of: Callable[[Path], str | None], taken: Collection[Path] = ()
) -> Answer | None:
    """The answer of a row, without the files in `taken`, which have its change already.

    None if a file is not the one that the step changed, or a new file exists by now.
    """
    edits = []
    for each in row["edits"]:
        path = Path(each["path"])
        if path in taken:
            continue
        text = text_of(path)
        if text is None or digest(text) != each["base"]:
            return None
        edits.append(Edit(path, Source(text), Span(each["start"], each["end"]), each["text"]))
    files = tuple(NewFile(Path(each["path"]), each["text"], _data_of(each)) for each in row["new_files"])
    files = tuple(file for file in files if file.path not in taken)
    if any(text_of(file.path) is not None for file in files):
        return None
    return Answer(
        True,
        row["action"],
        row["language"],
        _summary(row["summary"]),
        tuple(edits),
        files,
        markdown=row["markdown"],
        code=row["code"],
        tests=row["tests"],
        explanation=row["explanation"],
        confidence=row["confidence"],
        warnings=tuple(row["warnings"]),
        evidence=tuple(Evidence.from_json(item) for item in row["evidence"]),
        files=tuple(_produced(each) for each in row.get("files", ())),
        execution=ExecutionResult(**row["execution"]) if row.get("execution") else None,
        metadata=Metadata(reasons=tuple(row["reasons"]), calibration=row["calibration"]),
    )


def _produced(row: Mapping[str, Any]) -> ProducedFile:
    return ProducedFile(**{**row, "path": Path(row["path"]), "kind": FileKind(row["kind"])})


def _summary(row: Mapping[str, Any]) -> Summary:
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
    return Summary(**{**fields, "caution": Caution(row["caution"])})


def digest(text: str) -> str:
    """The hash of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
