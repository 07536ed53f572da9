"""Checks files and makes reports of them: the work of one process of the pool."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from stet_ls.engine.errors import UsageError
from stet_ls.server.cli.inputs.files import decode, read_document
from stet_ls.validators import batch, syntax
from stet_ls.validators.checkers.toolbox import BUILT_IN, Toolbox
from stet_ls.validators.findings import Finding, Severity, Status, SyntaxResult, new_findings
from stet_ls.validators.languages import language_of
from stet_ls.validators.shebang import language_of_text
from stet_ls.validators.source import Source, Span

if TYPE_CHECKING:
    from stet_ls.server.cli.check.baseline import Baseline
    from stet_ls.validators.structure.outline import Symbol

DEADLINE = 10.0
"""Limit in seconds for each check of a file. It is generous: no user waits at a cursor for the result."""


@dataclass(frozen=True, slots=True)
class FileTask:
    """A file to check. `text` is its content if that is not on the disk: standard input."""

    path: Path
    language: str = ""
    text: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class PlacedFinding:
    """A range in a file; lines and columns count from 1, columns are code points, the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class FileReport:
    """The findings in a file. `unread` is the reason why it could not be read, or "".

    `symbols` include their documentation, and are None if not requested. `known` is the number of findings that the
    baseline has, too, and that do not count. An error that only an untrusted grammar reports is a warning here:
    `findings` have the severities that decide the exit status.
    """

    path: Path
    language: str
    result: SyntaxResult
    findings: tuple[tuple[PlacedFinding, Finding], ...] = ()
    symbols: tuple[tuple[PlacedFinding, Symbol, str], ...] | None = None
    known: int = 0
    unread: str = ""

    @property
    def failed(self) -> bool:
        """Whether the file makes the check fail."""
        return any(finding.severity is Severity.ERROR for _, finding in self.findings)

    @property
    def uncertain(self) -> bool:
        """Whether only a grammar that cannot be trusted reported an error."""
        return self.result.status is Status.ERROR and _is_uncertain(self.result)


@dataclass(frozen=True, slots=True)
class FileChecker:
    """The checks to run on each file; a call with files returns their reports."""

    lint: bool = False
    outline: bool = False
    baseline: Baseline | None = None
    tools: Toolbox = BUILT_IN

    def __call__(self, tasks: Sequence[FileTask]) -> list[FileReport]:
        """Returns a report for each task, in order."""
        reports = [_read(task) for task in tasks]
        readable = [index for index, report in enumerate(reports) if isinstance(report, batch.CheckedText)]
        texts = [text for text in reports if isinstance(text, batch.CheckedText)]
        for index, report in zip(readable, self._judge(texts), strict=True):
            reports[index] = replace(report, path=tasks[index].path)
        return [report for report in reports if isinstance(report, FileReport)]

    def _judge(self, texts: Sequence[batch.CheckedText]) -> Iterator[FileReport]:
        found = self._ask(texts)
        found = list(self._only_new(texts, found)) if self.baseline else found
        for text, seen in zip(texts, found, strict=True):
            source, result = text.source, seen.result
            shown = [_demoted(finding) for finding in seen.syntax] if _is_uncertain(result) else seen.syntax
            yield FileReport(
                text.path or Path(),
                text.language,
                replace(result, findings=()),
                tuple(
                    (_place(source, finding.span), finding)
                    for finding in sorted((*shown, *seen.lint), key=lambda each: each.span)
                ),
                _symbols(text) if self.outline else None,
                seen.known,
            )

    def _ask(self, texts: Sequence[batch.CheckedText]) -> list[_Seen]:
        results = batch.check(texts, deadline=DEADLINE, tools=self.tools)
        linted = batch.check_lint(texts, deadline=DEADLINE, tools=self.tools) if self.lint else [None] * len(texts)
        return [_Seen(result, result.findings, tuple(more or ())) for result, more in zip(results, linted, strict=True)]

    def _only_new(self, texts: Sequence[batch.CheckedText], found: Sequence[_Seen]) -> Iterator[_Seen]:
        """Removes findings that the baseline has, too. Files without findings need no baseline."""
        pasts = [
            self._past(text) if seen.syntax or seen.lint else None for text, seen in zip(texts, found, strict=True)
        ]
        before = iter(self._ask([past for past in pasts if past is not None]))
        for past, seen in zip(pasts, found, strict=True):
            yield seen if past is None else seen.since(next(before))

    def _past(self, text: batch.CheckedText) -> batch.CheckedText | None:
        assert self.baseline
        assert text.path
        content = self.baseline.before(text.path, text.source.data)
        if content is None:
            return None
        try:
            return replace(text, source=Source(decode(content, "")))
        except UsageError:
            return None  # not a text file in that revision


@dataclass(frozen=True, slots=True)
class _Seen:
    """The findings in one text."""

    result: SyntaxResult
    syntax: tuple[Finding, ...]
    lint: tuple[Finding, ...]
    known: int = 0

    def since(self, before: _Seen) -> _Seen:
        """These findings without those that were there before."""
        syntax_, lint_ = syntax.broken_by(before.result, self.result), new_findings(before.lint, self.lint)
        known = len(self.syntax) + len(self.lint) - len(syntax_) - len(lint_)
        return _Seen(self.result, syntax_, lint_, known)


def failed_report(task: FileTask, reason: str) -> FileReport:
    """The report on a file whose worker process failed."""
    return FileReport(task.path, _language(task), _unknown(_language(task), f"its checker failed: {reason}"))


def _read(task: FileTask) -> batch.CheckedText | FileReport:
    language = _language(task)
    if task.text is not None:
        return batch.CheckedText(Source(task.text), language, task.path)
    try:
        source = read_document(task.path).source
        return batch.CheckedText(source, task.language or language_of_text(task.path, source.data), task.path)
    except UsageError as error:
        return FileReport(task.path, language, _unknown(language, str(error)), unread=str(error))


def _language(task: FileTask) -> str:
    return task.language or language_of(task.path)


def _unknown(language: str, reason: str) -> SyntaxResult:
    return SyntaxResult(Status.UNKNOWN, language, may_block=False, reason=reason)


def _is_uncertain(result: SyntaxResult) -> bool:
    return not (result.authoritative or result.may_block)


def _demoted(finding: Finding) -> Finding:
    return replace(finding, severity=Severity.WARNING) if finding.severity is Severity.ERROR else finding


def _symbols(text: batch.CheckedText) -> tuple[tuple[PlacedFinding, Symbol, str], ...]:
    from stet_ls.validators.structure.outline import outline

    source = text.source
    return tuple(
        (_place(source, symbol.span), symbol, source.slice(symbol.doc) if symbol.doc else "")
        for symbol in outline(source, text.language)
    )


def _place(source: Source, span: Span) -> PlacedFinding:
    line, column = source.position(span.start, "utf-32")
    end_line, end_column = source.position(span.end, "utf-32")
    return PlacedFinding(line + 1, column + 1, end_line + 1, end_column + 1)
