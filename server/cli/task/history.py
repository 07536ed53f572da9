"""`stet tasks`: lists, shows, resumes and exports earlier tasks."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from stet_ls.engine.storage.paths import user_paths
from stet_ls.engine.task_history.history import TaskHistory
from stet_ls.server.cli.run import command
from stet_ls.server.cli.run.task_request import resumed_request
from stet_ls.server.cli.terminal import render
from stet_ls.server.cli.terminal.status import print_json, print_status

if TYPE_CHECKING:
    from stet_ls.engine.task_history.history import TaskRecord

_WIDE = 60
"""Characters of an instruction in the list."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the verbs."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    listing = verbs.add_parser("list", help="list tasks, the newest first", allow_abbrev=False)
    listing.add_argument("--json", action="store_true", help="print JSON lines")
    show = verbs.add_parser("show", help="show a task: its plan, steps, evidence and costs", allow_abbrev=False)
    show.add_argument("id", metavar="ID", help="task id, or its beginning")
    show.add_argument("--json", action="store_true", help="print JSON")
    resume = verbs.add_parser("resume", help="do the steps of a task that are not finished", allow_abbrev=False)
    resume.add_argument("id", metavar="ID", help="task id, or its beginning")
    command.configure_result(resume)
    resume.set_defaults(
        coverage=False,
        no_cache=False,
        evidence=None,
        show_prompt=False,
        trust=False,
        sandbox_level=None,
        edit=False,
        plan_only=False,
    )
    export = verbs.add_parser("export", help="write tasks as JSON lines", allow_abbrev=False)
    export.add_argument("file", metavar="FILE|-", help="file, or - for standard output")
    export.add_argument("id", metavar="ID", nargs="*", help="task ids; default: all")


def run(arguments: argparse.Namespace) -> int:
    """Runs the verb."""
    return _VERBS[arguments.verb](TaskHistory(user_paths().tasks), arguments)


def _list(history: TaskHistory, arguments: argparse.Namespace) -> int:
    records = history.list()
    if arguments.json:
        for record in records:
            progress = record.progress()
            row = {"id": record.id, "at": record.at, "state": record.state, "request": record.request}
            print_json({**row, "running": None if progress is None else asdict(progress)})
        return 0
    if not records:
        print_status("no tasks yet: `stet run task TARGET --instruction TEXT` does one")
        return 0
    rows = [("id", "started", "state", "steps", "request")]
    rows += [
        (each.id, each.at, each.state, _count(each), render.shortened(each.instruction, _WIDE)) for each in records
    ]
    render.print_table(rows)
    for record in records:
        if (progress := record.progress()) is not None:
            render.print_line(f"{record.id}: {progress}")
    return 0


def _show(history: TaskHistory, arguments: argparse.Namespace) -> int:
    record = history.get(arguments.id)
    if arguments.json:
        print_json(record.to_json(), indent=2)
        return 0
    render.print_markdown(record.as_markdown())
    return 0


def _resume(history: TaskHistory, arguments: argparse.Namespace) -> int:
    record = history.get(arguments.id)
    target, request = resumed_request(record.request, record.id)
    arguments.target, arguments.instruction = str(request.path), request.instruction
    return command.run_one(arguments, target, request)


def _export(history: TaskHistory, arguments: argparse.Namespace) -> int:
    records = [history.get(each) for each in arguments.id] if arguments.id else history.list()
    text = "".join(json.dumps(each.to_json(), ensure_ascii=False) + "\n" for each in records)
    if arguments.file == "-":
        sys.stdout.write(text)
    else:
        Path(arguments.file).write_text(text, encoding="utf-8")
        print_status(f"wrote {len(records)} tasks to {arguments.file}")
    return 0


_VERBS = {"list": _list, "show": _show, "resume": _resume, "export": _export}


def _count(record: TaskRecord) -> str:
    steps = [each for each in record.plan.get("steps", ()) if each["enabled"]]
    return f"{len(steps) - len(record.unfinished)}/{len(steps)}" if steps else "-"
