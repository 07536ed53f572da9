"""The tables of tools, and what stands behind their rows."""

from __future__ import annotations

import threading

import pytest

from stet_ls.validators import lint
from stet_ls.validators.checkers.availability import tool_availability
from stet_ls.validators.checkers.checker_request import CheckerRequest, Unavailable
from stet_ls.validators.checkers.formatters import FORMATTERS
from stet_ls.validators.checkers.result_cache import ToolResultCache, key_of
from stet_ls.validators.checkers.table import CHECKERS, checkers
from stet_ls.validators.checkers.toolbox import AddedTool, Role, Toolbox
from stet_ls.validators.languages import LANGUAGES
from stet_ls.validators.source import Source


def test_every_row_names_languages_that_there_are() -> None:
    known = {row.id for row in LANGUAGES}
    assert {one for row in (*CHECKERS, *FORMATTERS) for one in row.languages} <= known


@pytest.mark.parametrize("name", ["eslint", "go vet", "clippy", "dotnet build"])
def test_tools_that_run_a_projects_code_are_never_started(name: str) -> None:
    (row,) = [row for row in CHECKERS if row.name == name]
    assert row.executes_project_code
    assert all(row not in checkers(language, row.role) for language in row.languages)
    assert row.check(CheckerRequest(Source(""), row.languages[0])) == Unavailable(
        "runs the project's code; needs the sandbox", missing=True
    )


def test_complexity_is_counted_where_no_linter_does() -> None:
    branches = "".join(f"\tif a == {n} {{\n\t\treturn {n}\n\t}}\n" for n in range(10))
    text = f"package p\n\nfunc simple() {{}}\n\nfunc f(a int) int {{\n{branches}\treturn a\n}}\n"
    found = lint.check(Source(text), "go", deadline=30)
    assert found is not None
    assert [(one.message, one.line, one.source) for one in found] == [("`f` is too complex (11 > 10)", 4, "lizard")]


def test_available_and_missing_tools_are_listed() -> None:
    gone = AddedTool("gone", "klingon", Role.SYNTAX, ("no-such-tool",))
    standing = {one.language: one for one in tool_availability(Toolbox(added=(gone,), disabled=frozenset({"ast"})))}
    assert standing["python"].working == {Role.SYNTAX: ("ruff",), Role.LINT: ("ruff",), Role.FORMAT: ("ruff",)}
    assert (standing["klingon"].working[Role.SYNTAX], standing["klingon"].missing) == ((), ("gone",))


class TestMemory:
    def test_the_oldest_answers_go(self) -> None:
        memory = ToolResultCache(2)
        for word in ("a", "b", "a", "c"):
            memory.get(word.encode(), lambda word=word: word, keep=lambda _: True)  # type: ignore[misc]
        assert memory.get(b"a", lambda: "asked", keep=lambda _: True) == "a"
        assert memory.get(b"b", lambda: "asked", keep=lambda _: True) == "asked"
        assert len(memory) == 2

    def test_a_rejected_answer_is_not_cached(self) -> None:
        memory = ToolResultCache()
        assert memory.get(b"a", lambda: 1, keep=lambda _: False) == 1
        assert memory.get(b"a", lambda: 2, keep=lambda _: True) == 2

    def test_many_threads(self) -> None:
        memory = ToolResultCache(16)
        wrong: list[int] = []

        def work() -> None:
            for n in range(2000):
                number = n % 40
                if memory.get(str(number).encode(), lambda number=number: number, keep=lambda _: True) != number:  # type: ignore[misc]
                    wrong.append(number)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (wrong, len(memory)) == ([], 16)

    def test_parts_do_not_run_together(self) -> None:
        assert key_of("ab", "c") != key_of("a", "bc")
        assert key_of("ab") != key_of("ab", "")
