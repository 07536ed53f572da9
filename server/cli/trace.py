"""`stet trace`: the records that jobs left on this machine, and repeated runs of them."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stet_ls.engine.errors import UsageError
from stet_ls.engine.storage.paths import user_paths
from stet_ls.server.cli.command_table import positive
from stet_ls.server.cli.inputs.load_settings import load_settings
from stet_ls.server.cli.terminal import render
from stet_ls.server.cli.terminal.status import print_error, print_json, print_status, print_warning

if TYPE_CHECKING:  # the record's model imports the engine
    from stet_ls.engine.trace.record import Record, RecordedCall
    from stet_ls.engine.trace.record_store import RecordStore

_LONGEST_MESSAGE = 80


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    listing = verbs.add_parser("list", help="list records, newest first", allow_abbrev=False)
    listing.add_argument("--limit", type=positive, default=20, metavar="N", help="show only the last N")
    show = _verb(verbs, "show", "show a job's request, replies, evidence and timings")
    show.add_argument("--prompts", action="store_true", help="include the messages to the model")
    replay = _verb(verbs, "replay", "run a job again on its recorded replies; exit 1 if the answer differs")
    export = verbs.add_parser("export", help="write a record to a file for a bug report", allow_abbrev=False)
    export.add_argument("id", metavar="ID", help="job id, or its beginning")
    export.add_argument("file", metavar="FILE", help="file to write, or - for standard output")
    for verb in (listing, show, replay):
        verb.add_argument("--json", action="store_true", help="print JSON")


def _verb(verbs: Any, name: str, summary: str) -> argparse.ArgumentParser:
    verb: argparse.ArgumentParser = verbs.add_parser(name, help=summary, allow_abbrev=False)
    verb.add_argument("id", metavar="ID", help="job id, its beginning, or a record file")
    return verb


def run(arguments: argparse.Namespace) -> int:
    """Runs the verb. UsageError names the file and field of a record that cannot be read or run again."""
    from stet_ls.engine.trace.record_store import RecordStore

    store = RecordStore(user_paths().traces, 0)
    if arguments.verb == "list":
        return _list(store, arguments)
    if arguments.verb == "export":
        return _export(store, arguments)
    name, record = _record(store, arguments.id)
    if arguments.verb == "show":
        return _show(record, store.outcome(Path(name)), arguments)
    return asyncio.run(_replay(name, record, arguments))


def _record(store: RecordStore, word: str) -> tuple[str, Record]:
    """The record with an id or in a file, and its name for messages."""
    from stet_ls.engine.trace.record import read

    file = Path(word)
    path = file if file.is_file() else store.find(_id(word))
    return str(path), read(path)


def _id(word: str) -> str:
    if not word.isalnum():
        raise UsageError(f'"{word}": not a job id, and no such file')
    return word


def _list(store: RecordStore, arguments: argparse.Namespace) -> int:
    from stet_ls.engine.trace.record import read

    rows: list[dict[str, Any]] = []
    for file in store.files()[: arguments.limit]:
        try:
            rows.append(_row(read(file), store.outcome(file)))
        except UsageError as error:
            print_warning(str(error))
    if arguments.json:
        print_json({"traces": rows}, indent=2)
    elif not rows:
        render.print_line("No records.")
    else:
        table: list[tuple[str, ...]] = [("job", "at", "action", "language", "became", "seconds", "calls", "message")]
        table += [tuple(str(row[column]) for column in table[0]) for row in rows]
        render.print_table(table)
    return 0


def _row(record: Record, outcome: str) -> dict[str, Any]:
    message = (record.answer or {}).get("message") or (record.error.message if record.error else "")
    return {
        "job": record.id,
        "at": record.at,
        "action": record.request.action,
        "language": record.request.language,
        "ended": record.ended.value,
        "became": outcome or _ended(record),
        "seconds": record.seconds,
        "calls": len(record.calls),
        "message": str(message).split("\n")[0][:_LONGEST_MESSAGE],
    }


def _ended(record: Record) -> str:
    """The outcome of a job. An explanation offers no edit."""
    answer = record.answer or {}
    offers = answer.get("edits") or answer.get("new_files") or not answer.get("success")
    return record.ended.value if offers else "answered"


def _show(record: Record, outcome: str, arguments: argparse.Namespace) -> int:
    if arguments.json:
        print_json(json.loads(record.to_json()), indent=2)
        return 0
    for line in _shown(record, outcome, prompts=arguments.prompts):
        render.print_text(line)
    return 0


def _shown(record: Record, outcome: str, *, prompts: bool) -> Iterator[str]:
    asked = record.request
    came = _ended(record) + (f", then {outcome}" if outcome else "")
    yield f"job {record.id}, {record.at}: {asked.action}, {asked.language}, {asked.path or 'no file'}: {came}"
    yield f"made by Stet {record.versions.stet}, Python {record.versions.python}, {record.versions.system}"
    if asked.instruction:
        yield f"instruction: {asked.instruction}"
    yield f"hidden: {len(asked.hidden)} secrets; left out: {', '.join(asked.left_out) or 'nothing'}"
    yield ""
    for event in record.events:
        yield f"{event.at:9.3f} s  {event.what} {event.name} {event.detail}".rstrip()
    for number, call in enumerate(record.calls, 1):
        yield from _call(number, call, prompts=prompts)
    yield ""
    yield "stages: " + ", ".join(f"{name} {seconds:.3f} s" for name, seconds in record.stages.items())
    answer = record.answer or {}
    for each in answer.get("evidence", []):
        yield f"{each['check']}: {each['verdict']}, {each['detail']}"
    yield str(
        answer.get("message") or (f"{record.error.kind}: {record.error.message}" if record.error else "no answer")
    )


def _call(number: int, call: RecordedCall, *, prompts: bool) -> Iterator[str]:
    yield ""
    yield f"call {number} at {call.at:.3f} s, {call.seconds:.3f} s, temperature {call.temperature}"
    for request in call.requests:
        first = f", first text after {request.pieces[0][0]} s" if request.pieces else ""
        fault = f", {request.fault}: {request.detail}" if request.fault else ""
        pieces = f"{len(request.pieces)} pieces in {request.seconds} s"
        yield f"  {request.endpoint} ({request.model}): {pieces}{first}{fault}"
    if prompts:
        if call.same:
            yield f"  [the first {call.same} messages are those of the call before]"
        for turn in call.messages:
            yield f"  [{turn.role}]\n{turn.content}"
    if call.reply is not None:
        yield f"  [reply, {call.reply.finish}]\n{call.reply.text}"
    else:
        yield f"  {call.error.kind}: {call.error.message}" if call.error else "  cancelled"


async def _replay(name: str, record: Record, arguments: argparse.Namespace) -> int:
    from stet_ls.engine.replay import replay

    result = await replay(record, name, load_settings().settings, user_paths())
    if arguments.json:
        row = {"job": record.id, "same": not result.diff, "ended": result.ended.value, "diff": result.diff}
        print_json({**row, "asked": result.asked, "recorded": result.recorded}, indent=2)
        return 1 if result.diff else 0
    if result.asked != result.recorded:
        print_warning(f"{result.asked} replies requested, but the record has {result.recorded}")
    if result.diff:
        render.print_diff(f"{result.diff}\n")
        print_error(f"job {record.id}: the replay gave a different answer")
        return 1
    render.print_line(f"job {record.id}: the same answer, from {result.recorded} recorded replies ({result.ended})")
    return 0


def _export(store: RecordStore, arguments: argparse.Namespace) -> int:
    from stet_ls.engine.storage.private_files import write_private
    from stet_ls.engine.trace.export import contents, exported

    _, record = _record(store, arguments.id)
    record = exported(record)
    if arguments.file == "-":
        render.print_text(record.to_json())
    else:
        write_private(Path(arguments.file), record.to_json())
        render.print_line(f"wrote {arguments.file}")
    print_status("The record contains:")
    for line in contents(record):
        print_status(f"  {line}")
    return 0
