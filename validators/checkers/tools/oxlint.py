"""JavaScript and TypeScript by oxlint: one 15 ms process parses, checks the languages' rules, and lints.

It reads only paths, so it gets a private copy; our own empty settings next to it prevent a search for others.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from stet_ls.validators.checkers.checker_request import (
    FILE,
    CheckerRequest,
    CheckerResult,
    ToolCommand,
    Unavailable,
    run_tool_on,
)
from stet_ls.validators.checkers.output_parsing import distinct, spanned
from stet_ls.validators.checkers.tool_process import PRIVATE, ToolResult
from stet_ls.validators.findings import Finding, Severity
from stet_ls.validators.source import Source, Span

_SETTINGS = "oxlint-of-stet.json"
_RUN = ToolCommand(
    "oxlint",
    ("--format", "json", "--threads=1", "--disable-nested-config", "--no-ignore", "-c", f"{PRIVATE}/{_SETTINGS}", FILE),
    files=((_SETTINGS, b"{}"),),
)
_SUFFIXES = {"javascript": ".js", "javascriptreact": ".jsx", "typescript": ".ts", "typescriptreact": ".tsx"}


def syntax(request: CheckerRequest) -> CheckerResult:
    """What the parser and the language's early rules reject."""
    found = _found(request)
    return found if isinstance(found, Unavailable) else tuple(one for one in found if one.kind == "syntax")


def lint(request: CheckerRequest) -> CheckerResult:
    """The rules for wrong or useless code, oxlint's default."""
    found = _found(request)
    return found if isinstance(found, Unavailable) else tuple(one for one in found if one.kind == "lint")


def _found(request: CheckerRequest) -> CheckerResult:
    suffix = request.path.suffix if request.path else ""
    if suffix.lower() not in (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"):
        # oxlint takes the language from the extension alone.
        name = f"text{_SUFFIXES.get(request.language, '.js')}"
        request = replace(request, path=request.path.with_name(name) if request.path else None)

    def read(result: ToolResult) -> CheckerResult:
        try:
            answer = json.loads(result.stdout)
            if answer["number_of_files"] != 1:
                return Unavailable("oxlint did not read the text")
            return distinct(_findings(request.source, answer["diagnostics"]))
        except (ValueError, KeyError, TypeError, IndexError):
            return Unavailable(f"oxlint failed (exit status {result.status})")

    return run_tool_on(request, _RUN, read)


def _findings(source: Source, diagnostics: list[Mapping[str, Any]]) -> Iterator[Finding]:
    for item in diagnostics:
        # The last label of an error is its place; the first may be an earlier declaration of the name.
        at = item["labels"][-1 if "already been declared" in item["message"] else 0]["span"]
        rule = item.get("code", "")
        is_lint = "(" in rule and not rule.startswith("TS(")  # "eslint(no-debugger)"; "TS(1245)" is the language's
        yield spanned(
            source,
            item["message"],
            Span(at["offset"], at["offset"] + at["length"]),
            "oxlint",
            kind="lint" if is_lint else "syntax",
            severity=Severity.WARNING if is_lint else Severity.ERROR,
            code=rule,
            suggestions=(item["help"],) if item.get("help") else (),
        )
