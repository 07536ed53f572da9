"""`stet check FILE...`: what the server shows while typing, for scripts and CI."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stet_ls.engine.errors import UsageError
from stet_ls.server.cli import present
from stet_ls.server.cli.files import read_document
from stet_ls.server.cli.session import tell
from stet_ls.validators import lint, syntax
from stet_ls.validators.findings import Finding, Severity, Verdict
from stet_ls.validators.languages import PLAIN, language_of
from stet_ls.validators.source import Source

IGNORED_FOLDERS = frozenset(
    {
        ".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".nox", ".mypy_cache",
        ".ruff_cache", ".pytest_cache", ".hypothesis", ".idea", "build", "dist", "target",
    }
)  # fmt: skip
"""Folders of tools and of what tools made. Name a file in one of them to have it checked all the same."""

_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFORMATION: "blue", Severity.HINT: "dim"}


@dataclass(frozen=True, slots=True)
class Checked:
    """One file with what was found in it."""

    path: Path
    source: Source
    language: str
    verdict: Verdict
    findings: tuple[Finding, ...]


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", type=Path, help="files, or folders that are walked")
    parser.add_argument("--lint", action="store_true", help="ask the language's linter too")
    parser.add_argument("--json", action="store_true", help="print one JSON object; lines and columns count from 1")


def run(arguments: argparse.Namespace) -> int:
    """Checks every file. 1 if any has an error, 2 if any cannot be read, whatever the others say."""
    started = time.perf_counter()
    checked: list[Checked] = []
    unread = False
    for path in arguments.files:
        for file in _files(path):
            try:
                checked.append(check_file(file, with_lint=arguments.lint))
            except UsageError as error:
                # A folder may hold anything; a file that was named has to be a text.
                if file == path:
                    tell(str(error))
                    unread = True
    if arguments.json:
        seconds = round(time.perf_counter() - started, 3)
        print(json.dumps({"files": [to_json(each) for each in checked], "seconds": seconds}, ensure_ascii=False))
    else:
        _print(checked)
    if unread:
        return UsageError.exit_code
    return int(any(finding.severity is Severity.ERROR for each in checked for finding in each.findings))


def _files(path: Path) -> Iterator[Path]:
    """The file itself, or the files of known languages under a folder, in the order of their names."""
    if not path.is_dir():
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if name not in IGNORED_FOLDERS)
        for name in sorted(names):
            if language_of(name) != PLAIN:
                yield Path(folder, name)


def check_file(path: Path, *, with_lint: bool) -> Checked:
    """Syntax findings of one file, lint findings after them. UsageError if it cannot be read."""
    source = read_document(path).source
    language = language_of(path)
    verdict = syntax.check(source, language, path=path)
    linted = lint.check(source, language, path=path) if with_lint else None
    return Checked(path, source, language, verdict, (*verdict.findings, *(linted or ())))


def to_json(checked: Checked) -> dict[str, Any]:
    """One file of the JSON output. Columns count code points; ends are exclusive."""
    return {
        "path": str(checked.path),
        "language": checked.language,
        "verdict": checked.verdict.status.value,
        "authoritative": checked.verdict.authoritative,
        "findings": [_finding_json(checked.source, finding) for finding in checked.findings],
    }


def _finding_json(source: Source, finding: Finding) -> dict[str, Any]:
    line, column = source.position(finding.span.start, "utf-32")
    end_line, end_column = source.position(finding.span.end, "utf-32")
    return {
        "line": line + 1,
        "column": column + 1,
        "end_line": end_line + 1,
        "end_column": end_column + 1,
        "severity": finding.severity.value,
        "kind": finding.kind,
        "code": finding.code,
        "message": finding.message,
        "source": finding.source,
        "suggestions": list(finding.suggestions),
    }


def _print(checked: Iterable[Checked]) -> None:
    for each in checked:
        for finding in each.findings:
            line, column = each.source.position(finding.span.start, "utf-32")
            rule = " ".join(part for part in (finding.source, finding.code) if part)
            text = f"{each.path}:{line + 1}:{column + 1}: {finding.severity}: {finding.message} [{rule}]"
            present.print_line(text, _STYLES[finding.severity])
        if each.verdict.findings and each.verdict.source == "tree-sitter" and not each.verdict.may_block:
            tell(f"{each.path}: only a grammar judged it, which knows no macros; its compiler has the last word")
        if each.verdict.reason:
            tell(f"{each.path}: not judged: {each.verdict.reason}")
