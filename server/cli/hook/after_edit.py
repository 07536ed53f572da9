"""After an edit: new syntax errors, undefined names and dangerous calls in the edited files.

The agent is midway, so this informs and never blocks. It takes two seconds at most, with the start of the process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from stet_ls.engine.api.actions import CHANGED_CODE
from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.table import judge_of
from stet_ls.engine.privacy.secret_files import is_secret
from stet_ls.engine.verify.changes.change import ChangedFile
from stet_ls.engine.verify.changes.tree import Tree
from stet_ls.validators.checkers.toolbox import Toolbox
from stet_ls.validators.languages import PLAIN
from stet_ls.validators.project_files import read_regular
from stet_ls.validators.source import Source

SECONDS = 1.5
_MOST_BYTES = 500_000
_CHECKS = (Check.SYNTAX, Check.NAMES, Check.DANGER)
_REPORTED = {Check.SYNTAX: (Ruling.FAIL,), Check.NAMES: (Ruling.FAIL,), Check.DANGER: (Ruling.FAIL, Ruling.UNKNOWN)}


async def findings(root: Path, base: Tree | None, files: Sequence[Path]) -> list[str]:
    """One line for each new problem in the edited files, as far as the time allows. Raises what a check raised, if no
    other one found anything.
    """
    changed = [each for each in _changed(root, base, files) if each.language != PLAIN]
    tasks = {asyncio.create_task(_judged(root, file, check)): None for file in changed for check in _CHECKS}
    if not tasks:
        return []
    done, late = await asyncio.wait(tasks, timeout=SECONDS)
    for task in late:
        task.cancel()
    lines = [line for task in done if not task.exception() and (line := task.result())]
    if not lines and (error := next((each for task in done if (each := task.exception())), None)):
        raise error
    return sorted(lines)


async def _judged(root: Path, file: ChangedFile, check: Check) -> str:
    before, after = file.text(file.before), file.text(file.after)
    if before is None or after is None:
        return ""
    tools = Toolbox(workspaces=(root,))  # no program of the project's own runs
    case = Case(CHANGED_CODE, file.language, root / file.path, Source(before), Source(after), tools=tools)
    evidence = await judge_of(check).judge(case)
    if evidence.verdict not in _REPORTED[check]:
        return ""
    from stet_ls.server.cli.agents.fenced import clean

    return clean(f"{file.path}: {check.value}: {evidence.detail}")


def _changed(root: Path, base: Tree | None, files: Sequence[Path]) -> list[ChangedFile]:
    inside = [path for file in files if (path := _below(root, file)) and not is_secret(path.split("/"))]
    before: Mapping[str, bytes] = base.read(inside) if base else {}
    found = []
    for path in inside:
        try:
            after = read_regular(root / path, most=_MOST_BYTES)
        except OSError:
            continue
        if before.get(path) != after:
            found.append(ChangedFile(path, before.get(path), after, path))
    return found


def _below(root: Path, file: Path) -> str:
    """The path below the root, "" for a file elsewhere: a payload names files, and a link may lead out."""
    real = file.resolve()
    return real.relative_to(root).as_posix() if real.is_relative_to(root) else ""
