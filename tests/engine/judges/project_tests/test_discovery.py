"""Which tests of a project are found for a unit: by what they import and name, saved or not."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.projects.shop import TESTS

from stet_ls.engine.judges.project_tests.discovery import TouchingTests, is_test, touching_tests


def test_tests_are_found_by_what_they_import_and_name(shop: Path) -> None:
    def found(path: str, unit: str) -> tuple[str, ...]:
        return touching_tests(shop, shop / path, unit, "python", {}).tests

    assert found("shop/prices.py", "discount") == ("tests/test_prices.py",)
    assert found("shop/cart.py", "pay") == ("tests/test_cart.py",)
    assert found("shop/other.py", "") == ("tests/test_other.py",)
    (shop / "tests/test_prices.py").unlink()
    assert found("shop/prices.py", "total") == ("tests/test_cart.py",), "by way of the module between"


GO = {
    "a/x.go": "package a\nfunc Sum() int { return 1 }\n",
    "a/x_test.go": "package a\nfunc TestSum(t *testing.T) { Sum() }\n",
    "a/y_test.go": "package a\nfunc TestY(t *testing.T) {}\n",
}
SCRIPT = {
    "src/sum.ts": "export function sum() {}\n",
    "src/sum.test.ts": 'import { sum } from "./sum";\nsum();\n',
    "src/b.test.ts": 'import { b } from "./b";\n',
}
JAVA = {
    "src/main/java/p/Sum.java": "package p; class Sum {}",
    "src/test/java/p/SumTest.java": "package p; class SumTest { Sum s; }",
}


@pytest.mark.parametrize(
    ("language", "files", "target", "unit", "expected"),
    [
        ("go", GO, "a/x.go", "Sum", "a/x_test.go"),
        ("typescript", SCRIPT, "src/sum.ts", "sum", "src/sum.test.ts"),
        ("java", JAVA, "src/main/java/p/Sum.java", "Sum", "src/test/java/p/SumTest.java"),
    ],
)
def test_tests_of_other_languages_are_found(
    tmp_path: Path, language: str, files: dict[str, str], target: str, unit: str, expected: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert touching_tests(tmp_path, tmp_path / target, unit, language, {}) == TouchingTests((expected,))


def test_an_unsaved_test_is_found(shop: Path) -> None:
    path = shop / "tests/test_new.py"
    assert (
        touching_tests(shop, shop / "shop/prices.py", "discount", "python", {path: TESTS}).tests[0]
        == "tests/test_new.py"
    )


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tests/test_a.py", True),
        ("a_test.go", True),
        ("tests/conftest.py", False),
        ("latest.py", False),
        ("src/contest.py", False),
    ],
)
def test_test_files_are_recognized_by_name(path: str, expected: bool) -> None:
    assert is_test(path) is expected


def test_a_source_file_named_like_a_test_helper_is_not_one(shop: Path) -> None:
    (shop / "shop/utils.py").write_text("def first(xs):\n    return xs[0]\n\n\ndef last(xs):\n    return xs[-1]\n")
    (shop / "tests/test_utils.py").write_text("from shop.utils import last\n\n\ndef test_last():\n    last([1])\n")
    (shop / "shop/more.py").write_text("from shop.utils import first\n\n\ndef head(xs):\n    return first(xs)\n")
    (shop / "tests/test_more.py").write_text("from shop.more import head\n\n\ndef test_head():\n    head([1])\n")
    for unit, further in (("last", ()), ("first", ("tests/test_more.py",))):
        found = touching_tests(shop, shop / "shop/utils.py", unit, "python", {})
        assert found.tests == ("tests/test_utils.py", *further)
