"""What TARGET may be on the command line, and what it means."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from stet_ls.engine.errors import UsageError
from stet_ls.server.cli.command_table import build_parser
from stet_ls.server.cli.inputs.command_target import CommandTarget, read_target

TEXT = """\
class TestA:
    def test_f(self, n):
        größe = n + 1
        assert größe


def test_g():
    assert True


class TestB:
    def test_f(self):
        pass
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "test_a.py"
    file.write_text(TEXT)
    return file


def shown(target: CommandTarget) -> str:
    """The text with a mark at the place, or around what is selected."""
    assert target.selection is not None
    data, span = target.source.data, target.selection.span
    return (data[: span.start] + b"<" + data[span.start : span.end] + b">" + data[span.end :]).decode()


@pytest.mark.parametrize(
    ("place", "part"),
    [
        (":3", "\n        <>größe = n + 1\n"),
        (":3:9", "\n        <>größe = n + 1\n"),
        (":3:14", "größe<> = n + 1\n"),
        (":3:22", "größe = n + 1<>\n"),
        (":7-8", "<def test_g():\n    assert True>\n"),
        ("::test_g", "<def test_g():\n    assert True>\n"),
        ("::TestA::test_f", "<    def test_f(self, n):\n        größe = n + 1\n        assert größe>"),
        ("::TestA::test_f[1-x]", "<    def test_f(self, n):\n        größe = n + 1\n        assert größe>"),
        ("::TestA.test_f[a::b]", "<    def test_f(self, n):\n        größe = n + 1\n        assert größe>"),
        ("::TestB", "<class TestB:\n    def test_f(self):\n        pass>"),
    ],
)
def test_a_target_is_a_range_of_a_file_or_of_standard_input(
    file: Path, monkeypatch: pytest.MonkeyPatch, place: str, part: str
) -> None:
    assert part in shown(read_target(f"test_a.py{place}", None))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    target = read_target(f"-{place}", "python")
    assert target.document is None
    assert part in shown(target)


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("test_a.py:3:99", "line 3 has 21 columns, not 99"),
        ("test_a.py:99:1", "has 13 lines, not 99"),
        ("test_a.py::test_h", 'does not define test_h: did you mean "test_g"'),
        ("test_a.py::test_f", "defines test_f more than once: TestA.test_f, TestB.test_f"),
        ("test_a.py:here", "expected FILE:LINE, FILE:LINE:COLUMN, FILE:LINE-LINE or FILE::NAME, found 'here'"),
    ],
)
def test_an_invalid_range_is_reported(file: Path, target: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        read_target(target, None)


def test_a_name_after_a_syntax_error_is_not_reported_as_missing(file: Path) -> None:
    """What a broken file defines is not all known."""
    file.write_text("def f(x:\n    return f(x\n\ndef g(y):\n    if y:\n        return 1\n    return 2\n")
    says = "test_a.py has syntax errors, the first in line 1, which can hide g: pass its lines instead"
    with pytest.raises(UsageError, match=says):
        read_target("test_a.py::g", None)


def test_a_file_name_may_contain_a_colon(file: Path) -> None:
    file.rename("a:1")
    assert read_target("a:1", "python").selection is None


@pytest.mark.parametrize("target", ["-", "-:4", "-:4:7", "-::TestB"])
def test_a_range_of_standard_input_is_not_taken_for_an_option(target: str) -> None:
    words = ["run", "refactor", target, "--language", "python"]
    assert build_parser(["run"]).parse_args(words).target == [target]
