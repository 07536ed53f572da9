"""JavaScript and TypeScript by a parser of npm, `oxc-parser` or `typescript`, of the user or a trusted workspace.

Loading such a package runs its code, so a project's package is used only in a trusted workspace.
"""

from __future__ import annotations

import json
from pathlib import Path

from stet_ls.validators.checkers import programs
from stet_ls.validators.checkers.checker_request import (
    CheckerRequest,
    CheckerResult,
    ToolCommand,
    Unavailable,
    run_tool_on,
    safe_name,
)
from stet_ls.validators.checkers.output_parsing import distinct, spanned
from stet_ls.validators.checkers.tool_process import ToolResult
from stet_ls.validators.source import Source, Span

# Prints [[start, end, message]] in UTF-16 units.
_OXC = """
const {parseSync} = require(process.argv[1]);
const text = require('fs').readFileSync(0, 'utf8');
const place = e => (e.labels || [])[0] || {start: 0, end: 0};
// Markup is common in .js too, as every bundler takes it.
const options = /\\.[cm]?js$/.test(process.argv[2]) ? {lang: 'jsx'} : {};
const errors = parseSync(process.argv[2], text, options).errors.map(e => [place(e).start, place(e).end, e.message]);
process.stdout.write(JSON.stringify(errors));
"""
_TYPESCRIPT = """
const ts = require(process.argv[1]);
const text = require('fs').readFileSync(0, 'utf8');
const file = ts.createSourceFile(process.argv[2], text, ts.ScriptTarget.Latest, false);
const words = e => ts.flattenDiagnosticMessageText(e.messageText, ' ');
const errors = file.parseDiagnostics.map(e => [e.start, e.start + e.length, words(e)]);
process.stdout.write(JSON.stringify(errors));
"""
_SCRIPTS = {"oxc-parser": _OXC, "typescript": _TYPESCRIPT}


def oxc(request: CheckerRequest) -> CheckerResult:
    """The errors of oxc's parser, loaded into Node."""
    return _by(request, "oxc-parser")


def typescript(request: CheckerRequest) -> CheckerResult:
    """The errors of TypeScript's own parser."""
    return _by(request, "typescript")


def _by(request: CheckerRequest, package: str) -> CheckerResult:
    folder = _package(request, package)
    if folder is None:
        return Unavailable(f"{package} is not set, and in no trusted workspace", missing=True)
    node = programs.find("node", request.tools, name="node", path=request.path)
    if node is None or not request.tools.allows(package):
        return Unavailable("node is not installed", missing=True)

    def read(result: ToolResult) -> CheckerResult:
        try:
            errors = json.loads(result.stdout)
            return distinct(
                spanned(request.source, message, _span(request.source, start, end), package)
                for start, end, message in errors
            )
        except (ValueError, TypeError):
            return Unavailable(f"{package} failed (exit status {result.status})")

    arguments = ("-e", _SCRIPTS[package], "--", str(folder), safe_name(request.path, request.language))
    # A user's choice for `typescript` is the package, not the program: node is started by its path.
    return run_tool_on(
        request,
        ToolCommand("node", arguments, program=str(node.path), environment=(("STET_PACKAGE", _stamp(folder)),)),
        read,
    )


def _package(request: CheckerRequest, package: str) -> Path | None:
    """The folder of the package that the user set, else that of a trusted workspace."""
    chosen = dict(request.tools.programs).get(package)
    if chosen is not None:
        return chosen.expanduser() if chosen.expanduser().exists() else None
    return programs.of_workspace(f"node_modules/{package}", request.path, request.tools)


def _stamp(folder: Path) -> str:
    """A value that changes with the installed version."""
    try:
        return str((folder / "package.json").stat().st_mtime_ns)
    except OSError:
        return ""


def _span(source: Source, start: int, end: int) -> Span:
    """Bytes from offsets in UTF-16 units, in a text whose line ends are not normalized."""
    units = source.text.encode("utf-16-le", "surrogatepass")

    def at(offset: int) -> int:
        return len(units[: 2 * offset].decode("utf-16-le", "surrogatepass").encode("utf-8", "surrogatepass"))

    return Span(at(start), at(max(start, end)))
