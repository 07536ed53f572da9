"""The memory of a job: searched before the prompt, updated by the outcome. No job fails or waits long for it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from stet_ls.engine.api.actions import spec_of
from stet_ls.engine.api.answer import Answer, EditOutcome
from stet_ls.engine.api.request import Request
from stet_ls.engine.errors import StetError
from stet_ls.engine.memory.learned_solution import (
    Places,
    digest,
    places_of,
    solution_from_edit,
    with_edited_unit,
    with_present_unit,
)
from stet_ls.engine.memory.memory_client import MemoryClient
from stet_ls.engine.memory.pending_outcomes import PendingOutcomes, UndoneEdits, UnsettledWrite
from stet_ls.engine.memory.recall import RecalledSolution, choose_hits, provenance
from stet_ls.engine.memory.request_scope import request_wording, scope_for, squeezed, text_of
from stet_ls.engine.memory.solution import Solution, outcome_ground
from stet_ls.engine.settings.schema import MemorySettings

_log = logging.getLogger(__name__)

BUDGET = 0.150
"""Seconds that a job waits for its hits."""
_HITS = 3
"""Of a thousand rephrased requests, 991 have the right solution in the first three hits; five hits add four more."""
_LOOK = 0.3
"""Least similarity for results that are only shown to a person."""
_TEAM_LOOK = 2.0
"""Seconds that a person waits for the team's rows."""
_PENDING = 100
"""Edits with an unknown outcome, and kept edits that may still be undone, at most; the oldest is dropped first."""

_WITHDRAWN = frozenset({EditOutcome.UNDONE, EditOutcome.REJECTED})


@dataclass(frozen=True, slots=True)
class _Pending:
    """The solution to remember if the edit is kept, and the rows that were used for it."""

    solution: Solution | None
    used: tuple[str, ...]
    request: Request


@dataclass(frozen=True, slots=True)
class RecallResult:
    """A job's search results. `missed` says why the memory was not searched; "" if it was, or is empty."""

    known: tuple[RecalledSolution, ...] = ()
    missed: str = ""


