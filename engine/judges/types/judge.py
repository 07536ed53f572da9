"""Checks that the project's own type checker reports no new errors."""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.execution.runtime import RunExtent, Runtime
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.types.checker_run import CheckerProblem, TypeFinding, findings
from stet_ls.engine.judges.types.programs import CheckedFile, CheckerStart, MissingToolError
from stet_ls.engine.judges.types.type_checkers import CHECKERS, TY, TypeChecker
from stet_ls.engine.plurals import plural
from stet_ls.validators import structure
from stet_ls.validators.changed_excerpt import changed_lines
from stet_ls.validators.findings import added
from stet_ls.validators.source import Source
from stet_ls.validators.structure import Unit

_LEAST_SECONDS = 1.0
_RETRY_SECONDS = 600.0
"""A checker that was too slow for a project is not started there again for this long."""
_SEEING_SECONDS = 600.0
_MOST_BASELINES = 32
_LINE_NUMBER = re.compile(r"\blines? \d+")
_ANNOTATED = re.compile(r"->|\(\s*(?:self\s*,|cls\s*,)?[^)]*\w\s*:\s*\w")

_Found = tuple[TypeFinding, ...]
_BASELINES: dict[str, _Found] = {}
"""Findings in the text before, by what they depend on as far as that is cheap to read."""
_SLOW: dict[tuple[Path, str], float] = {}
_SEEING: dict[tuple[Path, str], float] = {}
"""Until when a checker is known to report errors of a file."""


async def judge(case: Case) -> Evidence:
    """Fails if a new error is in a function or line that the edit changed. Other new errors are a question; warnings
    and missing annotations are reported.
    """
    asked = await asyncio.to_thread(_asked, case)
    if isinstance(asked, Evidence):
        return asked
    name, key = asked.checker.name, (asked.target.root, asked.checker.name)
    if time.monotonic() < _SLOW.get(key, 0.0):
        return _evidence(Ruling.UNKNOWN, f"types not checked: {name} was too slow for this project before")
    try:
        before, after = await _both(asked, case)
        evidence = await asyncio.to_thread(_compared, case, asked, before, after)
        if evidence.verdict is Ruling.PASS and not await _sees_errors(asked, case):
            return _evidence(Ruling.UNKNOWN, f"types not checked: {name} does not report a planted error in this file")
        return evidence
    except CheckerProblem as problem:
        if problem.is_slow:
            _SLOW[key] = time.monotonic() + _RETRY_SECONDS
        return _evidence(Ruling.UNKNOWN, f"types not checked: {name}: {problem}")


@dataclass(frozen=True, slots=True)
class _Asked:
    """A checker and its command. `is_own`: the project has configured it."""

    checker: TypeChecker
    started: CheckerStart
    target: CheckedFile
    is_own: bool


def _asked(case: Case) -> _Asked | Evidence:
    """What checks the case; evidence with the reason if nothing does."""
    runtime, path = case.runtime, case.path
    rows = [row for row in CHECKERS if case.language in row.languages and case.tools.allows(row.name)]
    if not rows:
        return _evidence(Ruling.SKIPPED, f"no type checker for {case.language}")
    if runtime is None or path is None or (root := runtime.root_of(path)) is None:
        return _evidence(Ruling.SKIPPED, "types are checked for saved files of open folders, where code may run")
    if runtime.left() < _LEAST_SECONDS:
        return _evidence(Ruling.UNKNOWN, "types not checked: no time left")
    absent = ""
    for row in rows:
        folder = row.configured(root, path)
        if folder is None:
            continue
        started = _started(row, target := _target(case, runtime, root, folder))
        if started is not None:
            if runtime.extent is RunExtent.BRIEF and not row.is_fast:
                return _evidence(Ruling.SKIPPED, f"{row.name} not run: it needs the budget `standard` or larger")
            return _Asked(row, started, target, is_own=True)
        absent = absent or row.name
    if absent:
        return _evidence(Ruling.SKIPPED, f"{absent} is configured but not installed here")
    if TY in rows and (started := _started(TY, target := _target(case, runtime, root, root))) is not None:
        return _Asked(TY, started, target, is_own=False)
    return _evidence(Ruling.SKIPPED, "no type checker is configured")


def _target(case: Case, runtime: Runtime, root: Path, folder: Path) -> CheckedFile:
    assert case.path is not None
    return CheckedFile(root, case.path, case.before.text, folder, case.tools, runtime)


def _started(row: TypeChecker, target: CheckedFile) -> CheckerStart | None:
    try:
        return row.find(target)
    except MissingToolError:
        return None


async def _both(asked: _Asked, case: Case) -> tuple[_Found, _Found]:
    """The findings before and after. Those before may be remembered, and are found again if they matter."""
    checker, started, target = asked.checker, asked.started, asked.target
    key = await asyncio.to_thread(_key, asked)
    known = _BASELINES.get(key)
    if known is not None:
        (after,) = await findings(checker, started, target, [case.after.text])
        if not _new(known, after):
            return known, after
        (before,) = await findings(checker, started, target, [case.before.text])
    else:
        before, after = await findings(checker, started, target, [case.before.text, case.after.text])
    _BASELINES.pop(key, None)
    _BASELINES[key] = before
    if len(_BASELINES) > _MOST_BASELINES:
        del _BASELINES[next(iter(_BASELINES))]
    return before, after


