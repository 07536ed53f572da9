"""The output formats for reports: for people, for programs, and as annotations on GitHub."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from stet_ls.server.cli.check.check_file import FileReport, PlacedFinding
from stet_ls.server.cli.terminal.machine_output import (
    command_data,
    print_json,
    print_sarif,
    property_value,
    sarif_result,
)
from stet_ls.validators.findings import Finding, Severity
from stet_ls.validators.invisible_chars import escape_invisible

if TYPE_CHECKING:
    from stet_ls.validators.structure.outline import Symbol

Reports = Iterable[FileReport]

_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFORMATION: "blue", Severity.HINT: "dim"}


def text(reports: Reports, _seconds: Callable[[], float]) -> None:
    """Prints a line for each finding, as soon as it is known."""
    write = _writer()
    for report in reports:
        for place, finding in report.findings:
            message = f"{finding.severity}: {finding.message} [{_rule(finding)}]"
            write(_line(report, place, message), _STYLES[finding.severity])
        for place, symbol, _ in report.symbols or ():
            write(_line(report, place, f"{symbol.kind} {symbol.qualified}"), "")


def as_json(reports: Reports, seconds: Callable[[], float]) -> None:
    """Prints one object with all files; lines and columns count from 1, columns are code points, ends are exclusive."""
    files = [_file(report) for report in reports if not report.unread]
    print_json({"files": files, "seconds": round(seconds(), 3)})


def github(reports: Reports, _seconds: Callable[[], float]) -> None:
    """Prints workflow commands, which GitHub Actions shows as annotations next to the lines."""
    for report in reports:
        for place, finding in report.findings:
            properties = {
                "title": f"stet ({_rule(finding)})",
                "file": str(report.path),
                "line": place.line,
                "col": place.column,
                "endLine": place.end_line,
                "endColumn": place.end_column,
            }
            listed = ",".join(f"{key}={property_value(str(value))}" for key, value in properties.items())
            _plain(f"::{_GITHUB[finding.severity]} {listed}::{command_data(finding.message)}", "")


def sarif(reports: Reports, _seconds: Callable[[], float]) -> None:
    """Prints SARIF 2.1.0, the format that code scanning services and editors import."""
    results = [_result(report, place, finding) for report in reports for place, finding in report.findings]
    print_sarif("stet", results)


FORMATS: dict[str, Callable[[Reports, Callable[[], float]], None]] = {
    "text": text,
    "json": as_json,
    "github": github,
    "sarif": sarif,
}
"""The formats by the name that `--format` takes. Each prints reports as they become ready."""

_GITHUB = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "notice",
    Severity.HINT: "notice",
}
_SARIF = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFORMATION: "note", Severity.HINT: "note"}


def _rule(finding: Finding) -> str:
    return " ".join(part for part in (finding.source, finding.code) if part)


def _line(report: FileReport, place: PlacedFinding, message: str) -> str:
    """One line of text. Line breaks in file names are escaped, since readers of the output split it by lines."""
    return f"{report.path}:{place.line}:{place.column}: {message}".replace("\n", "␊")


def _writer() -> Callable[[str, str], None]:
    if not sys.stdout.isatty():
        return _plain
    from stet_ls.server.cli.terminal.render import print_line

    return print_line


def _plain(line: str, _style: str) -> None:
    print(escape_invisible(line))


def _file(report: FileReport) -> dict[str, Any]:
    symbols = {"symbols": list(map(_symbol, report.symbols))} if report.symbols is not None else {}
    return {
        "path": str(report.path),
        "language": report.language,
        "verdict": report.result.status.value,
        "authoritative": report.result.authoritative,
        "findings": [_finding(place, finding) for place, finding in report.findings],
        **symbols,
    }


def _finding(place: PlacedFinding, finding: Finding) -> dict[str, Any]:
    return {
        **asdict(place),
        "severity": finding.severity.value,
        "kind": finding.kind,
        "code": finding.code,
        "message": finding.message,
        "source": finding.source,
        "suggestions": list(finding.suggestions),
    }


def _symbol(row: tuple[PlacedFinding, Symbol, str]) -> dict[str, Any]:
    place, symbol, doc = row
    names = {"kind": symbol.kind, "name": symbol.name, "qualified": symbol.qualified}
    return {**asdict(place), **names, "signature": symbol.signature, "doc": doc}


def _result(report: FileReport, place: PlacedFinding, finding: Finding) -> dict[str, Any]:
    region = {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    }
    rule = "/".join(part for part in (finding.source, finding.code or finding.kind) if part)
    return sarif_result(rule, _SARIF[finding.severity], finding.message, _uri(report), region)


def _uri(report: FileReport) -> str:
    from urllib.parse import quote

    if report.path.is_absolute():
        return report.path.as_uri()
    return quote(bytes(report.path).decode("utf-8", "surrogateescape"), errors="surrogateescape")
