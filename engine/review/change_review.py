"""Reviews a change: the judges first, then file by file the tools and the reviewer, the riskiest files first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from stet_ls.engine.actions.reviewing.file_review import file_review
from stet_ls.engine.actions.reviewing.review import ReviewSubject, part_of_lines
from stet_ls.engine.actions.reviewing.score import JUDGES
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.request import Buffer, Request, Workspace
from stet_ls.engine.api.review import ScorePart
from stet_ls.engine.errors import StetError
from stet_ls.engine.plurals import plural
from stet_ls.engine.review.report import ChangeReview, FileReview
from stet_ls.engine.run import Engine
from stet_ls.engine.verify.changes.change import Change, ChangedFile, is_of_tests
from stet_ls.engine.verify.changes.risk import by_risk
from stet_ls.engine.verify.changes.units import is_code
from stet_ls.engine.verify.options import VerifyOptions
from stet_ls.engine.verify.report import Conclusion, Report, UnitReport
from stet_ls.engine.verify.verify import verify
from stet_ls.validators.source import Source

MOST_FILES = 12
"""Files that are reviewed, a call of the reviewer each; the judges judge all."""
_SHARE = {Conclusion.OK: 1.0, Conclusion.UNPROVEN: 0.5, Conclusion.REFUTED: 0.0}


@dataclass(frozen=True, slots=True)
class ReviewOptions:
    """`verify` are the judges' options. Without `asks`, judges and tools review alone, which is said."""

    verify: VerifyOptions = field(default_factory=VerifyOptions)
    asks: bool = True
    on_progress: Callable[[str], None] = field(default=lambda _: None)


async def review_change(change: Change, engine: Engine, options: ReviewOptions | None = None) -> ChangeReview:
    """The review of a change. Nothing is written into the project, and code runs only in the sandbox."""
    options = options or ReviewOptions()
    report = await verify(change, engine.runtimes, options.verify)
    fitting = [each for each in by_risk(change.files) if is_code(each) and each.after and not is_of_tests(each.path)]
    chosen, rest = fitting[:MOST_FILES], fitting[MOST_FILES:]
    unasked = "" if options.asks else "no model was asked"
    reviewed: list[FileReview] = []
    for number, file in enumerate(chosen):
        options.on_progress(f"review {number + 1} of {len(chosen)}: {file.path}")
        one = await _review_file(change, engine, report, file, unasked, options.verify.uses_cache)
        reviewed.append(one)
        # A model that did not answer for one file is not waited for again.
        unasked = unasked or (one.review.note if not one.review.reviewer else "")
    notes = [f"{plural(len(rest), 'file')} not reviewed: the {MOST_FILES} riskiest were"] if rest else []
    notes += [
        f"{each.path}: {plural(each.review.unread, 'part')} of the change not read: too large"
        for each in reviewed
        if each.review.unread
    ]
    if unasked and chosen:
        notes.append(f"judges and tools alone: {unasked}")
    return ChangeReview(report, tuple(reviewed), tuple(notes))


async def _review_file(
    change: Change, engine: Engine, report: Report, file: ChangedFile, unasked: str, uses_cache: bool
) -> FileReview:  # fmt: skip
    request = Request(
        "review",
        file.language,
        Source(file.text(file.after) or ""),
        path=change.root / file.path,
        budget=Budget.STANDARD,
        workspace=Workspace((change.root,), _buffers(change)),
        fresh=not uses_cache,
    )
    before, after = Source(file.text(file.before) or ""), request.source
    units = [each for each in report.units if each.unit.path == file.path]
    purpose = "\n\n".join(filter(None, (str(report.intent) if report.intent.is_stated else "", *change.messages)))
    part = await asyncio.to_thread(part_of_lines, before, after)
    subject = ReviewSubject(
        request, before, after, part, purpose, _judged(units), tuple(_judge_findings(units, report)), True
    )
    try:
        answer = await engine.run_action(request, file_review(subject, unasked))
    except StetError as error:
        return FileReview.without(file.path, str(error))
    assert answer.metadata.review is not None, "a file's review always has one"
    return FileReview(file.path, answer.metadata.review, max(len(part_lines(before, after)), 1))


def part_lines(before: Source, after: Source) -> Sequence[int]:
    """The lines that differ: what a file weighs in the score of a change."""
    known = {*before.text.splitlines()}
    return [at for at, line in enumerate(after.text.splitlines()) if line not in known]


def _buffers(change: Change) -> tuple[Buffer, ...]:
    """The new tree where it differs from the disk."""
    return tuple(
        Buffer(change.root / path, 0, data.decode("utf-8", "surrogateescape")) for path, data in change.new.items()
    )


def _judged(units: Sequence[UnitReport]) -> ScorePart:
    """The judges' part: the mean of the units' conclusions."""
    if not units:
        return ScorePart("judges", JUDGES, None, "no unit was judged")
    conclusions = [each.conclusion for each in units]
    counts = [f"{conclusions.count(each)} {each}" for each in Conclusion if each in conclusions]
    share = sum(_SHARE[each] for each in conclusions) / len(units)
    return ScorePart("judges", JUDGES, round(JUDGES * share, 1), f"{plural(len(units), 'unit')}: {', '.join(counts)}")


def _judge_findings(units: Sequence[UnitReport], report: Report) -> Sequence[str]:
    own = [
        f"{each.unit.label}: {each.conclusion}: {each.why if each.conclusion is Conclusion.UNPROVEN else ''}"
        for each in units
    ]
    own = [each.rstrip(": ") for each in own]
    paths = {each.unit.path for each in units}
    return [*own, *(f"line {one.line}: {one.check}: {one.detail}" for one in report.findings if one.path in paths)]
