"""The memory in the life of a job: asked before the prompt is made, told when the edit stood or fell.

It never fails a job and never holds one up for longer than its budget.
"""

from __future__ import annotations

import asyncio
import logging
import textwrap
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stet_ls.engine.errors import StetError
from stet_ls.engine.memory.client import Memory
from stet_ls.engine.memory.solution import GLOBAL, Solution, scope_of
from stet_ls.engine.models import Answer, Check, Outcome, Request, Ruling
from stet_ls.engine.prompt.instruction import find_instruction
from stet_ls.engine.prompt.leaks.dotenv import workspace_values
from stet_ls.engine.prompt.pieces import Remembered
from stet_ls.engine.prompt.redact import redact
from stet_ls.engine.prompt.target import resolve_target
from stet_ls.engine.prompt.tokens import estimate
from stet_ls.engine.settings import MemorySettings
from stet_ls.validators import structure
from stet_ls.validators.source import Source

_log = logging.getLogger(__name__)

BUDGET = 0.150
"""Seconds that a job waits for its hits."""
_HITS = 3
"""Of a thousand rephrased requests 991 have the right solution among the first three; five add four more."""
_TOKENS = 1500
"""Of a prompt, for all hits together."""
_LOOK = 0.3
"""Likeness from which on a person is shown what was found: nothing is done with it."""
_TEAM_LOOK = 2.0
"""Seconds that a person waits for the team's rows."""
_PENDING = 100
"""Edits whose fate is awaited; the oldest is given up first."""

UNSAVED = "unsaved"
"""The scope of documents that have no place."""

RECALLED = frozenset({"generate", "debug", "refactor", "optimize", "test"})
"""Actions that are shown what is remembered."""
LEARNED = frozenset({"generate", "debug", "refactor", "optimize"})
"""Actions whose code is remembered."""


@dataclass(frozen=True, slots=True)
class Known:
    """A hit as a prompt takes it. `provenance` is a few words: "from `src/dates.py`, kept 3 times"."""

    id: str
    text: str
    provenance: str
    score: float

    @property
    def piece(self) -> Remembered:
        """What the prompt shows."""
        return Remembered(self.text, self.provenance)


@dataclass(frozen=True, slots=True)
class _Pending:
    """What will be remembered if the edit stands, and the rows that it was made with."""

    solution: Solution | None
    used: tuple[str, ...]


