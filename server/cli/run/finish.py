"""What becomes of an answer on the command line: printed, applied or held back, and the exit status."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.errors import PolicyError, UsageError
from stet_ls.engine.storage.paths import user_paths
from stet_ls.engine.storage.private_files import write_private
from stet_ls.server.cli.inputs.command_target import CommandTarget
from stet_ls.server.cli.run.answer_files import diffs, shown_path, write_answer
from stet_ls.server.cli.terminal import render
from stet_ls.server.cli.terminal.machine_output import print_json
from stet_ls.server.cli.terminal.status import print_error, print_status, print_warning
from stet_ls.server.evidence.evidence_files import write
from stet_ls.server.evidence.evidence_text import (
    NOT_RUN,
    conclude,
    is_fully_isolated,
    not_run,
    report,
    sandbox_text,
    unrequested_risk_codes,
    unrequested_risks,
)
from stet_ls.server.evidence.produced_files import file_lines, keep_files

_MORE = (
    "try again, add details with `--instruction`, select fewer lines (FILE:LINE-LINE), or use a "
    "stronger model (`STET_BASE_URL`)"
)
"""What to try if an answer offers nothing."""


def write_evidence(folder: Path, answer: Answer) -> None:
    """Writes a report, and a file for each attachment. UsageError if the folder cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        files = write(folder.absolute(), answer.evidence)
        write_private(folder / "evidence.md", report(answer, answer.evidence, files))
    except OSError as error:
        raise UsageError(f"--evidence {folder}: cannot write: {error.strerror}") from None
    for file in (*files.values(), folder / "evidence.md"):
        print_status(f"wrote {shown_path(file)}")


def finish(arguments: argparse.Namespace, target: CommandTarget, answer: Answer) -> int:
    """Prints an answer, applies its edit if that was asked for, and returns the exit status."""
    status = _finished(arguments, target, answer)
    if answer.metadata.task and not arguments.json:
        print_status(f"task {answer.metadata.task}: `stet tasks show {answer.metadata.task}` has its steps")
    return status


def _finished(arguments: argparse.Namespace, target: CommandTarget, answer: Answer) -> int:
    if arguments.json:
        print_json(answer.to_json(), indent=2)
        return 0 if answer.success and not answer.refuted else 1
    for warning in answer.warnings:
        print_warning(warning)
    if not is_fully_isolated(answer):
        print_status(sandbox_text(answer))
    if not answer.success:
        if answer.markdown and not arguments.diff:
            render.print_markdown(answer.markdown)
        render.print_evidence(answer.evidence, sys.stderr)
        print_error(f"{arguments.target}: {answer.message}")
        if answer.metadata.calls:
            print_status(f"hint: {_MORE}")
        return 1
    if (status := _held_back(arguments, answer)) is not None:
        return status
    if arguments.apply:
        return _apply(target, answer)
    if answer.markdown and not arguments.diff:
        render.print_markdown(answer.markdown)
    _print_edits(answer, as_patch=arguments.diff)
    render.print_evidence(answer.evidence, sys.stderr if arguments.diff else sys.stdout)
    print_status(conclude(answer))
    return int(answer.refuted)


def _print_edits(answer: Answer, *, as_patch: bool) -> None:
    """Prints the patches; of the files that a task made, where they are and what they hold."""
    made = set[Path]() if as_patch else {file.path for file in answer.files}
    for diff in diffs(replace(answer, new_files=tuple(each for each in answer.new_files if each.path not in made))):
        render.print_diff(diff)
    if not made:
        return
    try:
        places = keep_files(answer, user_paths().results)
    except OSError as error:
        print_warning(f"the files of the task were not kept: {error.strerror}")
        places = {}
    for line in file_lines(answer.files, places):
        render.print_line(line)


def _held_back(arguments: argparse.Namespace, answer: Answer) -> int | None:
    """The exit status if the edit is not written or printed, once the reason is; None if it may be."""
    if answer.refuted and arguments.diff and not arguments.apply:
        render.print_evidence(answer.evidence, sys.stderr)
        print_error("nothing was printed: a check refuted the edit; run without `--diff` to see it")
        return 1
    if answer.refuted and arguments.apply:
        _print_held_back(answer)
        print_error("nothing was written: a check refuted the edit")
        return 1
    if arguments.apply and (unnamed := unrequested_risk_codes(answer, arguments.accept_risk)):
        _print_held_back(answer)
        print_error(f"nothing was written: the edit {'; '.join(unrequested_risks(answer))}")
        print_status(f"hint: to write it anyway, add {' '.join(f'--accept-risk {code}' for code in unnamed)}")
        return PolicyError.exit_code
    if arguments.apply and NOT_RUN not in arguments.accept_risk and (why := not_run(answer)):
        render.print_evidence(answer.evidence, sys.stderr)
        print_error(f"nothing was written: {why}")
        print_status(f"hint: state the example with `--instruction`, or add `--accept-risk {NOT_RUN}`")
        return 1
    return None


def _print_held_back(answer: Answer) -> None:
    """An edit that is not written, with its evidence: another run to read it would cost as much as this one.

    One that no check ran was printed with the question whether to apply it.
    """
    if not answer.not_run:
        _print_edits(answer, as_patch=False)
    render.print_evidence(answer.evidence, sys.stderr)


def _apply(target: CommandTarget, answer: Answer) -> int:
    for written in write_answer(target, answer):
        render.print_line(f"wrote {shown_path(written)}")
    if answer.markdown:
        render.print_markdown(answer.markdown)
    render.print_evidence(answer.evidence)
    print_status(conclude(answer))
    return 0
