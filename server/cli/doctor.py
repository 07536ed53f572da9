"""`stet doctor`: what works on this machine, what does not, and how to fix it."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import Any

from stet_ls import __version__
from stet_ls.engine.actions.registry import Actions
from stet_ls.engine.errors import NoModelError, StetError
from stet_ls.engine.model.profiles.profile_store import ProfileStore
from stet_ls.engine.settings import LoadedSettings
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.tool_settings import toolbox
from stet_ls.engine.storage.paths import user_paths
from stet_ls.server.cli.editor import PROGRAMS
from stet_ls.server.cli.inputs.load_settings import load_settings
from stet_ls.server.cli.terminal import render
from stet_ls.validators.checkers.availability import tool_availability
from stet_ls.validators.checkers.programs import on_path
from stet_ls.validators.checkers.table import CHECKERS
from stet_ls.validators.checkers.toolbox import Role, Toolbox
from stet_ls.validators.install_hints import absent, install_command
from stet_ls.validators.languages import LANGUAGES
from stet_ls.validators.syntax import language_pack


class PartState(StrEnum):
    """The state of a part. Only BROKEN prevents jobs from running."""

    OK = "ok"
    MISSING = "missing"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class DoctorRow:
    """One line of the report."""

    name: str
    state: PartState
    detail: str


_MARKS = {PartState.OK: ("✓", "green"), PartState.MISSING: ("–", "dim"), PartState.BROKEN: ("✗", "red")}

LIBRARIES = ("pygls", "openai", "tree-sitter")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Prints the report. The exit status is that of a job: 3 if no model could serve it."""
    loaded = load_settings()
    health, memory = asyncio.run(_health(loaded)), asyncio.run(_memory(loaded))
    parts = [
        *_model(health),
        *_versions(),
        *_checkers(toolbox(loaded.settings)),
        *_actions(loaded.settings),
        _sandbox(loaded),
        memory,
        *_editors(),
        *_places(),
    ]
    if arguments.json:
        report = {"version": __version__, "model": dict(health), "parts": [asdict(part) for part in parts]}
        print(json.dumps(report, ensure_ascii=False, indent=2))
    else:
        _print(parts)
    return NoModelError.exit_code if any(part.state is PartState.BROKEN for part in parts) else 0


async def _health(loaded: LoadedSettings) -> Mapping[str, Any]:
    from stet_ls.engine.model.pool import ModelPool

    models = ModelPool(loaded.settings, user_paths())
    try:
        return await models.health()
    finally:
        await models.close()


def _model(health: Mapping[str, Any]) -> Iterator[DoctorRow]:
    # A dead model does not prevent jobs while another one serves.
    without = PartState.MISSING if health["status"] in ("ready", "asleep") else PartState.BROKEN
    for row in health["endpoints"]:
        name = (
            f"{row['model'] or 'some model'} at {row['base_url']}" if row["base_url"] else f"{row['model']} (embedded)"
        )
        match row["status"]:
            case "ready":
                fault = f"; last: {row['last_fault']}" if row["last_fault"] else ""
                first = f"; asks before it sends code (run `stet model allow {row['base_url']}`)"
                yield DoctorRow("model", PartState.OK, f"{name} is ready{first if row['asked_first'] else ''}{fault}")
            case "asleep":
                yield DoctorRow("model", PartState.OK, f"{name} starts when the first job runs")
            case status:
                yield DoctorRow("model", without, row["last_fault"] or f"{name} is {status}")
        if profile := row.get("profile"):
            yield DoctorRow("profile", PartState.OK if profile["probed"] else PartState.MISSING, _profile(profile))
    for _, record, problem in ProfileStore(user_paths().profiles).all():
        if record is None:
            yield DoctorRow("profile", PartState.MISSING, f"{problem}.")


def _profile(profile: Mapping[str, Any]) -> str:
    """The parts of a model's profile that jobs use, in one line."""
    speed = profile["tokens_per_second"]
    pieces = [
        f"{profile['tier']} model, context of {profile['context']:,} tokens",
        f"{speed:.0f} tokens/s" if speed else "speed not measured yet",
        f"edits by {' and '.join(profile['edit_kinds'])}",
        f"{profile['samples']} samples, {profile['repairs']} repairs",
    ]
    tested = (
        f"tested {profile['probed'][:10]}"
        if profile["probed"]
        else ("estimated from its name; run `stet model probe` to test it")
    )
    return f"{', '.join(pieces)} ({tested})"


def _versions() -> Iterator[DoctorRow]:
    yield DoctorRow(
        "version", PartState.OK, f"stet {__version__}, Python {platform.python_version()} at {sys.executable}"
    )
    for library in LIBRARIES:
        try:
            yield DoctorRow("library", PartState.OK, f"{library} {metadata.version(library)}")
        except metadata.PackageNotFoundError:
            yield DoctorRow("library", PartState.MISSING, f"{library} is not installed")
    if lacking := absent():
        listed = ", ".join(f"no {what} ({name})" for name, what in lacking.items())
        yield DoctorRow("install", PartState.MISSING, f"{listed}; all of it: {install_command('full')}")
    else:
        yield DoctorRow("install", PartState.OK, "complete (the extra `full`)")


