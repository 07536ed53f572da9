"""One run of ruff over a Python text: PEP 8, docstrings and security."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stet_ls.validators.checkers.tool_process import run_tool
from stet_ls.validators.checkers.tools import ruff
from stet_ls.validators.findings import Finding, Severity
from stet_ls.validators.metrics.style import Style, lines_of, style_of
from stet_ls.validators.source import Source, Span

LINE_LENGTH = 79
"""PEP 8's own limit, for a project that sets none."""

# E1, E2 and E3 (white space, blank lines) are half of PEP 8 and have been in preview for years. D1 reports missing
# docstrings, S is bandit. Left out: what PEP 8 leaves open (as pycodestyle does), and asserts.
_QUESTION = ruff.RuleSelection(("--preview", "--select", "E,W,N,S,D1", "--ignore", "E9,E226,E24,S101"), "lint")
_MOST_OUTPUT = 32_000_000
_DOCSTRINGS = ("D100", "D101", "D102", "D103", "D104")
_SEVERE = frozenset({"S102", "S301", "S302", "S307", "S324", "S501", "S506", "S602", "S605", "S608"})
"""Bandit rules for holes that an attacker can use directly: they warn, the others inform."""


@dataclass(frozen=True, slots=True)
class Pep8:
    """Ruff's findings in a Python text. `undocumented` are the lines, from 0, of public things without a docstring."""

    style: Style
    undocumented: tuple[int, ...]
    security: tuple[Finding, ...]


def review(source: Source, span: Span, *, path: Path | None = None, deadline: float = 3.0) -> Pep8 | None:
    """The measures of the lines that `span` touches. None if ruff is missing, or the text does not parse.

    `path` gives the project, of which only the line length is read.
    """
    options = ruff.project_options(path)
    if "--line-length" not in options:
        options = (*options, "--line-length", str(LINE_LENGTH))
    argv = ruff.command(_QUESTION, options)
    if argv is None:
        return None
    argv += ["--stdin-filename", ruff.file_name(path), "-"]
    result = run_tool(argv, stdin=ruff.file_text(source), deadline=deadline, limit=_MOST_OUTPUT)
    items = ruff.answer(result)
    if items is None or any(item["code"] in (None, "invalid-syntax") for item in items):
        return None
    lines = lines_of(source, span)
    inside = [item for item in items if _line(item) in lines]
    style = [(item["code"], _line(item), item["message"]) for item in inside if item["code"][0] in "EWN"]
    length = options[options.index("--line-length") + 1]
    undocumented = sorted({_line(item) for item in inside if item["code"] in _DOCSTRINGS})
    security = ruff.findings(source, [item for item in inside if item["code"].startswith("S")], _QUESTION)
    return Pep8(
        style_of(style, lines, f"ruff E, W and N, lines up to {length}"),
        tuple(undocumented),
        tuple(_weighed(finding) for finding in security),
    )


def _line(item: Mapping[str, Any]) -> int:
    return int(item["location"]["row"]) - 1


def _weighed(finding: Finding) -> Finding:
    severity = Severity.WARNING if finding.code in _SEVERE else Severity.INFORMATION
    return replace(finding, severity=severity)
