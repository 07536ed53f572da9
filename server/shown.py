"""Whether an edit is really in the document: a client's `applied: true` is not proof, its next didChange is."""

from __future__ import annotations

import re

from stet_ls.server.diff import minimal
from stet_ls.server.plan import Change
from stet_ls.validators.source import Source, Span

_LINE_END = re.compile(r"\r\n?")


def shows(live: Source, change: Change) -> bool:
    """True if `live` is what the change leads to, whatever its user typed elsewhere in the same moment.

    Editors have their own mind about line ends and the one at the end of the file; these are not compared.
    """
    before, after, now = (_plain(source) for source in (change.before.source, change.after, live))
    if now.text in (before.text, after.text):
        return now.text == after.text
    edited = [splice.span for splice in minimal(after, before)]
    return not any(_touches(splice.span, span) for splice in minimal(after, now) for span in edited)


def _touches(changed: Span, edited: Span) -> bool:
    """True if the change reaches into the edited text; writing at one of its ends leaves it whole."""
    if changed.empty and not edited.empty:
        return edited.start < changed.start < edited.end
    return changed.overlaps(edited)


def _plain(source: Source) -> Source:
    return Source(_LINE_END.sub("\n", source.text).removesuffix("\n"))
