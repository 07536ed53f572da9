"""The table of languages: what editors, fences and file names call them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from stet_ls.validators.language_table.row import Language
from stet_ls.validators.languages import LANGUAGES, PLAIN, language, language_of
from stet_ls.validators.parsing import grammars

PARSED = [row for row in LANGUAGES if row.grammar]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.py", "python"),
        ("stubs/a.PYI", "python"),
        ("a.tsx", "typescriptreact"),
        ("a.ts", "typescript"),
        ("a.jsx", "javascriptreact"),
        ("a.d.ts", "typescript"),
        ("a.h", "cpp"),
        ("a.cs", "csharp"),
        ("Dockerfile", "dockerfile"),
        ("Dockerfile.dev", "dockerfile"),
        (".bashrc", "shellscript"),
        ("tsconfig.json", "jsonc"),
        ("tsconfig.build.json", "jsonc"),
        ("package.json", "json"),
        ("CMakeLists.txt", "cmake"),
        ("README.md", "markdown"),
        ("a.hs", "haskell"),
        ("a.mli", "ocaml.interface"),
        ("init.el", "elisp"),
        ("go.mod", "go.mod"),
        ("requirements.txt", "pip-requirements"),
        (".gitignore", "ignore"),
        ("README", PLAIN),
        ("a.unheard", PLAIN),
        (Path("/x/y.rs"), "rust"),
        ("", PLAIN),
    ],
)
def test_a_file_name_tells_the_language(path: Path | str, expected: str) -> None:
    assert language_of(path) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("python", "python"),
        ("py", "python"),
        ("C++", "cpp"),
        ("tsx", "typescriptreact"),
        ("sh", "shellscript"),
        ("C#", "csharp"),
        ("cs", "csharp"),
        ("golang", "go"),
        (" Rust ", "rust"),
    ],
)
def test_other_names_lead_to_the_same_row(name: str, expected: str) -> None:
    row = language(name)
    assert row is not None
    assert row.id == expected


def test_a_stranger_has_no_row() -> None:
    assert language("klingon") is None
    assert language("") is None


def test_ids_and_names_and_extensions_mean_one_language_each() -> None:
    ids = [row.id for row in LANGUAGES]
    names = [name for row in LANGUAGES for name in row.names]
    extensions = [extension for row in LANGUAGES for extension in row.extensions]
    for each in (ids, names, extensions):
        assert len(each) == len(set(each))
    assert not set(ids) & set(names)
    assert all(extension.startswith(".") and extension == extension.lower() for extension in extensions)


@pytest.mark.parametrize("row", PARSED, ids=lambda row: row.id)
def test_every_grammar_loads_under_every_name(row: Language) -> None:
    assert grammars.grammar(row.id) is not None
    for name in row.names:
        assert grammars.grammar(name).name == grammars.grammar(row.id).name


def test_there_are_the_languages_of_the_installed_wheels() -> None:
    expected = "python javascript javascriptreact typescript typescriptreact go rust java c cpp csharp shellscript json yaml toml html css ruby php kotlin swift lua"  # noqa: E501
    assert {row.id for row in PARSED} == set(expected.split())


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("markdown", "not parsed: no grammar for Markdown"),
        ("klingon", "not parsed: no grammar for klingon"),
        ("", "not parsed: no grammar for this document"),
    ],
)
def test_without_a_grammar_the_reason_is_reported(name: str, reason: str) -> None:
    with pytest.raises(grammars.NoGrammarError, match=reason):
        grammars.grammar(name)


def test_tables_are_read_without_loading_a_parser() -> None:
    """The server starts with this table; grammars are for later."""
    code = "import sys, stet_ls.validators.languages as it; print('tree_sitter' in sys.modules, len(it.LANGUAGES))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.split() == ["False", str(len(LANGUAGES))]
