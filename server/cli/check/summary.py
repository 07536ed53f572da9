"""The summary and the progress bar of `stet check`, on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from stet_ls.engine.plurals import plural
from stet_ls.server.cli.check.check_file import FileReport
from stet_ls.server.cli.terminal.status import print_error, print_status, print_warning
from stet_ls.validators.findings import Status
from stet_ls.validators.languages import PLAIN

Chunk = TypeVar("Chunk", bound=Sequence[FileReport])


class CheckSummary:
    """Counts the reports as they pass, and keeps what to print at the end.

    A file that was named itself gets a message for each reason why it was not judged; files found in a folder may be
    thousands, so they are counted.
    """

    def __init__(self, named: Collection[Path]) -> None:
        self.failed = False
        self.unread = False
        self._named = named
        self._files = self._findings = self._known = 0
        self._errors: list[str] = []
        self._warnings: list[str] = []
        self._met: dict[str, list[str]] = {kind: [] for kind in _TOGETHER}

    def counted(self, reports: Iterable[FileReport]) -> Iterator[FileReport]:
        """Yields the same reports, and counts each."""
        for report in reports:
            named = report.path in self._named
            self._files += not report.unread
            self._findings += len(report.findings)
            self._known += report.known
            self.failed = self.failed or report.failed
            self.unread = self.unread or bool(named and report.unread)
            for kind, sentence in _remarks(report):
                errors_or_warnings = self._errors if kind == "not read" else self._warnings
                (errors_or_warnings if named else self._met[kind]).append(sentence)
            yield report

    def print(self) -> None:
        """Prints errors, warnings and totals."""
        for sentence in self._errors:
            print_error(sentence)
        for sentence in self._warnings:
            print_warning(sentence)
        for kind, sentences in self._met.items():
            if len(sentences) == 1:
                print_warning(sentences[0])
            elif sentences:
                print_warning(f"{len(sentences)} files {_TOGETHER[kind]}; the first: {sentences[0]}")
        if self._known:
            print_status(f"{plural(self._known, 'older finding')} not shown")
        if sys.stderr.isatty():
            print_status(f"{plural(self._files, 'file')} checked, {plural(self._findings, 'finding')}")


_TOGETHER = {
    "not read": "were not read",
    "not judged": "were not checked",
    "second best": "were not checked by the best tool",
    "uncertain": "have findings that are warnings only",
}


def _remarks(report: FileReport) -> Iterator[tuple[str, str]]:
    if report.unread:
        yield "not read", report.unread
    elif report.result.reason and report.result.status is Status.UNKNOWN:
        hint = "; set the language with `--language NAME`" if report.language == PLAIN else ""
        yield "not judged", f"{report.path}: {report.result.reason}{hint}"
    elif report.result.reason:
        yield "second best", f"{report.path}: checked by {report.result.source} only: {report.result.reason}"
    if report.findings and report.uncertain:
        yield (
            "uncertain",
            f"{report.path}: findings are warnings only: valid code can be beyond this language's grammar",
        )


def with_progress(chunks: Iterable[Chunk], total: int) -> Iterator[Chunk]:
    """Yields the same chunks, with a progress bar on a terminal; the bar is removed at the end."""
    # Not while the results go to the same terminal: they show the progress, and would break the bar.
    if total < _FEW or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield from chunks
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from stet_ls.server.cli.terminal.render import console_on

    columns = (TextColumn("checking"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # Without its refresh thread: processes are forked while the bar is shown.
    with Progress(*columns, console=console_on(sys.stderr), transient=True, auto_refresh=False) as bar:
        task = bar.add_task("", total=total)
        bar.refresh()
        for chunk in chunks:
            bar.advance(task, len(chunk))
            bar.refresh()
            yield chunk


_FEW = 50
