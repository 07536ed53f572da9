"""The policy of the store: which solutions may be stored, which are found, and in which order."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from stet_ls.engine.errors import StoreError, StoreFault
from stet_ls.engine.memory.solution import GLOBAL, Solution, check, code_without_space, from_elsewhere, texts_of
from stet_ls.engine.memory.store import journal
from stet_ls.engine.memory.store.lance_table import row_filter
from stet_ls.engine.memory.store.synced_index import SyncedIndex
from stet_ls.engine.memory.store.table_rows import TableRow
from stet_ls.engine.memory.store.team_table import SECONDS, TeamTable

_ALIKE = 0.95
"""Least cosine at which two solutions of one language and scope are the same, for words and words with code."""
_BELOW_BEST = 0.15
"""Hits that are this much less similar than the best one are left out."""
_CANDIDATES = 20
_LIFTED = 5
_STEP = 0.05
"""Bonus of outcomes for a hit's rank, times log(1 + wins - losses). It never lifts a hit over the threshold."""
_FRESH = 0.01
_FRESH_DAYS = 90.0
_ID = re.compile(r"[0-9a-f]{4,32}")
_WORD = re.compile(r"[^\W_]{3,}")
_COMMON = frozenset({"the", "and", "for", "that", "with", "from", "this", "into", "are", "has", "its", "all", "any"})


@dataclass(frozen=True, slots=True)
class SolutionHit:
    """A search hit. `score` is its similarity from 0 to 1, `by` the method: vectors or words."""

    solution: Solution
    score: float
    by: str
    team: bool = False
    """True for a team's solution."""

    def to_json(self) -> dict[str, Any]:
        """The hit as JSON for search results."""
        return {**self.solution.to_json(), "score": round(self.score, 4), "by": self.by, "team": self.team}


@dataclass(frozen=True, slots=True)
class StoreResult:
    """The result of storing: the id, and whether the solution is new, was known, or replaced a similar one."""

    id: str
    how: str