class JobMemory:
    """The memory of one engine. Belongs to one event loop."""

    def __init__(self, memory: MemoryClient, settings: MemorySettings) -> None:
        self.memory = memory
        self._settings = settings
        self._pending: OrderedDict[str, _Pending] = OrderedDict()
        self._kept: OrderedDict[str, tuple[str, ...]] = OrderedDict()
        """Edits that were kept, and the rows that were used for them."""
        self._withdrawn: set[str] = set()
        """Edits that were undone: solutions that depend on them alone are hidden, however long their removal takes."""
        self._background: set[asyncio.Task[None]] = set()
        self._former: set[asyncio.Task[None]] = set()
        self._counts = Counter[str]()
        self._team = "not connected yet"
        self._notice_shown = False

    def warm(self) -> None:
        """Starts the memory's process in the background, if there is anything to read or to write."""
        if self._holds_anything():
            self.memory.warm()
        self._later(self.settle(), "what commands wrote")

    def missing_notice(self, action: str) -> str:
        """The notice that the memory is not installed, for the first job that would use it; "" for all others."""
        missing = self._settings.enabled and self.memory.obstacle()
        if not spec_of(action).recalled or self._notice_shown or not missing:
            return ""
        self._notice_shown = True
        return f"Memory unavailable. {missing}"

    def inherit(self, former: JobMemory) -> None:
        """Takes over the pending outcomes of an instance with earlier settings: its jobs end here too."""
        self._pending, self._former = former._pending, former._background
        self._notice_shown = former._notice_shown
        self._kept, self._withdrawn = former._kept, former._withdrawn

    async def recall(self, request: Request) -> RecallResult:
        """The remembered solutions for a request, within the budget. Never raises StetError."""
        if not request.spec.recalled or self.memory.obstacle() or not self._holds_anything():
            return RecallResult()
        self.memory.warm()  # connects while the request is read
        query, signature = await asyncio.to_thread(request_wording, request)
        if not query:
            return RecallResult()
        try:
            async with asyncio.timeout(BUDGET):
                rows = await self._rows(request, query)
        except TimeoutError:
            self._counts["skipped"] += 1
            why = "its search took more than" if self.memory.ready else "its process did not respond within"
            return RecallResult(missed=f"{why} {BUDGET * 1000:.0f} ms")
        except StetError as error:
            self._counts["failed"] += 1
            _log.warning("the memory: %s", error)
            return RecallResult(missed=str(error))
        known = await asyncio.to_thread(choose_hits, rows, request, query, signature)
        self._counts["asked"] += 1
        self._counts["hits"] += len(known)
        return RecallResult(known)

    async def _rows(self, request: Request, query: str) -> list[dict[str, Any]]:
        await self.memory.connected()
        rows = await self._search(
            query=query,
            languages=[request.language],
            scope=None if self._settings.scope == "global" else scope_for(request),
            limit=_HITS,
            min_score=self._settings.min_score,
        )
        withdrawn = self._withdrawn.union(await asyncio.to_thread(self._undone.edits))
        return [row for row in rows if not Solution.from_json(row).rests_only_on(withdrawn)]

    def offered(self, trace: str, request: Request, answer: Answer, used: tuple[RecalledSolution, ...]) -> None:
        """Records an offered answer, whose outcome is pending. One proven by trusted tests is remembered at once."""
        ids = tuple(each.id for each in used)
        self._later(self._offered(trace, request, answer, ids), "what was offered")

    async def outcome(self, trace: str, outcome: EditOutcome, text: str) -> None:
        """Records the outcome of an edit. `text` is the current document. A kept edit may be undone later."""
        if outcome in _WITHDRAWN:
            self._withdrawn.add(trace)
            await self._record_undone(trace)
        pending = await self._awaiting(trace)
        kept = self._kept.pop(trace, None)
        if pending is not None:
            await self._settled(trace, pending.solution, pending.used, outcome, text, places_of(pending.request))
            if outcome not in _WITHDRAWN:
                self._kept[trace] = pending.used
                while len(self._kept) > _PENDING:
                    self._kept.popitem(last=False)
        elif outcome in _WITHDRAWN:
            await self._retract(trace)
            await self._count(kept or (), wins=-1, losses=1)

    async def applied(self, trace: str) -> None:
        """Records an edit that a command wrote, so that the next command or server can see whether it was kept."""
        pending = await self._awaiting(trace)
        if pending is None or pending.solution is None or pending.request.path is None or self.memory.obstacle():
            return
        request = pending.request
        before = await asyncio.to_thread(with_present_unit, pending.solution, request.source.text)
        undone = "" if before is None else digest(before.code)
        roots, path = request.workspace.roots, pending.request.path
        written = UnsettledWrite(pending.solution, pending.used, path, roots, undone, time.time(), trace)
        try:
            await asyncio.to_thread(PendingOutcomes(self.memory.folder).add, written)
        except StetError as error:
            _log.warning("cannot remember the edit: %s", error)

    async def settle(self) -> None:
        """Learns from edits that commands wrote some time ago and that are still there. Never raises StetError.

        Removes the remains of undone edits, too.
        """
        if self.memory.obstacle():
            return
        awaited = PendingOutcomes(self.memory.folder)
        due = await asyncio.to_thread(awaited.due, self._settings.stands_seconds)
        undone = await asyncio.to_thread(self._undone.edits)
        try:
            if due:
                await self.memory.ask("stats")
            if undone:
                await self._take_out(undone)
        except StetError as error:
            _log.warning("learning from commands is postponed: %s", error)
            return
        for each in due:
            text = await asyncio.to_thread(text_of, each.path)
            if squeezed(each.solution.code) in squeezed(text):
                outcome = EditOutcome.KEPT
            else:
                unit = await asyncio.to_thread(with_present_unit, each.solution, text)
                outcome = EditOutcome.UNDONE if unit is None or digest(unit.code) == each.undone else EditOutcome.EDITED
            await self._settled(each.edit, each.solution, each.used, outcome, text, (each.roots, each.path))
            try:
                await asyncio.to_thread(awaited.remove, [each])
            except StetError as error:
                _log.warning("%s", error)

    async def _awaiting(self, trace: str) -> _Pending | None:
        if trace not in self._pending and (tasks := self._background | self._former):
            await asyncio.wait(tasks)  # the offer may still be in the process of being recorded
        return self._pending.pop(trace, None)

    async def _settled(
        self,
        trace: str,
        learned: Solution | None,
        used: tuple[str, ...],
        outcome: EditOutcome,
        text: str,
        places: Places,
    ) -> None:
        match outcome:
            case EditOutcome.KEPT:
                await self._learn(
                    learned, trace, *(["proven"] if learned and learned.outcome == "proven" else []), "kept"
                )
                await self._count(used, wins=1)
            case EditOutcome.EDITED:
                await self._retract(trace)  # the user changed it, so the offered text was not kept
                left = None if learned is None else await asyncio.to_thread(with_edited_unit, learned, text, places)
                await self._learn(left, trace, "edited")
            case EditOutcome.UNDONE | EditOutcome.REJECTED:
                await self._retract(trace)
                await self._count(used, losses=1)

    async def search(self, query: str, *, languages: list[str] | None, limit: int) -> list[dict[str, Any]]:
        """Results for a person, from all scopes, as `Solution.to_json` with a score. Waits for the process."""
        if not self._holds_anything():
            return []
        rows = await self._search(
            query=query, languages=languages, scope=None, limit=limit, min_score=_LOOK, team_seconds=_TEAM_LOOK
        )
        return [{**row, "from": provenance(Solution.from_json(row), team=row["team"])} for row in rows]

    async def stats(self) -> Mapping[str, Any]:
        """Reports the size of the memory. An empty memory needs no process."""
        if self._holds_anything():
            found: dict[str, Any] = await self.memory.ask("stats")
            return found
        return {"solutions": 0, "dimension": None, "embedder": None, "bytes": 0, "uri": str(self.memory.folder)}

    async def forget(self, ids: list[str]) -> int:
        """Removes solutions from the disk; returns how many there were."""
        return int(await self.memory.ask("forget", ids=ids)) if self._holds_anything() else 0

    def health(self) -> Mapping[str, Any]:
        """The state of the memory, without a request to its process."""
        obstacle = self.memory.obstacle()
        state = "off" if obstacle else "ready" if self.memory.ready else "asleep"
        counts = {name: self._counts[name] for name in ("asked", "hits", "skipped", "failed", "learned", "refused")}
        row = {"status": state, "detail": obstacle or self.memory.last_fault, **counts, "pending": len(self._pending)}
        return {**row, "team": {"uri": self.memory.team, "fault": self._team}} if self.memory.team else row

    async def close(self) -> None:
        """Releases the process after pending writes are done."""
        if self._background:
            _, late = await asyncio.wait(self._background, timeout=2.0)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
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
        solution = await asyncio.to_thread(solution_from_edit, request, answer, self._settings.scope)
        if solution is not None and solution.outcome == "proven":
            await self._learn(solution, trace, "proven")
        self._pending[trace] = _Pending(solution, used, request)
        while len(self._pending) > _PENDING:
            self._pending.popitem(last=False)
        await self._count(used, uses=1)

    async def _learn(self, solution: Solution | None, trace: str, *outcomes: str) -> None:
        """Remembers an edit's solution with the outcomes of the edit, the most certain first."""
        if solution is None or self.memory.obstacle():
            return
        grounds = tuple(outcome_ground(each, trace) for each in outcomes)
        try:
            await self.memory.ask("put", solution=replace(solution, outcome=outcomes[0], grounds=grounds).to_json())
            self._counts["learned"] += 1
        except StetError as error:
            self._counts["refused"] += 1
            _log.warning("not remembered: %s", error)

    async def _retract(self, trace: str) -> None:
        """Removes solutions that depended on an edit alone; now, or at the memory's next start."""
        if not trace or self.memory.obstacle() or not self._holds_anything():
            return
        await self._record_undone(trace)
        try:
            await self._take_out([trace])
        except StetError as error:
            _log.warning("cannot forget the undone edit %s: %s", trace, error)

    async def _record_undone(self, trace: str) -> None:
        """Records that an edit was undone, before the first await."""
        if not trace or self.memory.obstacle() or not self._holds_anything():
            return
        try:
            await asyncio.to_thread(self._undone.add, trace)
        except StetError as error:
            _log.warning("%s", error)

    async def _take_out(self, edits: list[str]) -> None:
        for edit in edits:
            await self.memory.ask("retract", edit=edit)
        await asyncio.to_thread(self._undone.remove, edits)

    @property
    def _undone(self) -> UndoneEdits:
        return UndoneEdits(self.memory.folder)

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
