"""The table of languages whose tests can be run: one row per language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from stet_ls.engine.runners import expected_tests
from stet_ls.engine.runners.languages import csharp, go, java, rust
from stet_ls.engine.runners.languages.c_cpp import Native
from stet_ls.engine.runners.languages.csharp import CSharp
from stet_ls.engine.runners.languages.go import Go
from stet_ls.engine.runners.languages.java import Java, JUnit
from stet_ls.engine.runners.languages.jest_vitest import JEST, VITEST
from stet_ls.engine.runners.languages.node import Node, TypeScript
from stet_ls.engine.runners.languages.pytest_runner import Pytest
from stet_ls.engine.runners.languages.rust import Cargo, Rustc
from stet_ls.engine.runners.languages.unittest_runner import Unittest
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.runner import Runner
from stet_ls.engine.sandbox.spec import COMPILE, Limits
from stet_ls.validators.languages import lookup


def _none(text: str) -> Iterable[str]:
    return ()


@dataclass(frozen=True, slots=True)
class RunnerLanguage:
    """How the tests of a language are run.

    `runners`, the preferred one first. `expected` yields the tests that a text certainly holds, as the runner reports
    them. `limits` if the defaults do not fit: compilers take time, the JVM and Go's tools take threads.
    """

    runners: tuple[Runner, ...] = ()
    expected: Callable[[str], Iterable[str]] = _none
    limits: Limits | None = None


_JAVASCRIPT = RunnerLanguage((VITEST, JEST, Node()), expected_tests.javascript)
_TYPESCRIPT = RunnerLanguage((VITEST, JEST, TypeScript()), expected_tests.typescript)
ROWS: Mapping[str, RunnerLanguage] = {
    "python": RunnerLanguage((Pytest(), Unittest()), expected_tests.python),
    "javascript": _JAVASCRIPT,
    "typescript": _TYPESCRIPT,
    "typescriptreact": replace(_TYPESCRIPT, expected=_none),
    "go": RunnerLanguage((Go(),), expected_tests.go, go.LIMITS),
    "rust": RunnerLanguage((Rustc(), Cargo()), limits=rust.LIMITS),
    "java": RunnerLanguage((Java(), JUnit()), expected_tests.junit, java.LIMITS),
    "c": RunnerLanguage((Native("c"),), limits=COMPILE),
    "cpp": RunnerLanguage((Native("cpp"),), limits=COMPILE),
    "csharp": RunnerLanguage((CSharp(),), limits=csharp.LIMITS),
}
"""By language id; a row applies to its whole family."""

for_language = lookup(ROWS, RunnerLanguage())
"""The row of a language id; for any other language the defaults."""


def expected(plan: TestPlan) -> tuple[str, ...]:
    """The ids of the tests in the plan's test files, as the language's runner will report them.

    Only what is certain: not tests that are created at run time, nor those of a file that does not parse.
    """
    find = for_language(plan.language).expected
    texts = ((path, plan.text(path)) for path in plan.tests)
    return tuple(f"{path}::{name}" for path, text in texts if text is not None for name in find(text))
