"""Which statements and branches of a text count, and which of them a run takes."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from stet_ls.engine.runners.inside.covered import CoverageRun, parts


class Heard:
    """A channel that keeps what is said."""

    def __init__(self) -> None:
        self.said: dict[str, Any] = {}

    def say(self, event: str, **fields: Any) -> None:
        self.said[event] = fields


def measured(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The report on a module that runs itself."""
    (folder / "code.py").write_text(dedent(text))
    monkeypatch.chdir(folder)
    before, heard = sys.gettrace(), Heard()
    covered = CoverageRun(heard)  # type: ignore[arg-type]
    covered.start()
    try:
        exec(compile(dedent(text), str(folder / "code.py"), "exec"), {})
    finally:
        covered.report()
        sys.settrace(before)
    return dict(heard.said["coverage"])


CASES = {
    "a loop that ends and one that is left": (
        """
        def find(items, wanted):
            for item in items:
                if item == wanted:
                    return item
            return None
        find([1, 2], 2)
        """,
        [6],
        [(3, 0)],
    ),
    "while, else and a multi-line condition": (
        """
        def run(n):
            while (n > 0 and
                   n < 10):
                n -= 1
            else:
                n = 5
            if n:
                return 1
            else:
                return 2
        run(3)
        """,
        [11],
        [(8, 11)],
    ),
    "an exception in a condition is no way on": (
        """
        def safe(a):
            try:
                if a[0]:
                    return 1
            except IndexError:
                return 2
            return 3
        safe([])
        """,
        [5, 8],
        [(4, 0), (4, 5)],
    ),
    "generators continue where they stopped": (
        """
        def pairs(n):
            for i in range(n):
                yield i
            yield -1
        list(pairs(2))
        """,
        [],
        [],
    ),
    "what does not count": (
        '''
        """Words."""
        def stub():
            """Words."""
            global x
            ...
        while True:
            break
        if stub():  # pragma: no cover
            stub()
        ''',
        [],
        [],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_no_run_reaches(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, missing, untaken = CASES[name]
    output = measured(text, tmp_path, monkeypatch)
    assert output["missing"]["code.py"] == missing
    assert output["untaken"]["code.py"] == untaken


@pytest.mark.skipif(sys.version_info < (3, 10), reason="`match` is newer")
def test_a_case_is_a_branch_unless_it_takes_everything() -> None:
    _, branches = parts("match x:\n    case 1:\n        a()\n    case _:\n        b()\n")
    assert [(each.first, each.to) for each in branches] == [(2, 0), (2, 3)]


def test_code_that_replaces_the_tracer_gets_no_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "tracer" in measured("import sys\nsys.settrace(None)\n", tmp_path, monkeypatch)["why_not"]
