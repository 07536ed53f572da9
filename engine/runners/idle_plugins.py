"""Finds plugins of pytest that a project does not use: a run without them starts in half the time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from stet_ls.engine.runners.plan import SuiteOwner, TestPlan

_WORDS = {"hypothesispytest": "hypothesis", "anyio": "anyio", "asyncio": "async", "pytest-lsp": "lsp"}
"""Plugins that take as long to load as pytest itself, each with a word that everything which uses it contains."""
_NEARBY = ("conftest.py", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_LOADS_MORE = re.compile(r"\bpytest_plugins\b|(?<!\w)-p\b")
"""Names modules that are loaded as plugins: these may use anything."""


def idle_plugins(plan: TestPlan) -> tuple[str, ...]:
    """The plugins to leave out: neither the tests nor the conftests and configurations above them name these.

    None for generated tests, which load no plugins at all. Reads files: not for an event loop.
    """
    files = {each.partition("::")[0] for each in (*plan.tests, *plan.select)}
    own = [plan.text(file) for file in files]
    if plan.suite is SuiteOwner.GENERATED or not files or None in own:
        return ()
    texts = [text for text in (*own, *_around(plan, files)) if text]
    if any(_LOADS_MORE.search(text) for text in texts):
        return ()
    return tuple(name for name, word in _WORDS.items() if not any(word in text for text in texts))


def _around(plan: TestPlan, files: set[str]) -> Iterator[str | None]:
    """The texts of the files that pytest reads for these tests."""
    for folder in {folder for file in files for folder in PurePosixPath(file).parents}:
        for name in _NEARBY:
            yield plan.text((folder / name).as_posix())


def arguments(plan: TestPlan) -> Iterator[str]:
    """The options of pytest that leave these plugins out."""
    for plugin in idle_plugins(plan):
        yield from ("-p", f"no:{plugin}")
