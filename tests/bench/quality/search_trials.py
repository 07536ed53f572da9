"""Tries `debug` on planted bugs without any model: what `search.py` and `script_repairs.py` share."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.quality.search_summary import ALONE

from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.api.request import Request, Selection
from stet_ls.engine.errors import ModelError
from stet_ls.engine.run import Engine
from stet_ls.engine.sandbox.isolation import IsolationLevel
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.storage.paths import user_paths
from stet_ls.validators.source import Source, Splice
from stet_ls.validators.structure import units


@dataclass(frozen=True, slots=True)
class PlantedBug:
    """A broken text, its unit, and how a fixed text is checked; `path` is where it is said to be."""

    name: str
    text: str
    language: str
    unit: str
    path: Path
    passes: Callable[[Sandbox, str], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Trial:
    """The outcome of a bug, its seconds, and what the search said."""

    name: str
    outcome: str
    seconds: float
    detail: str


async def tried(bugs: Sequence[PlantedBug]) -> list[Trial]:
    """All of them, in a home of their own."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        paths = replace(user_paths(), data=home / "data", cache=home / "cache", logs=home / "log")
        sandbox = Sandbox(IsolationLevel.STRONG, home / "sandbox")
        engine = Engine(Settings.model_validate(ALONE), paths)
        try:
            await _tried(bugs[0], engine, sandbox)  # the first one finds out what this machine has
            return [await _tried(bug, engine, sandbox) for bug in bugs]
        finally:
            await engine.close()
            await sandbox.close()


async def _tried(bug: PlantedBug, engine: Engine, sandbox: Sandbox) -> Trial:
    source = Source(bug.text)
    unit = next(unit for unit in units(source, bug.language) if unit.qualified == bug.unit)
    request = Request("debug", bug.language, source, selection=Selection(unit.span), path=bug.path)
    started = time.perf_counter()
    try:
        answer = await engine.run(request)
    except ModelError as error:
        outcome = "nothing" if "fix" in str(error) else "not shown"
        return Trial(bug.name, outcome, time.perf_counter() - started, str(error).partition(". ")[0])
    seconds = time.perf_counter() - started
    after = source.splice([Splice(edit.span, edit.new_text) for edit in answer.edits]).text
    result = "right" if await bug.passes(sandbox, after) else "wrong"
    found = next((each.detail for each in answer.evidence if each.check is Check.SEARCH), "")
    asked = any(each.trusted and each.verdict is Ruling.UNKNOWN for each in answer.evidence)
    return Trial(bug.name, f"asked, {result}" if asked else result, seconds, f"{found} [{answer.message}]")
