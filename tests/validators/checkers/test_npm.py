"""Parsers from npm. Loading one runs its code, so it takes the user's word. Packages of two lines play them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.tools import needs

from stet_ls.validators.findings import Verdict
from stet_ls.validators.source import Source
from stet_ls.validators.syntax import check
from stet_ls.validators.toolbox import Toolbox

pytestmark = needs("node")

TEXT = "let é = '😀' bad\n"
AT = TEXT.index("bad") + 1  # in UTF-16 units the emoji counts twice
OXC = f"""
const labels = [{{start: {AT}, end: {AT + 3}}}];
exports.parseSync = (name, text, options) => ({{errors: [{{message: name + ' ' + options.lang, labels}}]}});
"""
TYPESCRIPT = f"""
exports.ScriptTarget = {{Latest: 99}};
exports.flattenDiagnosticMessageText = text => text;
exports.createSourceFile = name => ({{parseDiagnostics: [{{start: {AT}, length: 3, messageText: name}}]}});
"""
OTHERS = frozenset({"oxlint"})


def install(workspace: Path, package: str, code: str) -> Path:
    folder = workspace / "node_modules" / package
    folder.mkdir(parents=True)
    ran = f"require('fs').writeFileSync({str(workspace / 'ran')!r}, '');\n"
    (folder / "index.js").write_text(ran + code)
    return folder


def judge(path: Path, tools: Toolbox, language: str = "typescript") -> Verdict:
    return check(Source(TEXT), language, path=path, tools=tools, deadline=30)


@pytest.mark.parametrize(("package", "code"), [("oxc-parser", OXC), ("typescript", TYPESCRIPT)])
class TestPackages:
    def test_of_a_trusted_workspace(self, tmp_path: Path, package: str, code: str) -> None:
        install(tmp_path, package, code)
        path = tmp_path / "src" / "a.ts"
        verdict = judge(path, Toolbox(disabled=OTHERS, trusted_roots=(tmp_path,)))
        assert (verdict.source, verdict.authoritative) == (package, True)
        finding = verdict.findings[-1]
        assert finding.message.startswith("a.ts")
        assert TEXT.encode()[finding.span.start : finding.span.end] == b"bad"

    def test_of_another_workspace_nothing_runs(self, tmp_path: Path, package: str, code: str) -> None:
        install(tmp_path, package, code)
        verdict = judge(tmp_path / "a.ts", Toolbox(disabled=OTHERS, trusted_roots=(tmp_path / "elsewhere",)))
        assert verdict.source == "tree-sitter"
        assert not (tmp_path / "ran").exists()

    def test_chosen_by_the_user(self, tmp_path: Path, package: str, code: str) -> None:
        folder = install(tmp_path / "mine", package, code)
        tools = Toolbox(disabled=OTHERS, programs=((package, folder),))
        assert judge(tmp_path / "project" / "a.ts", tools).source == package


def test_markup_in_a_js_file_is_no_error_of_oxcs(tmp_path: Path) -> None:
    install(tmp_path, "oxc-parser", OXC)
    verdict = judge(tmp_path / "a.js", Toolbox(disabled=OTHERS, trusted_roots=(tmp_path,)), "javascript")
    assert verdict.findings[-1].message == "a.js jsx"
