"""Parsers from npm. Loading one runs its code, so it takes the user's word. Packages of two lines play them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.processes.tools import needs

from stet_ls.validators.checkers.toolbox import Toolbox
from stet_ls.validators.findings import SyntaxResult
from stet_ls.validators.source import Source
from stet_ls.validators.syntax import check

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


def judge(path: Path, tools: Toolbox, language: str = "typescript") -> SyntaxResult:
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

    @pytest.mark.parametrize("way", ["dots", "link", "link of the file", "link to its tools", "link from elsewhere"])
    def test_nothing_runs_next_to_a_trusted_folder(self, tmp_path: Path, package: str, code: str, way: str) -> None:
        """A name leads where it leads: trust is of the place, not of its spelling."""
        good, evil = tmp_path / "good", tmp_path / "evil"
        good.mkdir()
        install(evil, package, code)
        (evil / "a.ts").touch()
        path = good / "a.ts"
        if way == "dots":
            path = good / ".." / "evil" / "a.ts"
        elif way == "link":
            (good / "lib").symlink_to("../evil")
            path = good / "lib" / "a.ts"
        elif way == "link of the file":
            path.symlink_to("../evil/a.ts")
        elif way == "link to its tools":
            (good / "node_modules").symlink_to(evil / "node_modules")
        else:
            (good / "b.ts").touch()
            (evil / "b.ts").symlink_to(good / "b.ts")
            path = evil / "b.ts"
        verdict = judge(path, Toolbox(disabled=OTHERS, trusted_roots=(good,)))
        assert verdict.source == "tree-sitter"
        assert not (evil / "ran").exists()

    @pytest.mark.parametrize("way", ["path", "root"])
    def test_a_trusted_workspace_may_be_reached_by_a_link(
        self, tmp_path: Path, package: str, code: str, way: str
    ) -> None:
        real, link = tmp_path / "real", tmp_path / "link"
        install(real, package, code)
        link.symlink_to(real)
        path, root = (link, real) if way == "path" else (real, link)
        assert judge(path / "a.ts", Toolbox(disabled=OTHERS, trusted_roots=(root,))).source == package

    def test_chosen_by_the_user(self, tmp_path: Path, package: str, code: str) -> None:
        folder = install(tmp_path / "mine", package, code)
        tools = Toolbox(disabled=OTHERS, programs=((package, folder),))
        assert judge(tmp_path / "project" / "a.ts", tools).source == package


def test_oxc_accepts_markup_in_a_js_file(tmp_path: Path) -> None:
    install(tmp_path, "oxc-parser", OXC)
    verdict = judge(tmp_path / "a.js", Toolbox(disabled=OTHERS, trusted_roots=(tmp_path,)), "javascript")
    assert verdict.findings[-1].message == "a.js jsx"
