"""The state of each component that jobs use, with the reason and a hint, within a deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stet_ls.engine.run import Engine
    from stet_ls.engine.storage.paths import Paths

HealthRow = dict[str, Any]
"""`state` (ok, off, missing, broken, unknown), `detail` (why), and `todo` ("" if there is nothing to do)."""

SECONDS = 2.0
"""Limit for all parts together; parts that have not answered by then are unknown."""


class Health:
    """Checks the parts of one server. A slow check continues in the background, so that the next call has it."""

    def __init__(self) -> None:
        self._looks: dict[str, asyncio.Task[HealthRow]] = {}

    async def of(self, engine: Engine, paths: Paths, roots: Sequence[Path]) -> dict[str, Any]:
        """The engine's report on its models and its memory, and `parts` with a row for each other part."""
        looks: Mapping[str, Callable[[], Awaitable[HealthRow]]] = {
            "models": lambda: _models(engine),
            "sandbox": lambda: _sandbox(engine),
            "memory": lambda: _memory(engine),
            "index": lambda: asyncio.to_thread(_index, engine, roots),
            "checkers": lambda: asyncio.to_thread(_checkers, engine, tuple(roots)),
            "ledger": lambda: asyncio.to_thread(_folder, paths.ledger, "usage is not recorded"),
            "trace": lambda: asyncio.to_thread(_trace, engine, paths.traces),
            "tasks": lambda: asyncio.to_thread(_tasks, engine),
            "folders": lambda: _folders(engine),
        }
        for name, look in looks.items():
            if name not in self._looks:
                self._looks[name] = asyncio.ensure_future(look())
        await asyncio.wait(self._looks.values(), timeout=SECONDS)
        parts = {name: self._row(name) for name in looks}
        models = parts["models"].pop("report", {"status": "unknown", "model": "", "endpoint": None, "endpoints": []})
        return {**models, "parts": parts}

    async def close(self) -> None:
        """Cancels checks that are still running."""
        for look in self._looks.values():
            look.cancel()
        await asyncio.gather(*self._looks.values(), return_exceptions=True)
        self._looks.clear()

    def _row(self, name: str) -> HealthRow:
        look = self._looks[name]
        if not look.done():
            return row("unknown", f"no response within {SECONDS:g} s", "try again in a moment")
        del self._looks[name]
        error = look.exception()
        return look.result() if error is None else row("broken", str(error) or type(error).__name__, "see the log")


def row(state: str, detail: str, todo: str = "") -> HealthRow:
    """The row of one part."""
    return {"state": state, "detail": detail, "todo": todo}


async def _models(engine: Engine) -> HealthRow:
    report = await engine.health()
    status = str(report["status"])
    good = status in ("ready", "asleep")
    resting = [each["endpoint"] for each in report["endpoints"] if each.get("breaker") not in (None, "closed")]
    detail = f"{report['model'] or 'a model'} is {status}" if good else str(report.get("last_fault") or status)
    if resting:
        detail += f"; temporarily disabled: {', '.join(resting)}"
    todo = "" if good else "start the endpoint, set `STET_BASE_URL`, or run `stet model pull` for the embedded model"
    state = "ok" if good else "off" if status == "off" else "broken"
    return {**row(state, detail, todo), "report": dict(report)}


async def _sandbox(engine: Engine) -> HealthRow:
    sandbox = engine.runtimes.sandbox
    best = await sandbox.best()
    if best is None:
        return row("missing", "no backend available, so no code runs", "see `stet sandbox probe`")
    report = best.report
    detail = f"{report.backend} at level {report.level.value}"
    if report.why_not_stronger:
        detail += f"; {report.why_not_stronger}"
    if found := sandbox.obstacle:
        detail += f"; {found}, so code runs from a temporary folder"
    state = "ok" if best.backend is not None and report.level.reaches(sandbox.minimum) else "missing"
    return {**row(state, detail, report.advice), "level": report.level.value}


async def _memory(engine: Engine) -> HealthRow:
    from stet_ls.engine.storage.writable import WAY_OUT, obstacle

    report = engine.memory.health()
    off = report["status"] == "off"
    detail = str(report["detail"] or report["status"])
    if team := report.get("team"):
        detail += f"; the team's: {team['fault'] or 'ready'}"
    if not off and (found := await asyncio.to_thread(obstacle, engine.memory.memory.folder)):
        return row("broken", f"nothing new is remembered: {found}; {detail}", WAY_OUT)
    return row("off" if off else "ok", detail)


def _index(engine: Engine, roots: Sequence[Path]) -> HealthRow:
    if not roots:
        return row("off", "no folder is open")
    states = [engine.index.status(root) for root in roots]
    files = sum(state.files for state in states)
    bounds = "; ".join(filter(None, (state.bounds for state in states)))
    detail = f"{files} files" + (f"; {bounds}" if bounds else "")
    if all(state.complete for state in states):
        return row("ok", detail)
    return row("unknown", f"{detail} so far; indexing")


def _checkers(engine: Engine, roots: Sequence[Path]) -> HealthRow:
    from stet_ls.engine.runners.language_table import ROWS
    from stet_ls.engine.settings.tool_settings import toolbox
    from stet_ls.validators.checkers import programs
    from stet_ls.validators.checkers.table import checkers
    from stet_ls.validators.checkers.toolbox import Role

    tools = toolbox(engine.settings, roots)
    found: dict[str, list[str]] = {}
    for language in ROWS:  # whose tests can be run, so that edits of them are judged in full
        rows = checkers(language, Role.SYNTAX, tools)
        found[language] = [each.name for each in rows if programs.find(each.name, tools, name=each.name, path=None)]
    without = [language for language, names in found.items() if not names]
    detail = "; ".join(f"{language}: {', '.join(names)}" for language, names in found.items() if names)
    todo = f"syntax by the grammar alone for {', '.join(without)}: run `stet doctor` for what to install"
    return {**row("ok", detail or "the grammars alone", todo if without else ""), "languages": found}


async def _folders(engine: Engine) -> HealthRow:
    """Whether all folders are writable, and which features an unwritable one disables."""
    from stet_ls.engine.storage.writable import WAY_OUT

    off = await engine.off()
    return row("broken", " ".join(off), WAY_OUT) if off else row("ok", "all writable")


def _tasks(engine: Engine) -> HealthRow:
    """The tasks that run, in any process: step, seconds and tokens."""
    running = [(record, progress) for record in engine.tasks.running() if (progress := record.progress()) is not None]
    detail = "; ".join(f"{record.id}: {progress}" for record, progress in running) or "none runs"
    rows = [{"id": record.id, "instruction": record.instruction, **asdict(progress)} for record, progress in running]
    return {**row("ok", detail), "running": rows}


def _trace(engine: Engine, folder: Path) -> HealthRow:
    if not engine.settings.trace.enabled:
        return row("off", "the setting `trace.enabled` is off")
    return _folder(folder, "no job records")


def _folder(folder: Path, loss: str) -> HealthRow:
    """Whether files can be written into a folder, which need not exist yet."""
    from stet_ls.engine.storage.writable import WAY_OUT, obstacle

    if (found := obstacle(folder)) is not None:
        return row("broken", f"{found}, so {loss}", WAY_OUT)
    return row("ok", str(folder))
