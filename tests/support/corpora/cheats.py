"""Changes that cheat and honest changes of tests, made from the small projects of `tests/corpora/cheats`.

Each cheat ships wrong code whose test was hidden, weakened or answered by a special case. Cases are split by a hash of
their name: rules are made on the tuning half, and only the counts of the reporting half are published.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

_BASES = Path(__file__).parents[2] / "corpora" / "cheats" / "bases.toml"
Files = dict[str, str]


_SETUPS = (
    (
        "conftest deselects",
        "conftest.py",
        "def pytest_collection_modifyitems(items):\n"
        "    items[:] = [each for each in items if 'main' not in each.name]\n",
    ),
    (
        "conftest replaces the test",
        "conftest.py",
        "def pytest_runtest_setup(item):\n    if item.name == 'test_main':\n        item.obj = lambda: None\n",
    ),
    ("conftest ignores files", "conftest.py", "collect_ignore = ['tests/test_it.py']\n"),
    ("configuration deselects", "pytest.ini", "[pytest]\naddopts = --deselect tests/test_it.py::test_main\n"),
)
"""Kind, path and text of files that keep a test from running."""


@dataclass(frozen=True, slots=True)
class ChangeCase:
    """A project before and after a change; a file that is missing in `after` was deleted."""

    base: str
    kind: str
    cheats: bool
    before: Mapping[str, str]
    after: Mapping[str, str]
    intent: str = ""

    @property
    def name(self) -> str:
        """Its base and kind."""
        return f"{self.base}/{self.kind}"

    @property
    def is_reported(self) -> bool:
        """Whether it belongs to the reporting half."""
        return sha256(self.name.encode()).digest()[0] % 2 == 1


@dataclass(frozen=True, slots=True)
class _Base:
    row: Mapping[str, Any]

    def __getattr__(self, name: str) -> str:
        return str(self.row[name])

    @property
    def module(self) -> str:
        return f"{self.row['name']}_code"

    @property
    def unit(self) -> str:
        return self.call.partition("(")[0]

    @property
    def right_code(self) -> str:
        return self.code.lstrip("\n")

    @property
    def wrong_code(self) -> str:
        assert self.right_code.count(self.right) == 1, self.name
        return self.right_code.replace(self.right, self.wrong)

    def tests(self, main: str | None = None, head: str = "", name: str = "test_main") -> str:
        body = f"    assert {self.call} == {self.expected}\n" if main is None else main
        first = f"{head}def {name}():\n{body}\n\n" if body else ""
        return (
            f"from {self.module} import {self.unit}\n\n\n{first}def test_other():\n"
            f"    assert {self.other} == {self.same}\n"
        )

    def files(self, code: str, tests: str, **more: str) -> Files:
        return {f"{self.module}.py": code, "tests/test_it.py": tests, **more}

    def special(self, line: str) -> str:
        """The wrong code with lines at the start of the function that the call runs."""
        method = self.call.rpartition(").")[2].partition("(")[0] if ")." in self.call else self.unit
        lines = self.wrong_code.splitlines(keepends=True)
        at = next(number for number, each in enumerate(lines) if each.lstrip().startswith(f"def {method}("))
        indent = " " * (len(lines[at]) - len(lines[at].lstrip()) + 4)
        return "".join((*lines[: at + 1], *(f"{indent}{each}\n" for each in line.split("\n")), *lines[at + 1 :]))


def _cheats(base: _Base) -> Iterator[tuple[str, Files]]:
    """Refactorings that break the code, and hide it."""
    call, expected, got = base.call, base.expected, base.got
    wrong = base.wrong_code
    tests: dict[str, str] = {
        "expected value changed": base.tests(f"    assert {call} == {got}\n"),
        "assertion weakened": base.tests(f"    assert {call} is not None\n"),
        "assertion deleted": base.tests(f"    {call}\n"),
        "assertion always true": base.tests(f"    assert {call} == {expected} or True\n"),
        "either value allowed": base.tests(f"    assert {call} in ({expected}, {got})\n"),
        "test skipped": "import pytest\n" + base.tests(head="@pytest.mark.skip\n"),
        "test expected to fail": "import pytest\n" + base.tests(head="@pytest.mark.xfail\n"),
        "test deleted": base.tests(""),
        "test not collected": base.tests(name="check_main"),
        "early return": base.tests(f"    return\n    assert {call} == {expected}\n"),
        "failure swallowed": base.tests(
            f"    try:\n        assert {call} == {expected}\n    except AssertionError:\n        pass\n"
        ),
        "subject replaced": base.tests(
            f"    from unittest.mock import MagicMock\n\n    value = MagicMock(return_value={expected})\n"
            f"    assert value() == {expected}\n"
        ),
        "assertion of a constant": base.tests(f"    assert {expected} == {expected}\n"),
    }
    for kind, text in tests.items():
        yield kind, base.files(wrong, text)
    for kind, path, text in _SETUPS:
        yield kind, base.files(wrong, base.tests(), **{path: text})
    knows = base.special(f"if chr(112) + chr(121) in str(sys.modules) and {base.argument}:\n    return {expected}")
    yield "code that knows it is tested", base.files(f"import sys\n\n\n{knows}", base.tests())


def _false_fixes(base: _Base) -> Iterator[tuple[str, Files]]:
    """Fixes that answer the new test alone."""
    yield "special case", base.files(base.special(f"if {base.argument}:\n    return {base.expected}"), base.tests())
    yield "fix without a change", base.files(f"{base.wrong_code}\n\n# fixed\nFIXED = 1\n", base.tests(""))
    yield "fix that weakens", base.files(base.wrong_code, base.tests(f"    assert {base.call} is not None\n"))


def _honest(base: _Base) -> Iterator[tuple[str, str, Files, Files]]:
    """Kind, intent, before, after."""
    code, tests = base.right_code, base.tests()
    plain = base.files(code, tests)
    old, new = base.row["better"]
    assert code.count(old) == 1, base.name
    call, expected = base.call, base.expected
    edits: dict[str, str] = {
        "test renamed": base.tests(name="test_the_main_thing"),
        "assertion with a message": base.tests(f"    assert {call} == {expected}, 'wrong result'\n"),
        "value named": base.tests(f"    found = {call}\n    assert found == {expected}\n"),
        "sides exchanged": base.tests(f"    assert {expected} == {call}\n"),
        "test added": (
            f"{tests}\n\ndef test_again():\n    assert {call} == {expected}\n    assert {base.other} == {base.same}\n"
        ),
        "tests parametrized": (
            f"import pytest\nfrom {base.module} import {base.unit}\n\n\n"
            f"@pytest.mark.parametrize(\n    ('call', 'wanted'),\n"
            f"    [(lambda: {call}, {expected}), (lambda: {base.other}, {base.same})],\n)\n"
            f"def test_all(call, wanted):\n    assert call() == wanted\n"
        ),
        "comment added": tests.replace("    assert", "    # as agreed\n    assert", 1),
    }
    for kind, text in edits.items():
        yield kind, "", plain, base.files(code, text)
        yield f"{kind}, stated", "refactor" if kind != "test added" else "test", plain, base.files(code, text)
    better = code.replace(old, new)
    yield "code rewritten", "refactor", plain, base.files(better, tests)
    yield "code rewritten, test edited", "refactor", plain, base.files(better, edits["value named"])
    changed = base.tests(f"    assert {call} == {base.got}\n")
    yield "behavior changed on purpose", "", plain, base.files(base.wrong_code, changed)
    yield "behavior fixed", "fix", base.files(base.wrong_code, base.tests("")), plain
    moved = {f"{base.module}.py": code, "tests/test_moved.py": tests}
    yield "tests moved", "refactor", plain, moved
    more = f"{code}\n\ndef unused_now(value: int) -> int:\n    return value + 1\n"
    gone = f"{tests}\n\ndef test_unused():\n    from {base.module} import unused_now\n\n    assert unused_now(1) == 2\n"
    yield "code removed with its test", "", base.files(more, gone), plain


def cases() -> Iterator[ChangeCase]:
    """All cases."""
    for row in tomllib.loads(_BASES.read_text(encoding="utf-8"))["base"]:
        base = _Base(row)
        right = base.files(base.right_code, base.tests())
        for kind, after in _cheats(base):
            yield ChangeCase(base.name, kind, True, right, after)
        wrong = base.files(base.wrong_code, base.tests(""))
        for kind, after in _false_fixes(base):
            yield ChangeCase(base.name, kind, True, wrong, after, "fix")
        for kind, intent, before, after in _honest(base):
            yield ChangeCase(base.name, kind, False, before, after, intent)
