"""The languages from which and to which modules are ported: one row each."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from stet_ls.engine.actions.porting.comparison import ModuleCalls, PortComparison
from stet_ls.engine.actions.porting.javascript_calls import javascript_calls
from stet_ls.engine.actions.porting.python_calls import python_compared
from stet_ls.engine.execution.runtime import Runtime


@dataclass(frozen=True, slots=True)
class PortSource:
    """A language from which modules are ported.

    `title` is its name in prompts, `suffixes` are those of its files. `tests` are the places of a module's tests, with
    `{stem}` and `{suffix}` of its file; `test` matches the start of a test. `pitfalls` are what other languages do in
    another way. `calls` runs a module and answers with what it did, or with why it could not be run: it gets the
    sandbox, the project's folder, the path below that, the text, and the text of the tests.
    """

    title: str
    suffixes: tuple[str, ...]
    tests: tuple[str, ...]
    test: re.Pattern[str]
    pitfalls: str
    calls: Callable[[Runtime, Path, str, str, str], Awaitable[ModuleCalls | str]]


@dataclass(frozen=True, slots=True)
class PortTarget:
    """A language to which modules are ported.

    `title` is its name in prompts and messages, `suffix` that of its files. `module_name` makes the stem of a file from
    that of another language, `tests` that of its tests. `rules` and `test_rules` say in prompts how modules and tests
    are written. `test` matches the start of a test. `compare` runs a port on the calls of its module: it gets the
    sandbox, the project's folder, the path below that, the text, and the calls.
    """

    title: str
    suffix: str
    module_name: Callable[[str], str]
    tests: str
    rules: str
    test_rules: str
    test: re.Pattern[str]
    compare: Callable[[Runtime, Path, str, str, ModuleCalls], Awaitable[PortComparison]]


def _snake_case(stem: str) -> str:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", stem).lower()
    return re.sub(r"\W+", "_", words)


SOURCES: Mapping[str, PortSource] = {
    "javascript": PortSource(
        "JavaScript",
        (".js", ".mjs", ".cjs"),
        (
            "{stem}.test{suffix}", "{stem}.spec{suffix}", "test/{stem}.test{suffix}", "tests/{stem}.test{suffix}",
            "__tests__/{stem}.test{suffix}", "test/{stem}{suffix}", "../test/{stem}.test{suffix}",
            "../tests/{stem}.test{suffix}",
        ),
        re.compile(r"^\s*(?:test|it)(?:\.\w+)?\s*\(", re.MULTILINE),
        "rounding, sorting, negative modulo, missing keys",
        javascript_calls,
    )
}  # fmt: skip
"""By language id."""

TARGETS: Mapping[str, PortTarget] = {
    "python": PortTarget(
        "Python",
        ".py",
        _snake_case,
        "test_{name}",
        """\
- Names of functions, parameters and variables become snake_case; classes keep their names.
- Use the standard library alone. Keep the documentation, as docstrings.""",
        """\
- Write the whole file `{target}` for pytest: each test becomes a function of its own, with the same inputs and results.
- Import the functions of the port from `{module}`. Test nothing else.""",
        re.compile(r"^\s*(?:async\s+)?def test\w*", re.MULTILINE),
        python_compared,
    )
}
"""By language id."""