async def _sees_errors(asked: _Asked, case: Case) -> bool:
    """Whether the checker reports errors of this file at all: its configuration, or a plugin, may leave the file out.

    Known for some minutes, as it costs another run.
    """
    checker, target = asked.checker, asked.target
    key = (target.path, checker.name)
    if not checker.planted or time.monotonic() < _SEEING.get(key, 0.0):
        return True
    text = f"{case.after.text.rstrip()}\n{checker.planted}"
    first = len(case.after.text.rstrip().splitlines())
    (found,) = await findings(checker, asked.started, target, [text])
    own = target.path.relative_to(target.root).as_posix()
    is_seen = any(each.path == own and each.line > first for each in found)
    if is_seen:
        _SEEING[key] = time.monotonic() + _SEEING_SECONDS
    return is_seen


def _key(asked: _Asked) -> str:
    target = asked.target
    own = (asked.checker.name, *asked.started.argv, *asked.started.env.values(), str(target.path), target.text)
    unsaved = [f"{buffer.path}\0{buffer.text}" for buffer in target.runtime.workspace.buffers]
    return hashlib.sha256("\0".join((*own, *unsaved)).encode("utf-8", "surrogatepass")).hexdigest()


def _new(before: _Found, after: _Found) -> Sequence[TypeFinding]:
    """The findings that are new by file, code and message; a text that moved keeps its old ones."""
    # A renamed variable changes the message of an old error: as many of that code in that file are gone.
    gone = (each for each in added(after, before, _identity) if each.code)
    return added(gone, added(before, after, _identity), lambda each: (each.path, each.code))


def _identity(finding: TypeFinding) -> tuple[str, str, str]:
    return finding.path, finding.code, _LINE_NUMBER.sub("line", finding.message)


def _compared(case: Case, asked: _Asked, before: _Found, after: _Found) -> Evidence:
    checker = asked.checker
    if any(re.search(checker.blinding, each.message) for each in before):
        return _evidence(Ruling.SKIPPED, f"{checker.name} does not find what the file imports")
    new = _new(before, after)
    hard = [each for each in new if each.severity in checker.errors and not re.search(checker.soft, each.code)]
    lines, functions = _changed_units(case.before, case.after, case.language)
    own = asked.target.path.relative_to(asked.target.root).as_posix()
    if not asked.is_own:
        lines = _annotated(case, lines, functions)
        new = hard = [each for each in hard if each.path == own and each.line in lines]
    if not new:
        return _evidence(Ruling.PASS, f"no new type errors ({checker.name})")
    at_fault = [each for each in hard if each.path == own and each.line in lines]
    shown = at_fault or hard or new
    what = "type error" if hard else "type warning"
    detail = f"{checker.name}: {plural(len(shown), f'new {what}')}, {_place(shown, own)}"
    if at_fault:
        return replace(_evidence(Ruling.FAIL, detail), trusted=True, count=len(shown))
    # Trusted, so that the user is asked: what the edit did not touch worked before.
    return replace(_evidence(Ruling.UNKNOWN, detail), trusted=bool(hard), count=len(shown))


def _annotated(case: Case, lines: frozenset[int], functions: Iterable[Unit]) -> frozenset[int]:
    """The lines of functions with annotations: without a checker of the project's, only what is promised counts."""
    kept: set[int] = set()
    for unit in functions:
        if _ANNOTATED.search(unit.signature):
            kept |= set(range(case.after.line_of(unit.span.start) + 1, case.after.line_of(unit.span.end) + 2))
    return lines & kept


def _place(findings: Sequence[TypeFinding], own: str) -> str:
    first = findings[0]
    where = f"line {first.line}" if first.path == own else f"{first.path or 'another file'}:{first.line}"
    code = f" [{first.code}]" if first.code else ""
    return f"{where}: {first.message}{code}" if len(findings) == 1 else f"first {where}: {first.message}{code}"


def _evidence(verdict: Ruling, detail: str) -> Evidence:
    return Evidence(Check.TYPES, verdict, detail)


def _changed_units(before: Source, after: Source, language: str) -> tuple[frozenset[int], tuple[Unit, ...]]:
    """The lines of `after`, from 1, that the edit changed or that share a function with them; and these functions."""
    touched = changed_lines(before.text.splitlines(), after.text.splitlines())
    lines, found = set(touched), []
    for unit in structure.units(after, language):
        own = range(after.line_of(unit.span.start) + 1, after.line_of(unit.span.end) + 2)
        if unit.kind == "function" and touched.intersection(own):
            lines.update(own)
            found.append(unit)
    return frozenset(lines), tuple(found)
