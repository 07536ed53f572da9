"""Whether an edit is in the document: a client's `applied: true` is no proof, its next didChange is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stet_ls.server.documents.line_diff import minimal
from stet_ls.server.documents.position_tracking import Anchors
from stet_ls.validators.source import Source, Span

if TYPE_CHECKING:
    from stet_ls.server.edits.edit_plan import DocumentChange

_LINE_END = re.compile(r"\r\n?")


def is_applied(live: Source, change: DocumentChange) -> bool:
    """Whether `live` contains the change, except for what the user typed elsewhere at the same moment.

    Line ends and the one at the end of the file are not compared, since editors change them.
    """
    before, after, now = (
        Source(_LINE_END.sub("\n", source.text).removesuffix("\n"))
        for source in (change.before.source, change.after, live)
    )
    if now.text in (before.text, after.text):
        return now.text == after.text
    edited = [splice.span for splice in minimal(after, before)]
    if any(_touches(splice.span, span) for splice in minimal(after, now) for span in edited):
        return False
    # A deletion leaves nothing to look for: its text has to be missing compared with the text before.
    gone = [splice.span for splice in minimal(before, after) if not splice.text]
    return not gone or any(_touches(splice.span, span) for splice in minimal(before, now) for span in gone)


def is_same_edit(change: DocumentChange, wanted: DocumentChange) -> bool:
    """Whether the change inserts the text that `wanted` inserts in its document: both are the same edit."""
    if change.before.uri != wanted.before.uri or is_applied(change.before.source, wanted):
        return False
    return is_applied(change.after, wanted)


def inserted_spans(live: Source, change: DocumentChange) -> tuple[Span, ...]:
    """The spans in `live` that the change inserted, except for what was typed elsewhere at the same moment."""
    anchors = Anchors(change.after.data)
    anchors.follow(minimal(change.after, live), live.data)
    places = [anchors.place(splice.span) for splice in minimal(change.after, change.before.source)]
    found = tuple(place for place in places if place is not None)
    if len(found) == len(places):
        return found
    return tuple(splice.span for splice in minimal(live, change.before.source))  # a client that changed its line ends


def _touches(changed: Span, edited: Span) -> bool:
    """Whether the change overlaps the edited text; an insertion at one of its ends does not."""
    if changed.empty and not edited.empty:
        return edited.start < changed.start < edited.end
    return changed.overlaps(edited)
