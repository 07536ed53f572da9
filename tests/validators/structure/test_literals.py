"""Where literals and comments are, in each grammar's own words."""

from __future__ import annotations

import pytest

from stet_ls.validators.source import Source
from stet_ls.validators.structure.literals import fixed_lines, passages

SPANNING = {
    "python": ('x = """a\nb\n"""\ny = 1\n', {1, 2}),
    "javascript": ("let x = `a\nb ${c}\n`;\ny();\n", {1, 2}),
    "typescript": ("let x: string = `a\nb`;\ny();\n", {1}),
    "typescriptreact": ("let x = `a\nb`;\n", {1}),
    "go": ("package a\n\nvar x = `a\nb`\n", {3}),
    "rust": ('const X: &str = r#"a\nb"#;\nconst Y: &str = "a\nb";\n', {1, 3}),
    "java": ('class A {\n  String x = """\n    a\n    """;\n}\n', {2, 3}),
    "cpp": ('auto x = R"(a\nb)";\n', {1}),
    "csharp": ('var x = @"a\nb";\nvar y = $@"a\nb";\n', {1, 3}),
    "shellscript": ("cat <<END\na\n  b\nEND\necho 'a\nb'\n", {1, 2, 3, 5}),
    "php": ("<?php\n$x = 'a\nb';\n$y = <<<END\na\nEND;\n", {2}),
    "ruby": ("x = 'a\nb'\ny = 1\n", {1}),
    "kotlin": ('val x = """a\nb"""\n', {1}),
    "swift": ('let x = """\na\n"""\n', {1, 2}),
    "lua": ("x = [[a\nb]]\n", {1}),
    "toml": ('x = """a\nb"""\n', {1}),
}


@pytest.mark.parametrize("language", SPANNING)
def test_lines_inside_a_literal_are_fixed(language: str) -> None:
    text, expected = SPANNING[language]
    assert expected <= fixed_lines(Source(text), language)
    assert 0 not in fixed_lines(Source(text), language)


@pytest.mark.parametrize(
    "text", ['"""a\nb"""\n', 'def f():\n    """a\n    b"""\n', 'class A:\n    # c\n    """a\n    b"""\n']
)
def test_docstrings_are_not(text: str) -> None:
    assert not fixed_lines(Source(text), "python")
    assert "doc" in [passage.kind for passage in passages(Source(text), "python")]


def test_a_string_after_the_docstring_is_one() -> None:
    assert fixed_lines(Source('"""a"""\n"""b\nc"""\n'), "python") == {2}


def test_kinds_in_document_order() -> None:
    found = passages(Source("x = 'a'  # b\n"), "python")
    assert [(p.kind, p.span.start, p.span.end) for p in found] == [("string", 4, 7), ("comment", 9, 12)]


def test_a_type_called_string_is_not_a_literal() -> None:
    assert passages(Source("let x: string;\n"), "typescript") == ()


def test_without_a_grammar_there_is_no_structure() -> None:
    assert passages(Source("x = 'a\nb'"), "cobol") == ()