class SolutionStore:
    """Solutions, searched by meaning. `most` is how many are kept; `team` is searched in addition."""

    def __init__(self, index: SyncedIndex, most: int, team: TeamTable | None = None) -> None:
        self.index = index
        self.most = most
        self.team = team
        self.damaged = 0
        """Damaged rows that searches have found."""
        self._encoding = asyncio.Lock()

    async def put(self, solution: Solution) -> StoreResult:
        """Stores a solution; on return it is on the disk. Raises StoreError if that is not allowed or fails."""
        check(solution)
        index = self.index
        vectors = {}
        if index.embedder is not None:
            encoded = await self.encode(texts_of(solution))
            vectors = {solution.id: (encoded[0], encoded[1])}
        async with index.writing():
            old = (await index.table.get([solution.id])).get(solution.id)
            if old is not None:
                before = old.solution
                first, second = (solution, before) if solution.rank[0] > before.rank[0] else (before, solution)
                kept = first.grounded(second).kept_times(before.times_kept + solution.was_kept)
                kept = replace(kept, created_at=before.created_at, uses=before.uses, losses=before.losses)
                await index.write([journal.put(kept)], vectors)
                return StoreResult(solution.id, "known")
            alike = await self._alike(TableRow(solution, *vectors[solution.id])) if vectors else None
            if alike is None:
                new = solution.kept_times(max(solution.times_kept, int(solution.was_kept)))
                await index.write([journal.put(new)], vectors)
                return StoreResult(solution.id, "new")
            if solution.is_offer:  # it may still be undone, and the kept one would be lost
                return StoreResult(alike.id, "known")
            if solution.rank[0] < alike.rank[0]:
                await index.write([journal.put(alike.grounded(solution).counted(wins=1))])
                return StoreResult(alike.id, "known")
            successor = solution.kept_times(alike.times_kept + solution.was_kept)
            successor = replace(successor, uses=alike.uses, losses=alike.losses)
            await index.write([journal.forget(alike.id), journal.put(successor)], vectors)
            return StoreResult(solution.id, "replaced")

    async def put_many(self, solutions: Sequence[Solution]) -> int:
        """Stores new solutions that are allowed; returns how many. Their vectors are computed in the background."""
        wanted = {solution.id: solution for solution in solutions if _may(solution)}
        async with self.index.writing():
            have = await self.index.table.get(list(wanted))
            new = [solution for ident, solution in wanted.items() if ident not in have]
            if new:
                await self.index.write(journal.put(solution) for solution in new)
        return len(new)

    async def count(self, ids: Sequence[str], *, uses: int = 0, wins: int = 0, losses: int = 0) -> None:
        """Counts outcomes of solutions. Ids that no longer exist are skipped."""
        async with self.index.writing():
            rows = [row for row in (await self.index.table.get(ids)).values() if row is not None]
            counted = [row.solution.counted(uses=uses, wins=wins, losses=losses) for row in rows]
            if counted:
                await self.index.write(journal.count(solution) for solution in counted)
            if self.team is not None and len(counted) < len(ids):
                # A team solution's outcome here is the user's own knowledge and takes precedence over the
                # team's copy. Outcomes reported by other users do not.
                own = {solution.id for solution in counted}
                theirs = await self.team.get([ident for ident in ids if ident not in own])
                await self.index.write(
                    [
                        journal.put(from_elsewhere(row.solution).counted(uses=uses, wins=wins, losses=losses))
                        for row in theirs.values()
                        if _may(row.solution)
                    ],
                    {ident: (row.v_ins, row.v_all) for ident, row in theirs.items()},
                )

    async def retract(self, edit: str) -> int:
        """Removes the solutions that depended on an undone edit alone; returns their number."""
        index = self.index
        async with index.writing():
            ids = await index.table.grounded(edit)
            rows = [row for row in (await index.table.get(ids)).values() if row is not None]
            left = {row.solution.id: row.solution.without(edit) for row in rows}
            if left:
                events = [
                    journal.forget(ident) if solution is None else journal.put(solution)
                    for ident, solution in left.items()
                ]
                await index.write(events, replaces=True)
                await index.purge()
        return list(left.values()).count(None)

    async def get(self, ident: str) -> Solution:
        """The solution of an id or of a unique prefix. Raises StoreError (unknown id) if there is none."""
        await self.index.refresh()
        ids = await self.index.table.beginning(ident) if _ID.fullmatch(ident) else []
        row = (await self.index.table.get(ids))[ids[0]] if len(ids) == 1 else None
        if row is None and self.team is not None:
            row = (await self.team.get([ident])).get(ident)
        if row is None:
            raise unknown(ident)
        return row.solution

    async def search(
        self,
        query: str,
        *,
        languages: Sequence[str] | None = None,
        scope: str | None = None,
        limit: int = 3,
        min_score: float = 0.7,
        team_seconds: float = SECONDS,
    ) -> list[SolutionHit]:
        """The best matches in `scope` and the global one (None: all), and the team's that come in `team_seconds`."""
        await self.index.refresh()
        scopes = None if scope is None else {scope, GLOBAL}
        scores: dict[str, float] = {}
        theirs: asyncio.Task[list[tuple[TableRow, float]]] | None = None
        if self.index.embedder is not None:
            vector = (await self.encode([query]))[0]
            if self.team is not None:
                theirs = asyncio.create_task(
                    self.team.search(vector, languages, limit + _LIFTED, min_score, team_seconds)
                )
            scores = await self.index.nearest(vector, max(_CANDIDATES, limit), languages, scopes)
            scores = {ident: score for ident, score in scores.items() if score >= min_score}
        by = dict.fromkeys(scores, "vectors")
        if self.index.embedder is None or self.index.waiting:
            for ident, score in (await self._by_words(query, languages, scopes)).items():
                if score >= min_score and ident not in scores:
                    scores[ident], by[ident] = score, "words"
        # Reads only as many as outcomes may lift into the first ones.
        best = sorted(scores, key=lambda ident: -scores[ident])[: limit + _LIFTED]
        found = await self.index.solutions(best)
        self.damaged += sum(each is None for each in found.values())
        hits = [SolutionHit(each, min(scores[ident], 1.0), by[ident]) for ident, each in found.items() if each]
        if theirs is not None:
            known = {(hit.solution.language, code_without_space(hit.solution.code)) for hit in hits}
            hits += [
                SolutionHit(row.solution, min(score, 1.0), "vectors", team=True)
                for row, score in await theirs
                if (row.solution.language, code_without_space(row.solution.code)) not in known
            ]
        hits.sort(key=_place, reverse=True)
        top = max((hit.score for hit in hits), default=0.0)
        return [hit for hit in hits if hit.score >= top - _BELOW_BEST][:limit]

    async def encode(self, texts: Sequence[str]) -> Any:
        """The vectors of texts, one run at a time: a query waits for a few background texts at most."""
        assert self.index.embedder is not None
        async with self._encoding:
            return await asyncio.to_thread(self.index.embedder.encode, texts)

    async def _alike(self, row: TableRow) -> Solution | None:
        """A stored solution with nearly equal words and code, judged by vectors."""
        found = await self.index.nearest(row.v_ins, 3, [row.solution.language], [row.solution.scope])
        near = [ident for ident, score in found.items() if score >= _ALIKE]
        for other in (await self.index.table.get(near)).values():
            if other and min(float(row.v_ins @ other.v_ins), float(row.v_all @ other.v_all)) >= _ALIKE:
                return other.solution
        return None

    async def _by_words(
        self, query: str, languages: Sequence[str] | None, scopes: Collection[str] | None
    ) -> dict[str, float]:
        """The share of the query's words that an instruction has, by id."""
        wanted = _words(query)
        if not wanted:
            return {}
        found = await self.index.table.by_words(" ".join(wanted), row_filter(languages, scopes), _CANDIDATES)
        return {ident: len(wanted & _words(text)) / len(wanted) for ident, text in found.items()}


def unknown(ident: str) -> StoreError:
    """The error for an unknown id."""
    return StoreError(f"Unknown solution {ident!r}. Run `stet memory search` for ids.", fault=StoreFault.UNKNOWN_ID)


def _place(hit: SolutionHit) -> float:
    """The sort key of hits: similarity, outcomes, and a small bonus for recent ones."""
    balance = hit.solution.wins - hit.solution.losses
    return hit.score + math.copysign(_STEP * math.log1p(abs(balance)), balance) + _FRESH * _freshness(hit.solution)


def _freshness(solution: Solution) -> float:
    """From 1 (today, or in the future if a clock was wrong) to 0."""
    try:
        then = datetime.fromisoformat(solution.last_used_at or solution.created_at)
        days = (datetime.now(UTC) - then).total_seconds() / 86_400
    except (ValueError, TypeError):
        return 0.0
    return math.exp(-max(days, 0.0) / _FRESH_DAYS)


def _may(solution: Solution) -> bool:
    try:
        check(solution)
    except StoreError:
        return False
    return True


def _words(text: str) -> set[str]:
    """The words that carry meaning, without the endings that a rephrasing changes."""
    words = (word.lower() for word in _WORD.findall(text))
    return {re.sub(r"(?<=\w{3})(?:ing|ed|es|s|e)$", "", word) for word in words if word not in _COMMON}
