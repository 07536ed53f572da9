"""New tests are adapted to their file: the package, the module they import from, and names that are free there."""

from __future__ import annotations

from pathlib import Path

import pytest

from stet_ls.engine.actions.generated_tests.languages.language_table import for_language
from stet_ls.engine.api.request import Request, Workspace
from stet_ls.validators.source import Source


def prepared(language: str, document: Path, test: Path, code: str, *, text: str = "", present: str = "") -> str:
    request = Request("test", language, Source(text), path=document, workspace=Workspace((document.parents[1],)))
    return for_language(language).prepare(code, "total", request, test, present)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('import { total } from "./sum";\ntest();\n', 'import { total } from "../src/sum.js";\ntest();\n'),
        ("const { total } = require('x');\ntest();\n", "const { total } = require('../src/sum.js');\ntest();\n"),
        ("const a = require('a');\n", "const { total } = require(\"../src/sum.js\");\nconst a = require('a');\n"),
        ("test();\n", 'import { total } from "../src/sum.js";\ntest();\n'),
    ],
)
def test_a_script_imports_the_tested_name_from_its_module(code: str, expected: str) -> None:
    assert prepared("javascript", Path("/w/src/sum.js"), Path("/w/tests/sum.test.js"), code) == expected


def test_typescript_imports_without_an_extension() -> None:
    prepared_code = prepared("typescriptreact", Path("/w/src/sum.tsx"), Path("/w/src/sum.test.tsx"), "test();\n")
    assert prepared_code.startswith('import { total } from "./sum";\n')


@pytest.mark.parametrize("code", ["package main\n\nfunc TestA() {}\n", "func TestA() {}\n"])
def test_go_tests_are_in_the_package_of_the_code(code: str) -> None:
    prepared_code = prepared(
        "go", Path("/w/shop/sum.go"), Path("/w/shop/sum_test.go"), code, text="// It sums.\npackage shop\n"
    )
    assert prepared_code == "package shop\n\nfunc TestA() {}\n"


def test_python_imports_from_the_package_and_repeats_no_code(tmp_path: Path) -> None:
    (tmp_path / "src" / "shop").mkdir(parents=True)
    (tmp_path / "src" / "shop" / "__init__.py").touch()
    code = (
        "from solution import total\n\n\ndef total(xs):\n    return 0\n\n\ndef test_it():\n    assert total([1]) == 1\n"
    )
    prepared_code = prepared("python", tmp_path / "src" / "shop" / "sums.py", tmp_path / "tests" / "test_sums.py", code)
    assert prepared_code.startswith("from shop.sums import total\n")
    assert "def total(" not in prepared_code


def test_a_python_test_gets_a_name_that_is_free(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    here = tmp_path / "shop"
    code = "from sums import total\n\n\ndef test_it():\n    assert total([1]) == 1\n"
    prepared_code = prepared(
        "python", here / "sums.py", here / "test_sums.py", code, present="def test_it():\n    assert 1\n"
    )
    assert "def test_it_2():" in prepared_code


def test_code_of_other_languages_stays_as_it_is() -> None:
    assert (
        prepared("rust", Path("/w/src/sum.rs"), Path("/w/tests/sum.rs"), "#[test]\nfn a() {}\n")
        == "#[test]\nfn a() {}\n"
    )
