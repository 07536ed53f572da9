"""Verdicts, by whatever judge there is, and what an edit can be blamed for."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from stet_ls.validators.checkers.toolbox import Toolbox
from stet_ls.validators.findings import Status, SyntaxResult
from stet_ls.validators.languages import LANGUAGES
from stet_ls.validators.source import Source
from stet_ls.validators.syntax import broken_by, check, check_fast

PARSED = [row.id for row in LANGUAGES if row.grammar]

VALID = {
    "python": "def f(a):\n    return [a, (1, 2)]\n\n\nclass A:\n    x = {'b': f(3)}\n",
    "javascript": "export function f(a) {\n  return [a, (1, 2)];\n}\nconst o = { b: f(3) };\n",
    "javascriptreact": "const A = (p) => {\n  return <b c={p.d}>{[1, 2]}</b>;\n};\n",
    "typescript": "export function f<T>(a: T): T[] {\n  return [a];\n}\nconst o: { b: number } = { b: f(3)[0] };\n",
    "typescriptreact": "const A = (p: P) => {\n  return <b c={p.d}>{[1, 2]}</b>;\n};\n",
    "go": 'package p\n\nimport "fmt"\n\nfunc f(a int) []int {\n\tfmt.Println(a)\n\treturn []int{a, (1)}\n}\n',
    "rust": "fn f(a: i32) -> Vec<i32> {\n    let b = [1, (2)];\n    vec![a, b[0]]\n}\n",
    "java": "package p;\nclass A {\n    int f(int a) {\n        int[] b = {1, (2)};\n        return b[a];\n    }\n}\n",
    "c": "int f(int a) {\n  int b[2] = {1, (2)};\n  return b[a];\n}\n",
    "cpp": "template <class T> T* g(T a);\nclass A {\n public:\n  int f(int a) { return g<int>(a)[0]; }\n};\n",
    "csharp": "class A {\n    int F(int a) {\n        int[] b = {1, (2)};\n        return b[a];\n    }\n}\n",
    "shellscript": 'f() {\n  if [[ "$1" == a ]]; then\n    echo "$(date)"\n  fi\n}\n',
    "json": '{"a": [1, 2, {"b": null}]}\n',
    "yaml": "a:\n  - b: [1, 2]\n  - {c: d}\n",
    "toml": "[a]\nb = [1, 2]\nc = {d = 'e'}\n",
    "html": "<!doctype html>\n<p class='a'>b<br></p>\n",
    "css": "a:hover, .b {\n  color: rgb(1, 2, 3);\n}\n",
    "ruby": "class A\n  def f(a)\n    { b: [a, (1)] }\n  end\nend\n",
    "php": "<?php\nfunction f($a) {\n  return [$a, (1)];\n}\n",
    "kotlin": "class A(val x: Int) {\n  fun f(a: Int): List<Int> { return listOf(a, x) }\n}\n",
    "swift": "struct A {\n  func f(a: Int) -> [Int] { return [a, (1)] }\n}\n",
    "lua": "local function f(a)\n  return { a, (1) }\nend\n",
}


@pytest.mark.parametrize("language", PARSED)
def test_whole_code_is_ok(language: str) -> None:
    verdict = check(Source(VALID[language]), language, deadline=20)
    assert verdict.status is Status.OK
    assert verdict.findings == ()


@pytest.mark.parametrize("language", PARSED)
def test_every_closing_bracket_that_is_deleted_is_missed(language: str) -> None:
    """Of YAML's and HTML's texts a part may go and leave another whole text."""
    text = VALID[language]
    whole = check(Source(text), language, deadline=20)
    for at in (at for at, character in enumerate(text) if character in ")]}"):
        source = Source(text[:at] + text[at + 1 :])
        verdict = check(source, language, deadline=20)
        assert verdict.status is Status.ERROR, source.text
        assert broken_by(whole, verdict)
        for finding in verdict.findings:
            assert finding.message
            assert source.whole.contains(finding.span)
            assert finding.line == source.line_of(finding.span.start)


@pytest.mark.parametrize("language", PARSED)
@pytest.mark.parametrize("text", ["", "\n", " \t", "\ufeff"])
def test_an_empty_text_is_valid(language: str, text: str) -> None:
    if language == "go":
        text = "package p\n" + text.replace("\ufeff", "")  # a Go file without a package clause is one
    assert check(Source(text), language, deadline=20).status is Status.OK


@pytest.mark.parametrize("language", ["klingon", "plaintext"])
def test_without_a_grammar_the_verdict_is_unknown_with_its_reason(language: str) -> None:
    verdict = check(Source("x ((("), language)
    assert verdict.status is Status.UNKNOWN
    assert verdict.reason.startswith("not parsed: no grammar for ")
    assert not verdict.may_block
    assert not verdict.findings


@pytest.mark.parametrize("language", ["python", "typescript", "c", "json", "shellscript"])
def test_binary_data_is_not_source(language: str) -> None:
    verdict = check(Source("x = 1\n\0\x01\x02"), language, deadline=20)
    assert verdict.status is Status.ERROR
    assert any("binary" in finding.message for finding in check_fast(Source("\0"), language, deadline=20).findings)


def test_a_timeout_is_reported_as_unknown() -> None:
    verdict = check_fast(Source("x = [" + "1, " * 400_000 + "]\n"), "python", deadline=0.01)
    assert verdict.status is Status.UNKNOWN
    assert "within 0.01 s" in verdict.reason


@pytest.mark.parametrize("language", ["python", "javascript", "typescript", "rust", "java", "csharp"])
@pytest.mark.parametrize(
    "text",
    ["(" * 50_000, "x = [" + "1, " * 350_000 + "]", "Sure, here's it (mostly), isn't it? " * 3000],
    ids=["deep", "one-line", "prose"],
)
def test_the_deadline_holds_for_everything_together(language: str, text: str) -> None:
    started = time.monotonic()
    check(Source(text), language, deadline=1.0)
    assert time.monotonic() - started < 30, "what there would be to do takes minutes"


def test_c_and_cpp_only_advise() -> None:
    """Their grammars reject a third of the real files: macros are no syntax."""
    verdict = check(Source("int f( { return 0; }\n"), "cpp", tools=Toolbox(disabled=frozenset({"clang"})))
    assert verdict.status is Status.ERROR
    assert not verdict.may_block
    assert check(Source("fn f( { }\n"), "java").may_block


class TestPython:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("class A:\n    x: Optional[int]  None\n", "Simple statements must be separated by newlines or semicolons"),
            ("def f():\nreturn 1\n", "Expected an indented block after function definition"),
            ("return 1\n", "`return` statement outside of a function/method"),
            ("for x in y:\n    pass\nbreak\n", "`break` outside loop"),
            ("break  # noqa\n", "`break` outside loop"),
            ("print 'x'\n", "Simple statements must be separated by newlines or semicolons"),
        ],
    )
    def test_ruff_has_the_last_word(self, text: str, message: str) -> None:
        verdict = check(Source(text), "python", deadline=20)
        assert (verdict.source, verdict.authoritative, verdict.status) == ("ruff", True, Status.ERROR)
        assert message in [finding.message for finding in verdict.findings]

    def test_style_is_not_syntax(self) -> None:
        text = "import os, sys\nx=undefined_name;y = lambda: 0\n"
        assert check(Source(text), "python", deadline=20).status is Status.OK

    def test_an_unclosed_bracket_is_reported_first(self) -> None:
        verdict = check(Source("def f(a, b:\n    return a\n"), "python", deadline=20)
        assert verdict.findings[0].message == "line 1: '(' is never closed; expected ')' before 'return' (line 2)"
        assert verdict.echoes[0].source == "ruff"

    @pytest.mark.parametrize(
        ("text", "column_bytes"),
        [
            ("é😀 = 1; x = (\n", None),
            ("\ufeffx = = 1\n", 7),
            ("s = '😀'; y = = 1\n", 16),
            ("s = '\ud83d'; y = = 1\n", 15),
        ],
    )
    def test_places_are_exact_beyond_ascii(self, text: str, column_bytes: int | None) -> None:
        source = Source(text)
        verdict = check(source, "python", deadline=20)
        assert verdict.status is Status.ERROR
        if column_bytes is not None:
            assert verdict.findings[0].span.start == column_bytes

    @pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
    def test_lines_are_counted_by_every_line_end(self, line_end: str) -> None:
        text = line_end.join(["a = '\u2028\f'", "b = 1", "c = = 2", ""])
        (finding,) = check(Source(text), "python", deadline=20).findings
        assert finding.line == 2

    def test_the_projects_python_version_counts(self, tmp_path: Path) -> None:
        (tmp_path / "pyproject.toml").write_text("[project]\nrequires-python = '>=3.9'\n")
        source = Source("match x:\n    case 1:\n        pass\n")
        assert check(source, "python", path=tmp_path / "a" / "b.py", deadline=20).status is Status.ERROR
        assert check(source, "python", deadline=20).status is Status.OK

    def test_a_stub_file_is_read_as_one(self, tmp_path: Path) -> None:
        source = Source("def f(x: int) -> None: ...\n")
        assert check(source, "python", path=tmp_path / "a.pyi", deadline=20).status is Status.OK


class TestWithoutRuff:
    """Python's own parser stands in, but its version is not the project's."""

    @pytest.fixture(autouse=True)
    def _no_ruff(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """An environment into which ruff was not installed."""
        python = tmp_path / "python"
        python.symlink_to(sys.executable)
        monkeypatch.setattr(sys, "executable", str(python))
        monkeypatch.setitem(sys.modules, "ruff", None)

    def test_an_error_that_only_ast_finds_is_advice(self) -> None:
        verdict = check(Source("def f():\nreturn 1\n"), "python", deadline=20)
        assert (verdict.status, verdict.source, verdict.may_block) == (Status.ERROR, "ast", False)

    def test_an_error_that_both_find_is_blocking(self) -> None:
        verdict = check(Source("x = (1\n"), "python", deadline=20)
        assert (verdict.status, verdict.source, verdict.may_block) == (Status.ERROR, "tree-sitter", True)

    @pytest.mark.parametrize("text", ["(" * 50_000, "x = " + "-" * 100_000 + "1", "x" + ".a" * 100_000])
    def test_it_cannot_take_the_process_down(self, text: str) -> None:
        assert check(Source(text), "python", deadline=10).status in (Status.ERROR, Status.OK)

    def test_whole_code_is_ok(self) -> None:
        assert check(Source(VALID["python"]), "python", deadline=20).status is Status.OK


class TestBlame:
    def blame(self, before: str, after: str, language: str = "typescript") -> list[str]:
        verdicts = [check_fast(Source(text), language, deadline=20) for text in (before, after)]
        return [finding.message for finding in broken_by(*verdicts)]

    def test_of_a_broken_file_only_what_is_new_counts(self) -> None:
        before = "const a = {b: 1 c: 2};\n\nfunction f() { return 1; }\n"
        assert self.blame(before, before.replace("return 1", "return 2")) == []
        assert self.blame(before, before.replace("return 1", "return +")) == ["unexpected '+'"]

    def test_fixing_the_first_of_two_errors_breaks_nothing(self) -> None:
        before = "const a = {b: 1 c: 2};\n\nfunction f() { return 1; }\n\nconst d = [1 2];\n"
        assert self.blame(before, before.replace("1 c", "1, c")) == []

    def test_moving_an_error_breaks_nothing(self) -> None:
        before = "const a = {b: 1 c: 2};\n\nfunction f() {\n  g((1);\n}\n"
        assert self.blame(before, "// one\n// two\n" + before) == []

    def test_a_second_copy_of_an_error_is_new(self) -> None:
        before = "const a = {b: 1 c: 2};\n"
        assert len(self.blame(before, before + before)) == 1

    def test_python_too(self) -> None:
        before = Source("x = = 1\n\n\ndef f():\n    return 1\n")
        good, bad = Source(before.text.replace("return 1", "return 2")), Source(before.text.replace("f()", "f("))
        known = check(before, "python", deadline=20)
        assert broken_by(known, check(good, "python", deadline=20)) == ()
        assert broken_by(known, check(bad, "python", deadline=20))

    def test_the_words_of_two_tools_are_not_compared(self) -> None:
        """The native checker ran out of time once: the same single error must not look like a new one."""
        one = check_fast(Source("x = = 1\n"), "python", deadline=20)
        other = check(Source("x = = 1\n"), "python", deadline=20)
        assert one.source != other.source
        assert broken_by(one, other) == broken_by(other, one) == ()
        assert broken_by(SyntaxResult(Status.OK, "python", source="ruff"), one)
        assert broken_by(SyntaxResult(Status.UNKNOWN, "python"), one)


@pytest.mark.parametrize(
    "text",
    ["def f(a, b:\n    return a\n", "x = [1, 2\ny = 3\nz = 4\n", 'def g():\n    x = "abc\n    return x\n', "x = (1\n"],
)
def test_one_mistake_is_reported_once(text: str) -> None:
    """Ruff alone has up to five words about each: behind an open bracket it stumbles over whole code."""
    verdict = check(Source(text), "python", deadline=20)

    (finding,) = verdict.findings
    assert finding.source == "tree-sitter"
    assert verdict.authoritative
    assert verdict.source == "ruff"
    assert {echo.source for echo in verdict.echoes} == {"ruff"}


def test_a_second_mistake_is_reported_too() -> None:
    verdict = check(Source("x = 1 +\n\ny = (2\n"), "python", deadline=20)

    assert {(finding.line, finding.source) for finding in verdict.findings} == {(0, "ruff"), (2, "tree-sitter")}


def test_an_echo_still_counts_when_texts_are_compared() -> None:
    """The edit breaks a text more that was broken before: no one may call it harmless."""
    before = check(Source("x = (1\ny = 3\n"), "python", deadline=20)
    after = check(Source("x = (1\ny = 3\n  z = 4\n"), "python", deadline=20)

    assert [finding.message for finding in before.findings] == [finding.message for finding in after.findings]
    assert broken_by(before, after)
