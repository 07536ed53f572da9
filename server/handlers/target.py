"""What an action at a position would work on, for a plugin that names it before it asks for an instruction."""

from __future__ import annotations

from typing import Any

from stet_ls.engine.errors import UsageError
from stet_ls.server.session import StetServer
from stet_ls.validators.source import Source

Json = dict[str, Any]


async def target(ls: StetServer, params: Any) -> Json:
    """`{unit, first, last, instruction}`: the function or class, its lines from 0, and a `stet:` comment there.

    Without a unit, the lines are those of the range or position; null without either.
    """
    uri = params.uri or ls.documents.latest()
    snapshot = None if uri is None else ls.documents.snapshot(uri)
    if uri is None or snapshot is None:
        raise UsageError("uri: no document is open. Open one or pass `uri`.")
    if params.range is not None:
        first, last = params.range.start.line, params.range.end.line
    elif params.position is not None:
        first = last = params.position.line
    else:
        return {"unit": None, "first": None, "last": None, "instruction": ""}
    await ls.units.settled(uri)
    unit = ls.units.lines_at(uri, snapshot.version, first, last)
    found = {"unit": None, "first": first, "last": last}
    if unit is not None:
        found = {"unit": unit.name, "first": unit.first, "last": unit.last}
    return {**found, "instruction": _instruction(snapshot.source, snapshot.language, first, last)}


def _instruction(source: Source, language: str, first: int, last: int) -> str:
    """The text of the `stet:` comment in these lines or in the line above them; "" if there is none."""
    from stet_ls.engine.prompt.stet_comments import stet_comments

    for comment in stet_comments(source, language):
        if source.line_of(comment.span.start) <= last and source.line_of(comment.span.end) >= first - 1:
            return comment.text
    return ""
