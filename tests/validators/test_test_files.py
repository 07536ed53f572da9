"""Every caller recognizes test files by one table."""

from pathlib import PurePath

import pytest

from stet_ls.validators.languages import for_language as language
from stet_ls.validators.test_files import ROWS, for_language, is_test_file


@pytest.mark.parametrize(
    "path",
    ["test_a.py", "a_test.go", "src/a.test.ts", "src/a-test.js", "ATest.java", "ATests.cs", "tests/a.py", "spec/a.rb"],
)
def test_a_test_file_is_recognized_by_its_name_or_its_folder(path: str) -> None:
    assert is_test_file(path)


@pytest.mark.parametrize("path", ["a.py", "contest.py", "latest.ts", "testing/a.py", "test.d/a.go", "Testing.java"])
def test_other_files_are_not_tests(path: str) -> None:
    assert not is_test_file(path)


@pytest.mark.parametrize("name", [*ROWS, "shellscript"])
def test_the_names_of_new_tests_are_those_of_tests(name: str) -> None:
    source = PurePath(f"prices{language(name).extensions[0]}")
    assert all(is_test_file(test) for test in for_language(name).for_source(source))