def _checkers(tools: Toolbox) -> Iterator[DoctorRow]:
    own = sum(row.grammar is not None for row in LANGUAGES)
    more = sum(row.packed is not None and row.packed not in language_pack.DENIED for row in LANGUAGES)
    extra = "with the language pack" if language_pack.installed() else "with the extra `all-languages` (not installed)"
    yield DoctorRow("syntax", PartState.OK, f"{own} languages with built-in grammars, {more} more {extra}")
    for standing in tool_availability(tools):
        known = [f"{role} by {', '.join(names)}" for role, names in standing.working.items() if names]
        known += [f"not installed: {', '.join(standing.missing)}"] if standing.missing else []
        known += [
            f"not started: {place} is in a project that is not in `checks.trusted_workspaces`"
            for place in standing.refused.values()
        ]
        judged = bool(standing.working.get(Role.SYNTAX))
        words = "; ".join(known if judged else ["syntax by the grammar", *known])
        yield DoctorRow("checker", PartState.OK if judged else PartState.MISSING, f"{standing.language}: {words}")
    waiting = ", ".join(row.name for row in CHECKERS if row.executes_project_code)
    yield DoctorRow("checker", PartState.MISSING, f"{waiting}: not started because they run the project's code")


def _actions(settings: Settings) -> Iterator[DoctorRow]:
    """The actions in addition to the built-in ones."""
    actions = Actions(settings)
    for name, listed in actions.custom.items():
        state = PartState.OK if listed.trusted else PartState.MISSING
        waits = "" if listed.trusted else "; not trusted; run `stet config trust`"
        yield DoctorRow("action", state, f"{name}: {listed.action.spec.title} (from {listed.source}{waits})")
    for problem in actions.problems:
        yield DoctorRow("action", PartState.MISSING, problem)


def _sandbox(loaded: LoadedSettings) -> DoctorRow:
    """The isolation of executed code on this machine, and the command that would improve it."""
    from stet_ls.engine.sandbox.isolation import IsolationLevel
    from stet_ls.engine.sandbox.sandbox import Sandbox, no_backend_report

    settings = loaded.settings.sandbox
    sandbox = Sandbox(IsolationLevel(settings.minimum_level), user_paths().sandbox, backend=settings.backend)
    try:
        best = asyncio.run(sandbox.best())
    except (StetError, OSError) as error:  # an unwritable cache must not hide the rest of the report
        return DoctorRow("sandbox", PartState.MISSING, str(error))
    report = best.report if best else no_backend_report(settings.backend)
    stands = report.level.reaches(sandbox.minimum)
    pieces = [
        f"{report.backend} {report.version}: {report.level}".replace(" :", ":"),
        "" if stands else f"no code runs below level {sandbox.minimum}",
        f"not stronger because: {report.why_not_stronger}" if report.why_not_stronger else "",
        f"to improve: {report.advice}" if report.advice else "",
    ]
    return DoctorRow("sandbox", PartState.OK if stands else PartState.MISSING, "; ".join(filter(None, pieces)))


async def _memory(loaded: LoadedSettings) -> DoctorRow:
    """The number of remembered solutions. A fault of the memory does not prevent jobs from running."""
    from stet_ls.engine.memory.job_memory import JobMemory
    from stet_ls.engine.memory.memory_client import MemoryClient

    flow = JobMemory(MemoryClient(loaded.settings.memory, user_paths()), loaded.settings.memory)
    if obstacle := flow.memory.obstacle():
        return DoctorRow("memory", PartState.MISSING, obstacle)
    try:
        found = await flow.stats()
    except StetError as error:
        return DoctorRow("memory", PartState.MISSING, str(error))
    finally:
        await flow.close()
    by = f", compared by {found['embedder'] or 'words only'}" if found["solutions"] else ""
    team = f"; the team's: {found['team']['fault'] or 'ready'}" if found.get("team") else ""
    return DoctorRow("memory", PartState.OK, f"{found['solutions']:,} solutions in {found['uri']}{by}{team}")


def _editors() -> Iterator[DoctorRow]:
    found = {name: place for name, program in PROGRAMS.items() if (place := on_path(program))}
    for name, place in found.items():
        yield DoctorRow("editor", PartState.OK, f"{name}: {place}")
    if not found:
        yield DoctorRow("editor", PartState.MISSING, f"none of {', '.join(PROGRAMS.values())} is on PATH")


def _places() -> Iterator[DoctorRow]:
    paths = user_paths()
    settings = (
        "is there" if paths.config_file.exists() else "not found, using defaults; run `stet config init` to create it"
    )
    yield DoctorRow("settings", PartState.OK, f"{paths.config_file} {settings}")
    for name in ("data", "cache", "logs"):
        folder: Path = getattr(paths, name)
        there = next((place for place in (folder, *folder.parents) if place.exists()), folder)
        if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
            yield DoctorRow(name, PartState.OK, str(folder))
        else:
            obstacle = f"cannot write to {there}" if there.is_dir() else f"{there} is not a folder"
            yield DoctorRow(name, PartState.MISSING, f"{folder}: {obstacle}; set `STET_HOME` to move all folders")


def _print(parts: list[DoctorRow]) -> None:
    for part, text in zip(parts, render.table([(part.name, part.detail) for part in parts]), strict=True):
        mark, style = _MARKS[part.state]
        render.print_line(f"{mark} {text}", style)
