"""Whether an edit is really in the document: a client's `applied: true` is not proof, its next didChange is."""

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
    """True if `live` contains the change, ignoring what the user typed elsewhere in the same moment.

    Editors have their own mind about line ends and the one at the end of the file; these are not compared.
    """
    before, after, now = (_plain(source) for source in (change.before.source, change.after, live))
    if now.text in (before.text, after.text):
        return now.text == after.text
    edited = [splice.span for splice in minimal(after, before)]
    if any(_touches(splice.span, span) for splice in minimal(after, now) for span in edited):
        return False
    # What was only deleted leaves nothing to look for: it has to be gone from what was there before.
    gone = [splice.span for splice in minimal(before, after) if not splice.text]
    return not gone or any(_touches(splice.span, span) for splice in minimal(before, now) for span in gone)


def is_same_edit(change: DocumentChange, wanted: DocumentChange) -> bool:
    """True if the change puts into its document what another one wanted there: both are the same edit."""
    if change.before.uri != wanted.before.uri or is_applied(change.before.source, wanted):
        return False
    return is_applied(change.after, wanted)


def inserted_spans(live: Source, change: DocumentChange) -> tuple[Span, ...]:
    """The spans in `live` that the change inserted, apart from what else was typed in the same moment."""
    anchors = Anchors(change.after.data)
    anchors.follow(minimal(change.after, live), live.data)
    places = [anchors.place(splice.span) for splice in minimal(change.after, change.before.source)]
    found = tuple(place for place in places if place is not None)
    if len(found) == len(places):
        return found
    return tuple(splice.span for splice in minimal(live, change.before.source))  # a client that changed its line ends


def _touches(changed: Span, edited: Span) -> bool:
    """True if the change reaches into the edited text; writing at one of its ends leaves it whole."""
    if changed.empty and not edited.empty:
        return edited.start < changed.start < edited.end
    return changed.overlaps(edited)


def _plain(source: Source) -> Source:
    return Source(_LINE_END.sub("\n", source.text).removesuffix("\n"))
