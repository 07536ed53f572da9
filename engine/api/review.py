"""A review: what a reviewer found in code, and a score of which each part says where it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from stet_ls.engine.api.json_schema import COUNT, FLAG, NUMBER, TEXT, Schema, array, nullable, table


@dataclass(frozen=True, slots=True)
class ScorePart:
    """`points` of at most `most`, and why in `detail`. None: it was not measured, and does not count."""

    name: str
    most: int
    points: float | None
    detail: str

    def __str__(self) -> str:
        return f"{self.name} {self.points:g}/{self.most}" if self.points is not None else f"{self.name} not measured"


@dataclass(frozen=True, slots=True)
class ReviewFinding:
    """A finding with the `quote` of its line (from 1). A run `confirmed` or `refuted` it, or it is an opinion.

    `inherited`: the code before does the same.
    """

    line: int
    quote: str
    kind: str
    words: str
    confirmed: bool = False
    refuted: bool = False
    inherited: bool = False

    @property
    def counts(self) -> bool:
        """Whether it is held against the code."""
        return not self.refuted and not self.inherited


@dataclass(frozen=True, slots=True)
class Review:
    """`parts` make up the score. `dropped` findings quoted no line of the code; `note` says why there are none.

    `reviewer` is the model's name, "" if none was asked. Of `tried` refinements, `kept` replaced the candidate.
    `unread` parts of a large change were not shown to it.
    """

    parts: tuple[ScorePart, ...]
    findings: tuple[ReviewFinding, ...] = ()
    dropped: int = 0
    note: str = ""
    reviewer: str = ""
    tried: int = 0
    kept: int = 0
    unread: int = 0

    @property
    def score(self) -> int:
        """From 0 to 100, of what was measured."""
        return score_of(self.parts)

    @property
    def counted(self) -> tuple[ReviewFinding, ...]:
        """The findings that are held against the code."""
        return tuple(each for each in self.findings if each.counts)

    def __str__(self) -> str:
        return f"{self.score} of 100 ({', '.join(map(str, self.parts))})"

    def to_json(self) -> dict[str, Any]:
        """The review as in an answer's JSON."""
        return {
            "score": self.score,
            "parts": [asdict(each) for each in self.parts],
            "findings": [
                {"line": each.line, "quote": each.quote, "kind": each.kind, "message": each.words,
                 "confirmed": each.confirmed, "refuted": each.refuted, "inherited": each.inherited}
                for each in self.findings
            ],
            "dropped": self.dropped, "note": self.note, "reviewer": self.reviewer, "unread": self.unread,
            "refinements": {"tried": self.tried, "kept": self.kept},
        }  # fmt: skip


def score_of(parts: Sequence[ScorePart]) -> int:
    """The share of the points that could be reached, in percent; 0 if nothing was measured."""
    measured = [each for each in parts if each.points is not None]
    most = sum(each.most for each in measured)
    return round(100 * sum(each.points or 0.0 for each in measured) / most) if most else 0


REVIEW_SCHEMA: Schema = table(
    score=COUNT,
    parts=array(table(name=TEXT, points=nullable("number"), most=NUMBER, detail=TEXT)),
    findings=array(
        table(line=COUNT, quote=TEXT, kind=TEXT, message=TEXT, confirmed=FLAG, refuted=FLAG, inherited=FLAG)
    ),
    dropped=COUNT,
    note=TEXT,
    reviewer=TEXT,
    unread=COUNT,
    refinements=table(tried=COUNT, kept=COUNT),
)
"""The JSON schema of `Review.to_json`."""
