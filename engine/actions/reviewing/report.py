"""A review in markdown."""

from __future__ import annotations

from collections.abc import Iterator

from stet_ls.engine.api.evidence import Attachment
from stet_ls.engine.api.review import Review, ReviewFinding
from stet_ls.engine.markdown import code_span, harmless
from stet_ls.engine.plurals import plural
from stet_ls.engine.privacy.placeholders import without_values


def attachment(found: Review) -> Attachment:
    """The review as a document for evidence."""
    return Attachment.of("review.md", "markdown", harmless(f"# Review\n\n{markdown(found)}") + "\n")


def markdown(found: Review) -> str:
    """The score with its parts, then the findings; text from outside is still to be made harmless."""
    rows = [f"**{found.score} of 100**, of what was measured.", "", "| part | points | why |", "|---|---|---|"]
    rows += [
        f"| {each.name} | {'-' if each.points is None else f'{each.points:g}'} of {each.most} "
        f"| {each.detail.replace('|', ' ')} |"
        for each in found.parts
    ]
    return "\n".join([*rows, "", *_findings(found)])


def _findings(found: Review) -> Iterator[str]:
    own = found.counted
    yield from (finding_line(each) for each in own)
    if not own:
        yield found.note.capitalize() if found.note else "The reviewer found no problem."
    if found.unread:
        yield f"\nNot read, because the change is too large: {plural(found.unread, 'part')} of it."
    for title, rest in (
        ("Run, and not so:", [each for each in found.findings if each.refuted]),
        ("As before the change:", [each for each in found.findings if each.inherited]),
    ):
        if rest:
            yield f"\n{title}\n"
            yield from (finding_line(each) for each in rest)
    who = f"By {found.reviewer}; an opinion, except for what a run confirmed." if found.reviewer else ""
    dropped = (
        f" {plural(found.dropped, 'finding')} dropped: the quoted line is not in the code." if found.dropped else ""
    )
    if who or dropped:
        yield f"\n_{(who + dropped).strip()}_"


def finding_line(each: ReviewFinding) -> str:
    """A finding with its quoted line."""
    return f"- line {each.line}: {code_span(without_values(each.quote))} · {each.kind}: {each.words}"
