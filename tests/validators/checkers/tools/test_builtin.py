"""The languages' own parsers. A tool that this machine lacks is skipped by name; what it prints is on record below."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import pytest
from support.processes.tools import needs

from stet_ls.validators import lint
from stet_ls.validators.checkers.programs import find
from stet_ls.validators.checkers.toolbox import BUILT_IN, Toolbox
from stet_ls.validators.findings import Status, SyntaxResult
from stet_ls.validators.source import Source
from stet_ls.validators.syntax import check

OXLINT = ("oxlint",)
needs_oxlint = pytest.mark.skipif(
    find("oxlint", BUILT_IN, name="oxlint", path=None) is None, reason="oxlint is not installed"
)


def judge(text: str, language: str, path: Path | None = None, *, without: tuple[str, ...] = ()) -> SyntaxResult:
    tools = Toolbox(disabled=frozenset(without))
    return check(Source(text), language, path=path, deadline=30, tools=tools)


def said(verdict: SyntaxResult) -> list[tuple[str, int, str]]:
    return [(one.message, one.line, one.source) for one in (*verdict.findings, *verdict.echoes)]


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, script: str) -> None:
    """Puts a tool of that name before all others on PATH."""
    tool = folder / name
    tool.write_text("#!/bin/sh\n" + script)
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


@needs("node")
class TestNode:
    @pytest.mark.parametrize(
        ("text", "message", "line"),
        [
            ("let a = 1;\nlet a = 2;\n", "Identifier 'a' has already been declared", 1),
            ("import a from 'b';\nlet x = ;\n", "Unexpected token ';'", 1),
            ("function f() {\n", "Unexpected end of input", 1),
        ],
    )
    def test_decides(self, text: str, message: str, line: int) -> None:
        verdict = judge(text, "javascript", without=OXLINT)
        assert (verdict.source, verdict.authoritative) == ("node", True)
        assert (message, line, "node") in said(verdict)

    @pytest.mark.parametrize(
        "text",
        ["import a from 'b';\nawait a();\n", "await f();\n", "return 1;\n", "#!/usr/bin/env node\nrequire('x');\n"],
    )
    def test_accepts_scripts_and_modules(self, text: str) -> None:
        verdict = judge(text, "javascript", without=OXLINT)
        assert (verdict.status, verdict.source) == (Status.OK, "node")

    def test_believes_the_extension(self) -> None:
        assert judge("await f();\n", "javascript", Path("a.cjs"), without=OXLINT).status is Status.ERROR
        assert judge("return 1;\n", "javascript", Path("a.mjs"), without=OXLINT).status is Status.ERROR

    def test_does_not_run_on_markup(self) -> None:
        assert judge("const a = <b c={1}>d</b>;\n", "javascript", without=OXLINT).source == "tree-sitter"

    def test_runs_nothing(self, tmp_path: Path) -> None:
        mark = tmp_path / "mark"
        judge(f"require('fs').writeFileSync({str(mark)!r}, 'x');\n", "javascript", without=OXLINT)
        assert not mark.exists()


@needs_oxlint
class TestOxlint:
    """The extra `javascript`."""

    @pytest.mark.parametrize(
        ("language", "name", "text", "message", "line"),
        [
            ("javascript", "a.js", "let a = 1;\nlet a = 2;\n", "Identifier `a` has already been declared", 1),
            ("javascript", "a.mjs", "var x = 1;\nwith (x) {}\n", "'with' statements are not allowed", 1),
            ("javascriptreact", "a.jsx", "let b = <b>c</i>;\n", "Expected corresponding JSX closing tag for 'b'.", 0),
            ("typescript", "a.ts", "let é = '😀'; function f(a: number {\n}\n", "Expected `,` or `)` but found `{`", 0),
            ("typescript", None, "let a: number = ;\n", "Unexpected token", 0),
            ("typescriptreact", "a.tsx", "let a = <b>;\n", "Unexpected token", 0),
        ],
    )  # fmt: skip
    def test_decides(self, language: str, name: str | None, text: str, message: str, line: int) -> None:
        verdict = judge(text, language, Path(name) if name else None)
        assert (verdict.source, verdict.authoritative) == ("oxlint", True)
        assert (message, line, "oxlint") in said(verdict)

    @pytest.mark.parametrize(
        ("language", "text"),
        [
            ("javascript", "const a = <b c={1}>d</b>;\n"),
            ("javascript", "#!/usr/bin/env node\nrequire('x');\n"),
            ("javascript", "import a from 'b';\nawait a();\n"),
            ("typescript", "const a = <T,>(x: T) => x as unknown satisfies unknown;\n"),
            ("typescript", "declare module 'a' { export function f(): void; }\n"),
            ("typescript", ""),
        ],
    )
    def test_accepts_valid_code(self, language: str, text: str) -> None:
        verdict = judge(text, language)
        assert (verdict.status, verdict.source) == (Status.OK, "oxlint"), said(verdict)

    def test_places_are_bytes(self) -> None:
        text = "let é = '😀'; let (;\n"
        verdict = judge(text, "javascript")
        finding = (*verdict.findings, *verdict.echoes)[-1]
        assert text.encode()[finding.span.start : finding.span.end] == b";"

    def test_no_settings_of_others_are_looked_for(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """They could name plug-ins, which are programs."""
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        (tmp_path / ".oxlintrc.json").write_text("this is no JSON: reading it fails")
        assert judge("let a = 1;\n", "typescript", tmp_path / "a.ts").source == "oxlint"

    def test_lints(self) -> None:
        found = lint.check(Source("export function f(a) {\n  debugger;\n  return a;\n}\n"), "javascript", deadline=30)
        assert found is not None
        assert [(one.code, one.line, one.kind) for one in found] == [("eslint(no-debugger)", 1, "lint")]

    def test_a_text_too_deep_for_it_is_left_to_the_others(self) -> None:
        verdict = judge("[" * 50_000, "typescript")
        assert (verdict.status, verdict.source) == (Status.ERROR, "tree-sitter")
        assert "oxlint was stopped by SIG" in verdict.reason


@needs("javac")
class TestJavac:
    def test_decides(self) -> None:
        text = 'class A {\n    String é = "😀"; public public int f() { return 1 }\n}\n'
        verdict = judge(text, "java", Path("A.java"))
        assert verdict.authoritative
        assert said(verdict)[-2:] == [("repeated modifier", 1, "javac"), ("';' expected", 1, "javac")]
        assert [text.encode()[one.span.start : one.span.end] for one in verdict.findings[-2:]] == [b"public", b""], (
            "where the semicolon goes"
        )

    def test_other_classes_are_not_its_business(self) -> None:
        text = "package p;\nimport q.R;\npublic class B extends R { int f() { return missing; } }\nclass String {}\n"
        verdict = judge(text, "java", Path("A.java"))
        assert (verdict.status, verdict.source) == (Status.OK, "javac")

    def test_no_annotation_processor_runs_and_nothing_is_written(self, tmp_path: Path) -> None:
        judge("@interface A {}\n", "java", tmp_path / "A.java")
        assert list(tmp_path.iterdir()) == []

    def test_it_does_not_run_while_the_user_types(self) -> None:
        assert check(Source("class A {}\n"), "java", deadline=1.0).source == "tree-sitter"


@needs("rustfmt")
class TestRustfmt:
    def test_decides(self) -> None:
        verdict = judge("fn f() {\n    let x = ;\n}\n", "rust")
        assert said(verdict) == [("expected expression, found `;`", 1, "rustfmt")]
        assert verdict.authoritative
        assert judge("fn f() {   let x=1;   }\n", "rust").status is Status.OK

    def test_knows_the_crates_edition(self, tmp_path: Path) -> None:
        text = "fn f() { let async = 1; }\n"
        assert judge(text, "rust").status is Status.ERROR
        (tmp_path / "Cargo.toml").write_text('[package]\nname = "x"\nedition = "2015"\n')
        assert judge(text, "rust", tmp_path / "src" / "main.rs").status is Status.OK


@needs("gofmt")
def test_gofmt_decides() -> None:
    verdict = judge("package p\n\nfunc f() {\n\tx :=\n}\n", "go")
    assert ("expected operand, found '}'", 4, "gofmt") in said(verdict)
    assert judge("package p\nfunc  f( )  { }\n", "go").source == "gofmt"


class TestTools:
    """Tools of other machines, played by scripts that print what the real ones print."""

    def test_gofmts_words_are_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        words = (
            "<standard input>:4:3: expected operand, found 'é'\\n<standard input>:4:3: expected operand, found 'é'\\n"
        )
        install(tmp_path, monkeypatch, "gofmt", f'cat > /dev/null; printf "{words}" >&2; exit 2\n')
        verdict = judge('package p\n\nfunc f() {\n\té := "é"\n}\n', "go")
        (finding,) = verdict.findings
        assert finding.line == 3
        assert verdict.source == "gofmt"

    def test_after_any_other_failure_of_a_tool_the_grammar_judges(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """rustup's stand-in without a toolchain, for one."""
        install(tmp_path, monkeypatch, "rustfmt", "echo 'error: rustup could not choose a version' >&2; exit 1\n")
        verdict = judge("fn f() {}\n", "rust")
        assert (verdict.status, verdict.source, verdict.authoritative) == (Status.OK, "tree-sitter", False)

    def test_a_tool_that_hangs_leaves_it_to_the_grammar(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        install(tmp_path, monkeypatch, "gofmt", "sleep 60\n")
        started = time.monotonic()
        verdict = check(Source("package p\n\nfunc f( {\n}\n"), "go", deadline=2.0)
        assert time.monotonic() - started < 50
        assert (verdict.status, verdict.source) == (Status.ERROR, "tree-sitter")

    def test_no_tool_leaves_it_to_the_grammar(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        assert judge("let a = ;\n", "javascript", without=OXLINT).source == "tree-sitter"
        assert judge("x = 1\n", "python").source == "ruff", "ruff came with the package"
