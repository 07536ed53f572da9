"""What an edit changed is formatted as its project formats; all else keeps its bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.processes.tools import needs

from stet_ls.validators.checkers.formatting import format_changed
from stet_ls.validators.checkers.toolbox import AddedTool, Role, Toolbox
from stet_ls.validators.source import Source, Span

RUFF = "[tool.ruff]\nline-length = 60\n[tool.ruff.format]\nquote-style = 'single'\n"


def changed(marked: str) -> tuple[Source, list[Span]]:
    """The text without its marks, and the spans between « and »."""
    spans, start, text = [], 0, ""
    for char in marked:
        if char == "«":
            start = len(text.encode())
        elif char == "»":
            spans.append(Span(start, len(text.encode())))
        else:
            text += char
    return Source(text), spans


def formatted(marked: str, language: str, path: Path, tools: Toolbox = Toolbox()) -> str | None:  # noqa: B008
    source, spans = changed(marked)
    found = format_changed(source, spans, language, path=path, tools=tools, deadline=30)
    return None if found is None else found.text


@pytest.fixture
def python(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(RUFF)
    return tmp_path / "a.py"


class TestPython:
    def test_the_projects_own_settings_count(self, python: Path) -> None:
        text = 'a = 1\n\n\n«def f(x,y):\n    return g(x, "b"  , [y for y in range(x)], some_longer_name)»\n\n\nb = 2\n'
        assert formatted(text, "python", python) == (
            "a = 1\n\n\ndef f(x, y):\n    return g(\n        x, 'b', [y for y in range(x)], some_longer_name\n    )\n"
            "\n\nb = 2\n"
        )

    def test_a_file_that_was_not_formatted_is_left_alone(self, python: Path) -> None:
        assert formatted('a = "x"\n\n\n«def f(x,y):\n    return 1»\n', "python", python) is None

    def test_a_project_that_shows_no_formatter_is_left_alone(self, python: Path) -> None:
        (python.parent / "pyproject.toml").write_text("[project]\nname = 'a'\n")
        assert formatted("«f( 1)»\n", "python", python) is None

    def test_blacks_settings_are_ruffs(self, python: Path) -> None:
        black = "[tool.black]\nline-length = 18\nskip-string-normalization = true\n"
        (python.parent / "pyproject.toml").write_text(black)
        text = "«function( 'a',   \"b\", 3)»\n"
        assert formatted(text, "python", python) == "function(\n    'a', \"b\", 3\n)\n"

    def test_lines_are_added_between_the_edit_and_the_code_around_it(self, python: Path) -> None:
        assert formatted("a = 1\n«def f(): pass»\nb = 2\n", "python", python) == (
            "a = 1\n\n\ndef f():\n    pass\n\n\nb = 2\n"
        )

    def test_several_places(self, python: Path) -> None:
        text = "«import  os\n»import sys\n\nprint(os, sys)\n\n\n«x = {'a':1}\n»\n\ny = 2\n"
        assert formatted(text, "python", python) == (
            "import os\nimport sys\n\nprint(os, sys)\n\n\nx = {'a': 1}\n\n\ny = 2\n"
        )

    @pytest.mark.parametrize(
        ("before", "after"), [("«f( 1)»\r\na = 1\r\n", "f(1)\r\na = 1\r\n"), ("\ufeff«f( 1)»\n", "\ufefff(1)\n")]
    )
    def test_line_ends_and_a_byte_order_mark_stay(self, python: Path, before: str, after: str) -> None:
        assert formatted(before, "python", python) == after

    @pytest.mark.parametrize("text", ["«def f(:»\n", "«f(1)»\n", "a\r«f( 1)»\n", "«f( 1)»\n\0"])
    def test_text_that_cannot_or_need_not_be_formatted_is_unchanged(self, python: Path, text: str) -> None:
        assert formatted(text, "python", python) is None

    def test_a_form_feed_does_not_end_a_line(self, python: Path) -> None:
        assert formatted("a = '\x0c\u2028'\n«f( 1)»\n", "python", python) == "a = '\x0c\u2028'\nf(1)\n"


@needs("gofmt")
def test_go_is_always_formatted(tmp_path: Path) -> None:
    text = "package p\n\n«func f(a int)int{\n  return a\n}»\n"
    assert formatted(text, "go", tmp_path / "a.go") == "package p\n\nfunc f(a int) int {\n\treturn a\n}\n"


@needs("rustfmt")
def test_rust_is_formatted_in_a_crate(tmp_path: Path) -> None:
    path = tmp_path / "src" / "a.rs"
    text = "fn a() {}\n\n«fn f()->i32{ 1 }»\n"
    assert formatted(text, "rust", path) is None
    (tmp_path / "Cargo.toml").write_text('[package]\nedition = "2021"\n')
    assert formatted(text, "rust", path) == "fn a() {}\n\nfn f() -> i32 {\n    1\n}\n"
    (tmp_path / "rustfmt.toml").write_text("tab_spaces = 2\n")
    assert formatted(text, "rust", path) == "fn a() {}\n\nfn f() -> i32 {\n  1\n}\n"


@needs("clang-format")
def test_cpp_is_formatted_by_its_style_file(tmp_path: Path) -> None:
    text = "int a;\n«int f( int x ){return x ;}»\n"
    assert formatted(text, "cpp", tmp_path / "a.cpp") is None
    (tmp_path / ".clang-format").write_text("BasedOnStyle: LLVM\n")
    assert formatted(text, "cpp", tmp_path / "a.cpp") == "int a;\nint f(int x) { return x; }\n"


class TestPrettier:
    """Its plug-ins are code of the project. A script that does what it is asked plays it."""

    @pytest.fixture
    def workspace(self, tmp_path: Path) -> Path:
        tool = tmp_path / "node_modules" / ".bin" / "prettier"
        tool.parent.mkdir(parents=True)
        tool.write_text(f"#!/bin/sh\necho run >> {tmp_path}/ran\nsed 's/  */ /g'\n")
        tool.chmod(0o755)
        (tmp_path / ".prettierrc").write_text("{}")
        return tmp_path

    def test_a_trusted_workspaces_own(self, workspace: Path) -> None:
        tools = Toolbox(trusted_roots=(workspace,))
        assert formatted("let a;\n«let   b;»\n", "javascript", workspace / "a.js", tools) == "let a;\nlet b;\n"

    def test_not_that_of_another(self, workspace: Path, tmp_path: Path) -> None:
        tools = Toolbox(trusted_roots=(tmp_path / "elsewhere",))
        assert formatted("let a;\n«let   b;»\n", "javascript", workspace / "a.js", tools) is None
        assert not (workspace / "ran").exists()


def test_a_users_own_formatter(tmp_path: Path) -> None:
    tool = AddedTool("upper", "klingon", Role.FORMAT, ("tr", "a-z", "A-Z"))
    tools = Toolbox(added=(tool,))
    assert formatted("A\n«b»\nC\n", "klingon", tmp_path / "a", tools) == "A\nB\nC\n"
    assert formatted("a\n«b»\nC\n", "klingon", tmp_path / "a", tools) is None
