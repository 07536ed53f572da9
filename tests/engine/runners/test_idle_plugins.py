"""Plugins of pytest that a project's tests do not use are left out of its runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from stet_ls.engine.runners.idle_plugins import idle_plugins
from stet_ls.engine.runners.plan import SuiteOwner, TestPlan
from stet_ls.engine.runners.report import SuiteOutcome
from stet_ls.engine.runners.run_tests import run_tests
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.sandbox.spec import Overlay

TEST = "tests/test_a.py"


def _plan(root: Path, files: dict[str, str], suite: SuiteOwner = SuiteOwner.PROJECT) -> TestPlan:
    for name, text in {TEST: "def test_a(): pass\n", **files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return TestPlan("python", (TEST,), overlay=Overlay(root, {}), suite=suite)


ALL = {"hypothesispytest", "anyio", "asyncio", "pytest-lsp"}


@pytest.mark.parametrize(
    ("path", "text", "used"),
    [
        ("notes.py", "import hypothesis\n", set()),
        (TEST, "from hypothesis import given\n", {"hypothesispytest"}),
        (TEST, "async def test_a(): pass\n", {"asyncio"}),
        ("conftest.py", "import pytest_lsp\n", {"pytest-lsp"}),
        ("tests/conftest.py", "import anyio\n", {"anyio"}),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '--hypothesis-seed=0'\n", {"hypothesispytest"}),
        ("tests/pytest.ini", "[pytest]\nasyncio_mode = auto\n", {"asyncio"}),
        ("conftest.py", "pytest_plugins = ['fixtures']\n", ALL),
        ("setup.cfg", "[tool:pytest]\naddopts = -p fixtures\n", ALL),
    ],
)
def test_a_plugin_that_nothing_near_the_tests_names_is_idle(
    tmp_path: Path, path: str, text: str, used: set[str]
) -> None:
    assert set(idle_plugins(_plan(tmp_path, {path: text}))) == ALL - used


def test_what_cannot_be_read_leaves_nothing_out(tmp_path: Path) -> None:
    plan = _plan(tmp_path, {})
    assert not idle_plugins(TestPlan("python", ("tests/gone.py",), overlay=plan.overlay, suite=SuiteOwner.PROJECT))
    assert not idle_plugins(TestPlan("python", (), overlay=plan.overlay, suite=SuiteOwner.PROJECT))
    assert not idle_plugins(_plan(tmp_path, {}, SuiteOwner.GENERATED))


@pytest.mark.parametrize("names", [False, True])
async def test_a_run_loads_an_idle_plugin_only_if_it_is_named(tmp_path: Path, box: Sandbox, names: bool) -> None:
    loaded = "def test_a():\n    import sys\n    assert ('hypo' 'thesis' in sys.modules) is " + str(names) + "\n"
    files = {TEST: loaded, "conftest.py": "import hypothesis.errors\n" if names else ""}
    report = await run_tests(box, _plan(tmp_path, files))
    assert report.outcome is SuiteOutcome.GREEN, report.detail