class Flow:
    """The memory of one engine. Belongs to one event loop."""

    def __init__(self, memory: Memory, settings: MemorySettings) -> None:
        self.memory = memory
        self._settings = settings
        self._pending: OrderedDict[str, _Pending] = OrderedDict()
        self._background: set[asyncio.Task[None]] = set()
        self._counts = Counter[str]()
        self._team = "it was not reached yet"

    def warm(self) -> None:
        """Starts the memory's process behind everything else, if there is anything in it."""
        if self._holds_anything():
            self.memory.warm()

    async def recall(self, request: Request) -> tuple[Known, ...]:
        """What is remembered for a request; nothing if that takes too long, or fails. Never raises StetError."""
        if request.action not in RECALLED or self.memory.obstacle() or not self._holds_anything():
            return ()
        if not self.memory.ready:
            self.memory.warm()
            self._counts["skipped"] += 1
            return ()
        try:
            async with asyncio.timeout(BUDGET):
                query = await asyncio.to_thread(_wish, request)
                if not query:
                    return ()
                rows = await self._search(
                    query=query,
                    languages=[request.language],
                    scope=None if self._settings.scope == "global" else scope_for(request),
                    limit=_HITS,
                    min_score=self._settings.min_score,
                )
                known = await asyncio.to_thread(_chosen, rows, request)
        except TimeoutError:
            self._counts["skipped"] += 1
            return ()
        except StetError as error:
            self._counts["failed"] += 1
            _log.warning("the memory: %s", error)
            return ()
        self._counts["asked"] += 1
        self._counts["hits"] += len(known)
        return known

    def offered(self, trace: str, request: Request, answer: Answer, used: tuple[Known, ...]) -> None:
        """An answer is on its way to its user: it waits for its fate. Proven by trusted tests, it waits for none."""
        ids = tuple(each.id for each in used)
        self._later(self._offered(trace, request, answer, ids), "what was offered")

    async def outcome(self, trace: str, outcome: Outcome, text: str) -> None:
        """What became of an edit. `text` is the document as it stands."""
        if self._background:
            await asyncio.wait(self._background)  # the offer may just be being written down
        pending = self._pending.pop(trace, None)
        if pending is None:
            return
        match outcome:
            case Outcome.KEPT:
                await self._learn(pending.solution, "kept")
                await self._count(pending.used, wins=1)
            case Outcome.EDITED:
                solution = (
                    None if pending.solution is None else await asyncio.to_thread(_edited, pending.solution, text)
                )
                await self._learn(solution, "edited")
            case Outcome.UNDONE | Outcome.REJECTED:
                own = pending.solution.id if pending.solution and pending.solution.outcome == "proven" else None
                await self._count((*pending.used, *([own] if own else [])), losses=1)

    async def look(self, query: str, *, languages: list[str] | None, limit: int) -> list[dict[str, Any]]:
        """What a person looks for, in all scopes, as `Solution.to_json` with its score. Waits for the process."""
        if not self._holds_anything():
            return []
        rows = await self._search(
            query=query, languages=languages, scope=None, limit=limit, min_score=_LOOK, team_seconds=_TEAM_LOOK
        )
        return [{**row, "from": provenance(Solution.from_json(row), team=row["team"])} for row in rows]

    async def stats(self) -> Mapping[str, Any]:
        """How much is remembered, and how. An empty memory is told without starting anything."""
        if self._holds_anything():
            found: dict[str, Any] = await self.memory.ask("stats")
            return found
        return {"solutions": 0, "dimension": None, "embedder": None, "bytes": 0, "uri": str(self.memory.folder)}

    async def forget(self, ids: list[str]) -> int:
        """Removes solutions from the disk; returns how many there were."""
        return int(await self.memory.ask("forget", ids=ids)) if self._holds_anything() else 0

    def health(self) -> Mapping[str, Any]:
        """How the memory is, without asking it."""
        obstacle = self.memory.obstacle()
        state = "off" if obstacle else "ready" if self.memory.ready else "asleep"
        counts = {name: self._counts[name] for name in ("asked", "hits", "skipped", "failed", "learned", "refused")}
        told = {"status": state, "detail": obstacle or self.memory.last_fault, **counts, "pending": len(self._pending)}
        return {**told, "team": {"uri": self.memory.team, "fault": self._team}} if self.memory.team else told

    async def close(self) -> None:
        """Lets go of the process, after what is being written is written."""
        if self._background:
            await asyncio.wait(self._background, timeout=2.0)
        await self.memory.close()

    async def _search(self, **fields: Any) -> list[dict[str, Any]]:
        found: dict[str, Any] = await self.memory.ask("search", **fields)
        self._team = found["team"]
        return list(found["hits"])

    def _holds_anything(self) -> bool:
        if self.memory.team:
            return True
        try:
            return (self.memory.folder / "journal.jsonl").stat().st_size > 0
        except OSError:
            return False

    async def _offered(self, trace: str, request: Request, answer: Answer, used: tuple[str, ...]) -> None:
        solution = await asyncio.to_thread(_solution, request, answer, self._settings.scope)
        if solution is not None and solution.outcome == "proven":
            await self._learn(solution, "proven")
        self._pending[trace] = _Pending(solution, used)
        while len(self._pending) > _PENDING:
            self._pending.popitem(last=False)
        await self._count(used, uses=1)

    async def _learn(self, solution: Solution | None, outcome: str) -> None:
        if solution is None or self.memory.obstacle():
            return
        try:
            await self.memory.ask("put", solution=replace(solution, outcome=outcome).to_json())
            self._counts["learned"] += 1
        except StetError as error:
            self._counts["refused"] += 1
            _log.warning("not remembered: %s", error)

    async def _count(self, ids: tuple[str, ...], *, uses: int = 0, wins: int = 0, losses: int = 0) -> None:
        if not ids or self.memory.obstacle():
            return
        try:
            await self.memory.ask("count", ids=list(ids), uses=uses, wins=wins, losses=losses)
        except StetError as error:
            _log.warning("not counted: %s", error)

    def _later(self, work: Any, name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


def scope_for(request: Request) -> str:
    """The scope of a request's workspace."""
    root = root_of(request)
    return UNSAVED if root is None else scope_of(root)


def root_of(request: Request) -> Path | None:
    """The folder of the workspace that holds the document, or its own folder; None for one that was never saved."""
    path = request.path
    roots = [root for root in request.workspace.roots if path is None or path.is_relative_to(root)]
    if roots:
        return max(roots, key=lambda root: len(root.parts)).resolve()
    return None if path is None else path.parent.resolve()


def _wish(request: Request) -> str:
    """What the request asks for, in words; "" if it says nothing."""
    try:
        instruction = find_instruction(request, resolve_target(request))
    except StetError:
        return ""
    return instruction.text if instruction is not None else ""


def _chosen(rows: list[dict[str, Any]], request: Request) -> tuple[Known, ...]:
    """The hits that may enter the prompt: whole units, no losers, nothing that the document shows anyway."""
    known: list[Known] = []
    room = _TOKENS
    shown = _squeezed(request.source.text)
    for row in rows:
        solution = Solution.from_json(row)
        tokens = estimate(solution.code)
        if solution.losses > solution.wins or tokens > room or _squeezed(solution.code) in shown:
            continue
        if not structure.units(Source(solution.code), solution.language):
            continue
        room -= tokens
        whence = provenance(solution, request, team=row["team"])
        known.append(Known(solution.id, solution.code, whence, row["score"]))
    return tuple(known)


def provenance(solution: Solution, request: Request | None = None, *, team: bool = False) -> str:
    """Where a solution comes from and how it stood, in a few words."""
    place = f"from `{solution.path}`" if solution.path else "from the memory"
    if team:
        place += " of the team"
    root = root_of(request) if request is not None and solution.scope == scope_for(request) else None
    if solution.path and root is not None and not _stands(root / solution.path, solution.code):
        place += " (changed since)"
    stood = {"proven": "proven by tests", "imported": "imported", "learned": "of the project"}
    times = solution.wins + (solution.outcome in ("kept", "edited"))
    kept = f"kept {times} time{'' if times == 1 else 's'}" if times else ""
    return ", ".join(part for part in (place, stood.get(solution.outcome, ""), kept) if part)


def _stands(path: Path, code: str) -> bool:
    """True if the file still holds the code, whatever its white space."""
    try:
        return path.stat().st_size < 2_000_000 and _squeezed(code) in _squeezed(path.read_text("utf-8", "replace"))
    except OSError:
        return False


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _solution(request: Request, answer: Answer, scope: str) -> Solution | None:
    """What an answer would teach; None if nothing: no words, no whole unit, refuted, or a secret in it."""
    words = _wish(request)
    if request.action not in LEARNED or not (answer.success and answer.edits and words) or answer.refuted:
        return None
    code = textwrap.dedent(answer.code).strip("\n")
    units = structure.units(Source(code), request.language)
    values = workspace_values(
        request.workspace.roots, request.path, [(each.path, each.text) for each in request.workspace.buffers]
    )
    text = "\n".join([words, code, answer.tests or ""])
    if not units or redact(text, values=values).redactions:
        return None
    root = root_of(request)
    place = request.path.resolve() if request.path is not None else None
    proven = any(each.check is Check.TESTS and each.verdict is Ruling.PASS and each.trusted for each in answer.evidence)
    return Solution(
        instruction=words,
        code=code,
        language=request.language,
        tests=answer.tests or "",
        evidence=tuple(f"{each.check}: {each.verdict}, {each.detail}" for each in answer.evidence),
        outcome="proven" if proven else "kept",
        scope=GLOBAL if scope == GLOBAL else scope_for(request),
        kind=request.action,
        signature=units[0].signature,
        unit=units[0].qualified,
        path=place.relative_to(root).as_posix() if place and root and place.is_relative_to(root) else "",
        model=str(answer.metadata.get("model", "")),
    )


def _edited(solution: Solution, text: str) -> Solution | None:
    """The solution with the unit as its user left it; None if it is gone, or holds a secret now."""
    source = Source(text)
    unit = next((each for each in structure.units(source, solution.language) if each.qualified == solution.unit), None)
    if unit is None:
        name = solution.unit.rpartition(".")[2]
        named = [each for each in structure.units(source, solution.language) if each.name == name]
        unit = named[0] if len(named) == 1 else None
    if unit is None:
        return None
    code = textwrap.dedent(source.slice(unit.span))
    # What was tested is another text.
    return replace(solution, code=code, signature=unit.signature, tests="", evidence=())
