"""The metadata of an answer: its cost, its model, its confidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from stet_ls.engine.api.evidence import EvidenceTier
from stet_ls.engine.api.json_schema import COUNT, NUMBER, TEXT, Schema, array, nullable, table
from stet_ls.engine.api.review import REVIEW_SCHEMA, Review


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Tokens as the endpoint counts them; `cached` are those of `prompt` that came from its cache."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A remembered solution that the answer used. `provenance` is a few words: "from `src/dates.py`, kept 3 times"."""

    id: str
    score: float
    provenance: str


@dataclass(frozen=True, slots=True)
class Metadata:
    """What an answer carries in addition to its result."""

    model: str = ""
    """Name of the model, "" if none was asked."""
    endpoint: str = ""
    """Name of its endpoint."""
    trace: str = ""
    """Id of the job's record."""
    tokens: TokenCounts = field(default_factory=TokenCounts)
    """Tokens of all calls."""
    cost: float | None = 0.0
    """Their cost in the currency of the providers' prices; None if one price is unknown."""
    calls: int = 0
    """Number of model calls."""
    memory_hits: int = 0
    """Remembered solutions in the prompt, or 1 if one of them is the answer."""
    memory: tuple[MemoryHit, ...] = ()
    """Those solutions."""
    seconds: float = 0.0
    """From the start of the job to its answer."""
    stages: Mapping[str, float] = field(default_factory=dict)
    """Seconds per stage."""
    evidence_tier: EvidenceTier | None = None
    """The strongest evidence; None if no edit was judged, and for a task, whose steps have their own."""
    calibration: str = ""
    """The row of the table that the confidence comes from, "" if there is none."""
    reasons: tuple[str, ...] = ()
    """The reasons of the confidence, a phrase each; for a task one for each step."""
    confidence_interval: tuple[float, float] | None = None
    """Where the confidence is an estimate, since too few such answers were counted: its bounds."""
    raised_by: str = ""
    """What a user can do to have an edit checked that nothing ran: "give an example: f(...) == ..."."""
    is_resolved: bool = False
    """True if the checker that reported the problem no longer does; not part of the JSON."""
    steps: tuple[str, ...] = ()
    """The plan of a task."""
    review: Review | None = None
    """What a reviewer found in the edit."""
    kind: str = ""
    """The kind of bug that a fix removes, or of a refactoring: "off by one", "extract"."""
    no_tests: str = ""
    """Why generated code comes without tests."""
    cached: int = 0
    """Replies of the model that came from the cache, because the same was asked before."""
    task: str = ""
    """The id of a task in the history."""

    @property
    def show_trace(self) -> str:
        """The command that shows the job's record, "" if there is no job."""
        return f"stet trace show {self.trace}" if self.trace else ""

    def to_json(self) -> dict[str, Any]:
        """The metadata as in an answer's JSON; what does not apply is left out."""
        optional: dict[str, Any] = {
            "calibration": self.calibration,
            "confidence_reason": "; ".join(self.reasons),
            "confidence_interval": [round(each, 3) for each in self.confidence_interval or ()],
            "evidence_tier": self.evidence_tier,
            "raised_by": self.raised_by,
            "steps": list(self.steps),
            "task": self.task,
            "memory": [asdict(hit) for hit in self.memory],
            "kind": self.kind,
            "no_tests": self.no_tests,
            "cached": self.cached,
            "review": None if self.review is None else self.review.to_json(),
        }
        return {
            "model": self.model,
            "endpoint": self.endpoint,
            "tokens": asdict(self.tokens),
            "cost": None if self.cost is None else round(self.cost, 6),
            "calls": self.calls,
            "memory_hits": self.memory_hits,
            "stages": {name: round(seconds, 3) for name, seconds in self.stages.items()},
            "seconds": round(self.seconds, 3),
            "trace": self.trace,
            "show_trace": self.show_trace,
            **{name: value for name, value in optional.items() if value},
        }


_OPTIONAL: Schema = {
    "calibration": TEXT,
    "confidence_reason": TEXT,
    "confidence_interval": array(NUMBER),
    "evidence_tier": {"enum": [tier.value for tier in EvidenceTier]},
    "raised_by": TEXT,
    "steps": array(TEXT),
    "task": TEXT,
    "memory": array(table(id=TEXT, score=NUMBER, provenance=TEXT)),
    "kind": TEXT,
    "no_tests": TEXT,
    "cached": COUNT,
    "review": REVIEW_SCHEMA,
}
_ALWAYS = table(
    model=TEXT,
    endpoint=TEXT,
    tokens=table(prompt=COUNT, completion=COUNT, cached=COUNT),
    cost=nullable("number"),
    calls=COUNT,
    memory_hits=COUNT,
    stages={"type": "object", "additionalProperties": NUMBER},
    seconds=NUMBER,
    trace=TEXT,
    show_trace=TEXT,
)
METADATA_SCHEMA: Schema = {**_ALWAYS, "properties": {**_ALWAYS["properties"], **_OPTIONAL}}
"""The JSON schema of `Metadata.to_json`."""
