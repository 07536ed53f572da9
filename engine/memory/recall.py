"""The use of search hits: which enter a prompt, which one answers, and what is shown of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stet_ls.engine.api.metadata import MemoryHit
from stet_ls.engine.api.request import Request
from stet_ls.engine.memory.request_scope import root_of, scope_for, squeezed, text_of
from stet_ls.engine.memory.solution import Solution, plain_words
from stet_ls.engine.plurals import plural
from stet_ls.engine.prompt.context_items import RememberedItem
from stet_ls.engine.prompt.tokens import estimate
from stet_ls.validators import structure
from stet_ls.validators.source import Source

_TOKENS = 1500
"""Of a prompt, for all hits together."""


@dataclass(frozen=True, slots=True)
class RecalledSolution:
    """A hit for a prompt. `provenance` is a few words: "from `src/dates.py`, kept 3 times".

    `fits` is true if it answers the same request: the user's own solution, for these words and this signature. The
    field `support` describes how it was kept, `tests` are those stored with it.
    """

    id: str
    text: str
    provenance: str
    score: float
    fits: bool = False
    support: str = ""
    tests: str = ""

    @property
    def piece(self) -> RememberedItem:
        """The item shown in the prompt."""
        return RememberedItem(self.text, self.provenance)

    @property
    def hit(self) -> MemoryHit:
        """The hit for an answer's metadata."""
        return MemoryHit(self.id, self.score, self.provenance)


def choose_hits(
    rows: list[dict[str, Any]], request: Request, instruction: str, signature: str
) -> tuple[RecalledSolution, ...]:
    """The hits that may enter the prompt: whole units, no losers, nothing that the document shows already."""
    known: list[RecalledSolution] = []
    room = _TOKENS
    shown = squeezed(request.source.text)
    for row in rows:
        solution = Solution.from_json(row)
        tokens = estimate(solution.code)
        if solution.losses > solution.wins or tokens > room or squeezed(solution.code) in shown:
            continue
        if not structure.units(Source(solution.code), solution.language):
            continue
        room -= tokens
        origin = provenance(solution, request, team=row["team"])
        fits = not row["team"] and _fits(solution, request, instruction, signature)
        known.append(
            RecalledSolution(solution.id, solution.code, origin, row["score"], fits, _support(solution), solution.tests)
        )
    return tuple(known)


def _fits(solution: Solution, request: Request, instruction: str, signature: str) -> bool:
    """True if a kept solution had the same request and signature, and nothing else is requested."""
    asks_more = request.constraints or request.context or (request.spec.all_diagnostics and request.diagnostics)
    same = plain_words(solution.instruction) == plain_words(instruction) and squeezed(solution.signature) == squeezed(
        signature
    )
    alike = request.spec.answers_from_memory and request.action == solution.kind
    return bool(alike and same and signature and not asks_more and solution.is_supported)


def provenance(solution: Solution, request: Request | None = None, *, team: bool = False) -> str:
    """The origin of a solution and how it was kept, in a few words."""
    place = f"from `{solution.path}`" if solution.path else "from the memory"
    if team:
        place += " of the team"
    root = root_of(request) if request is not None and solution.scope == scope_for(request) else None
    if solution.path and root is not None and squeezed(solution.code) not in squeezed(text_of(root / solution.path)):
        place += " (changed since)"
    return ", ".join(part for part in (place, _support(solution)) if part)


def _support(solution: Solution) -> str:
    """How the solution was kept, in a few words."""
    known = {"imported": "imported", "learned": "of the project"}
    if solution.proven:
        known["proven"] = "proven by tests"
    times = solution.wins + (solution.outcome in ("kept", "edited"))
    kept = f"kept {plural(times, 'time')}" if times else ""
    return ", ".join(part for part in (known.get(solution.outcome, ""), kept) if part)
