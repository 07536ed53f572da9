"""The result of a review of a change, as data and as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stet_ls.engine.actions.reviewing.report import markdown
from stet_ls.engine.api.review import Review, ReviewFinding, ScorePart
from stet_ls.engine.markdown import code_span, harmless
from stet_ls.engine.plurals import plural
from stet_ls.engine.verify.render import finding_line, fitted_line, summary
from stet_ls.engine.verify.report import Report

SCHEMA = "stet.review/1"


@dataclass(frozen=True, slots=True)
class FileReview:
    """The review of one file's new text; `weight` is the number of its changed lines."""

    path: str
    review: Review
    weight: int = 1

    @classmethod
    def without(cls, path: str, why: str) -> FileReview:
        """A file that could not be reviewed."""
        return cls(path, Review((ScorePart("findings", 1, None, why),), note=why), 0)


@dataclass(frozen=True, slots=True)
class ChangeReview:
    """The judges' report, and the files' reviews. `notes` say what was not reviewed."""

    verified: Report
    files: tuple[FileReview, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def score(self) -> int:
        """The files' scores, weighted by their changed lines; 100 if no file has one."""
        weight = sum(each.weight for each in self.files)
        return round(sum(each.review.score * each.weight for each in self.files) / weight) if weight else 100

    @property
    def findings(self) -> tuple[tuple[str, ReviewFinding], ...]:
        """The reviewer's findings that count, each with its file; those that a run confirmed first."""
        found = [(each.path, one) for each in self.files for one in each.review.counted]
        return tuple(sorted(found, key=lambda row: not row[1].confirmed))

    @property
    def reviewers(self) -> str:
        """The names of the models that were asked."""
        return ", ".join(dict.fromkeys(each.review.reviewer for each in self.files if each.review.reviewer))

    def to_json(self) -> dict[str, Any]:
        """The review as `stet.review/1`."""
        return {
            "schema": SCHEMA, "verdict": self.verified.conclusion.value, "score": self.score,
            "files": [{"path": each.path, "weight": each.weight, **each.review.to_json()} for each in self.files],
            "notes": list(self.notes), "verify": self.verified.to_json(),
        }  # fmt: skip


def lines(review: ChangeReview) -> Iterator[str]:
    """The judges' findings, the reviewer's with their quotes, each file's score, and the whole in one line."""
    for each in review.verified.findings:
        yield finding_line(each)
    for path, one in review.findings:
        word = "confirmed" if one.confirmed else "opinion"
        yield fitted_line(f"{path}:{one.line} {one.kind} {word}: {one.words}")
        yield fitted_line(one.quote)
    for file in review.files:
        yield f"{file.path}: {file.review.score} of 100"
        for part in file.review.parts:
            yield fitted_line(f"- {part}: {part.detail}")
    for note in (*review.verified.notes, *review.notes):
        yield fitted_line(f"note: {note}")
    yield fitted_line(review_summary(review))


def as_markdown(review: ChangeReview) -> str:
    """The review as a document: the judges' findings, then each file's score and findings."""
    parts = [f"# Review\n\n{review_summary(review)}"]
    if found := [f"- {finding_line(each)}" for each in review.verified.findings]:
        parts.append("## Judges\n\n" + "\n".join(found))
    parts += [f"## {code_span(each.path)}\n\n{markdown(each.review)}" for each in review.files]
    parts += [f"- {note}" for note in (*review.verified.notes, *review.notes)]
    return harmless("\n\n".join(parts)) + "\n"


def review_summary(review: ChangeReview) -> str:
    """The score and the conclusion in one line."""
    confirmed = sum(one.confirmed for _, one in review.findings)
    by = f" by {review.reviewers}" if review.reviewers else ""
    found = f"{plural(len(review.findings), 'finding')}{by}, {confirmed} confirmed"
    score = f"review {review.score} of 100" if review.files else "review: no code changed"
    return f"{score}; {found}; {summary(review.verified)}"
