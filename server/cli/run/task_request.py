"""The request of a task: a folder, or files of which the first is the document."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from stet_ls.engine.actions.computing.file_facts import DATA_SUFFIXES
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.duration import seconds_of
from stet_ls.engine.api.plan import TaskOptions, TaskPriority
from stet_ls.engine.api.request import Request, Workspace
from stet_ls.engine.errors import UsageError
from stet_ls.server.cli.inputs.command_target import CommandTarget, read_target
from stet_ls.server.cli.inputs.files import Document, read_document
from stet_ls.server.cli.inputs.shard import Shard
from stet_ls.server.cli.run.batch_targets import batch_targets, is_pattern
from stet_ls.server.cli.run.folder_files import folder_files
from stet_ls.server.cli.run.job_request import job_request
from stet_ls.validators.languages import PLAIN
from stet_ls.validators.source import Source


def configure_task(parser: argparse.ArgumentParser, *, plans: bool = True) -> None:
    """Declares the arguments of a task. `plans`: it takes a plan, too."""
    task = parser.add_argument_group("task", "for the action task, whose targets are one job")
    if plans:
        task.add_argument("--plan", metavar="FILE", type=Path, help="do this plan, as `stet plan` prints it")
        task.add_argument("--edit", action="store_true", help="edit the plan in $VISUAL or $EDITOR before it runs")
    task.add_argument(
        "--after", action="append", default=[], metavar="ID", help="an earlier task as context; repeatable"
    )
    task.add_argument(
        "--priority", choices=tuple(TaskPriority), help="whose model calls go first in this process; default: normal"
    )
    task.add_argument(
        "--deadline", metavar="DURATION", type=_duration, help="such as 90, 90s or 10min: no step starts later"
    )
    task.add_argument("--library", action="append", default=[], metavar="NAME", help="a required package; repeatable")


def task_request(arguments: argparse.Namespace, words: Sequence[str]) -> tuple[CommandTarget, Request]:
    """The target and the request of a task. Reads files. UsageError names what is wrong."""
    paths = _files(words, arguments.instruction or "")
    target = _target(str(paths[0]) if Path(words[0]).is_dir() or is_pattern(words[0]) else words[0], arguments.language)
    request = job_request(arguments, target)
    root = request.workspace.roots[0]
    others = tuple(path.absolute() for path in paths[1:])
    if outside := [path for path in others if not path.is_relative_to(root)]:
        raise UsageError(f"{outside[0]} is outside of {root}: a task works in one project")
    options = TaskOptions(
        plan=_plan(arguments),
        plan_only=getattr(arguments, "plan_only", False),
        after=tuple(arguments.after),
        files=others,
        libraries=tuple(arguments.library),
        priority=arguments.priority and TaskPriority(arguments.priority),
        deadline=arguments.deadline,
    )
    return target, replace(request, task=options)


def resumed_request(row: Mapping[str, Any], task: str) -> tuple[CommandTarget, Request]:
    """The request of an earlier task, on the files as they are now. UsageError if its file is gone."""
    target = replace(_target(row["path"], None), language=row["language"])
    request = Request(
        action=row["action"],
        language=row["language"],
        source=target.source,
        path=Path(row["path"]),
        instruction=row["instruction"],
        constraints=tuple(row["constraints"]),
        context=row["context"],
        budget=Budget(row["budget"]),
        workspace=Workspace(roots=tuple(map(Path, row["roots"]))),
        task=TaskOptions(
            task=task,
            after=tuple(row["after"]),
            files=tuple(map(Path, row["files"])),
            libraries=tuple(row["libraries"]),
            priority=TaskPriority(row["priority"]) if row.get("priority") else None,
            deadline=row.get("deadline"),
        ),
    )
    return target, request


def edited_plan(plan: str) -> str:
    """The plan as the user leaves it in their editor. UsageError if there is none, or it fails."""
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not command:
        raise UsageError(
            "`--edit` needs an editor: set VISUAL or EDITOR, or save the output of `stet plan` for `--plan`"
        )
    with tempfile.TemporaryDirectory(prefix="stet-") as folder:
        file = Path(folder) / "plan.md"
        file.write_text(plan, encoding="utf-8")
        try:
            code = subprocess.run([*shlex.split(command), str(file)], check=False).returncode
        except OSError as error:
            raise UsageError(f"cannot start the editor `{command}`: {error.strerror}") from None
        if code:
            raise UsageError(f"the editor `{command}` ended with exit {code}; nothing was done")
        return file.read_text(encoding="utf-8")


def _target(word: str, language: str | None) -> CommandTarget:
    """The target. Data that is binary or too large is one without a text: programs read it in place."""
    try:
        return read_target(word, language)
    except UsageError:
        path = Path(word)
        if path.suffix.lower() not in DATA_SUFFIXES or not path.is_file():
            raise
        return CommandTarget(Source(""), PLAIN, None, Document(path, b"", Source("")))


def _duration(text: str) -> float:
    try:
        return seconds_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _plan(arguments: argparse.Namespace) -> str:
    file: Path | None = getattr(arguments, "plan", None)
    return "" if file is None else read_document(file).source.text


def _files(words: Sequence[str], instruction: str) -> list[Path]:
    """The files that the words name: folders and patterns stand for the source files in them."""
    found: dict[Path, None] = {}
    for word in words:
        if is_pattern(word):
            found.update(dict.fromkeys(Path(each) for each in batch_targets([word], Shard())))
        elif Path(word).is_dir():
            files = folder_files(Path(word), instruction)
            if not files:
                raise UsageError(f"{word}: no source file in this folder")
            found.update(dict.fromkeys(files))
        else:
            found[Path(word)] = None
    return list(found)
