"""Where a file's tests belong."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from stet_ls.engine.actions.generated_tests.location import find_suite_file
from stet_ls.engine.api.request import Buffer, Request, Workspace
from stet_ls.engine.errors import UsageError
from stet_ls.validators.source import Source

# present files, source, language -> the test file
CASES = [
    ("an existing file in the folder", ["a.py", "test_a.py"], "a.py", "python", "test_a.py"),
    ("an existing file in tests", ["pkg/a.py", "tests/test_a.py"], "pkg/a.py", "python", "tests/test_a.py"),
    ("deep in tests", ["pkg/a.py", "tests/unit/pkg/test_a.py"], "pkg/a.py", "python", "tests/unit/pkg/test_a.py"),
    ("a tests folder", ["pkg/a.py", "tests/conftest.py"], "pkg/a.py", "python", "tests/test_a.py"),
    ("nothing yet", ["a.py"], "a.py", "python", "test_a.py"),
    ("neighbours end in _test", ["a.py", "b_test.py"], "a.py", "python", "a_test.py"),
    ("tests in its folder come first", ["p/a.py", "p/test_b.py", "tests/x"], "p/a.py", "python", "p/test_a.py"),
    ("vitest style", ["src/a.ts", "src/b.test.ts"], "src/a.ts", "typescript", "src/a.test.ts"),
    ("jest style", ["src/a.js", "src/__tests__/b.test.js"], "src/a.js", "javascript", "src/__tests__/a.test.js"),
    ("spec style", ["src/a.ts", "src/b.spec.ts"], "src/a.ts", "typescript", "src/a.spec.ts"),
    ("go", ["p/a.go"], "p/a.go", "go", "p/a_test.go"),
    ("rust", ["Cargo.toml", "src/a.rs"], "src/a.rs", "rust", "tests/a_test.rs"),
    ("maven", ["src/main/java/x/A.java"], "src/main/java/x/A.java", "java", "src/test/java/x/ATest.java"),
    ("c++", ["a.cpp", "test/x"], "a.cpp", "cpp", "test/test_a.cpp"),
]


@pytest.mark.parametrize(
    ("present", "source", "language", "expected"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_the_test_file_is_where_the_project_keeps_its_tests(
    tmp_path: Path, present: list[str], source: str, language: str, expected: str
) -> None:
    for name in present:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    request = Request("test", language, Source(""), path=tmp_path / source, workspace=Workspace((tmp_path,)))
    place = find_suite_file(request)
    assert place.path.relative_to(tmp_path).as_posix() == expected
    assert place.exists == (expected in present)


def test_an_unsaved_buffer_takes_precedence_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    (tmp_path / "test_a.py").write_text("old\r\n")
    buffer = Buffer(tmp_path / "test_a.py", 3, "new")
    request = Request("test", "python", Source(""), path=tmp_path / "a.py", workspace=Workspace((tmp_path,)))
    assert find_suite_file(request).text == "old\r\n"
    unsaved = Request("test", "python", Source(""), path=tmp_path / "a.py", workspace=Workspace((tmp_path,), (buffer,)))
    assert find_suite_file(unsaved).text == "new"


def request_in(root: Path, language: str = "python", name: str = "a.py") -> Request:
    return Request("test", language, Source(""), path=root / name, workspace=Workspace((root,)))


def test_a_link_out_of_the_workspace_is_not_a_test_folder(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    root.mkdir()
    elsewhere.mkdir()
    (elsewhere / "test_a.py").write_text("")
    (root / "tests").symlink_to(elsewhere)
    assert find_suite_file(request_in(root)).path == root / "test_a.py"
    with pytest.raises(UsageError, match="is outside"):  # Rust has no other place for them
        find_suite_file(request_in(root, "rust", "a.rs"))


@pytest.mark.parametrize("target", ["present.py", "absent.py"])
def test_a_link_out_of_the_workspace_is_not_a_test_file(tmp_path: Path, target: str) -> None:
    (tmp_path / "root" / "tests").mkdir(parents=True)
    (tmp_path / "present.py").write_text("")
    (tmp_path / "root" / "tests" / "test_a.py").symlink_to(tmp_path / target)
    with pytest.raises(UsageError, match="is outside"):
        find_suite_file(request_in(tmp_path / "root"))


def test_a_link_within_the_workspace_is_followed(tmp_path: Path) -> None:
    (tmp_path / "spec").mkdir()
    (tmp_path / "tests").symlink_to(tmp_path / "spec")
    assert find_suite_file(request_in(tmp_path)).path == tmp_path / "tests" / "test_a.py"


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")], ids=["pipe", "device"])
@pytest.mark.parametrize("folder", ["", "tests"])
def test_a_pipe_is_neither_opened_nor_read(tmp_path: Path, folder: str, make: Callable[[Path], None]) -> None:
    (tmp_path / "tests").mkdir()
    make(tmp_path / folder / "test_a.py")
    with pytest.raises(UsageError, match=r"Cannot read|is outside"):
        find_suite_file(request_in(tmp_path))


def test_a_test_file_that_cannot_be_decoded_is_named(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_bytes(b"\xff")
    with pytest.raises(UsageError, match=r"test_a\.py is not UTF-8 text"):
        find_suite_file(request_in(tmp_path))
