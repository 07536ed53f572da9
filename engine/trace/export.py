"""A record for another person: scanned for secrets once more, with a summary of its contents."""

from __future__ import annotations

from collections.abc import Iterator

from stet_ls.engine.trace.record import Record
from stet_ls.engine.trace.scrubber import Scrubber


def exported(record: Record) -> Record:
    """The record after a search by the rules for configuration, which find more; it can still be replayed."""
    hidden = record.request.hidden
    scrubber = Scrubber(hidden, (), config=True)
    data = record.model_dump(mode="json")
    data["request"].pop("hidden")
    calls = scrubber.anything(data.pop("calls"), scrubber.sent)
    data = scrubber.everywhere({**scrubber.anything(data), "calls": calls})
    data["request"]["hidden"] = {**scrubber.stand_ins, **hidden}
    data["whole"] = record.whole and scrubber.whole
    return Record.model_validate(data)


def contents(record: Record) -> Iterator[str]:
    """What a recipient of the record can read in it, a line each."""
    asked, calls = record.request, record.calls
    turns = sum(len(call.messages) for call in calls)
    replies = sum(call.reply is not None for call in calls)
    yield f"the text of {asked.path or 'a document without a name'} ({asked.text.count(chr(10)) + 1} lines)"
    if asked.buffers:
        yield f"the text of {len(asked.buffers)} more open documents: {', '.join(each.path for each in asked.buffers)}"
    if asked.instruction or asked.constraints or asked.context:
        yield "the instruction, with its constraints and context"
    yield f"{turns} messages to models and {replies} replies"
    yield "the answer, what judges said of it, stages and seconds"
    yield f"paths, the settings {', '.join(record.settings)}, and the versions of Stet, Python and the system"
    yield f"{len(asked.hidden)} secrets were replaced; review the file for others that no rule can find"
