"""One action on many targets: one engine and its queue, one limit of calls, and a ledger to resume from."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections import deque
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from stet_ls.engine.api.actions import spec_of
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.budget import CALLS, Budget
from stet_ls.engine.api.request import Request
from stet_ls.engine.errors import PolicyError, SettingsError, StetError, UsageError
from stet_ls.engine.storage.paths import user_paths
from stet_ls.server.cli.inputs.command_target import CommandTarget, read_target
from stet_ls.server.cli.run.answer_files import changes_of, diffs, write_answer
from stet_ls.server.cli.run.batch_ledger import BatchLedger, batch_id, fingerprint
from stet_ls.server.cli.run.batch_report import GOOD, BatchProgress, TargetResult, TargetState, summary, table, totals
from stet_ls.server.cli.run.job_request import job_request
from stet_ls.server.cli.terminal import render
from stet_ls.server.cli.terminal.machine_output import print_json
from stet_ls.server.cli.terminal.status import print_status
from stet_ls.server.evidence.evidence_text import NOT_RUN, unrequested_risk_codes

if TYPE_CHECKING:
    from stet_ls.engine.run import Engine

JOBS = 2
"""Jobs at once if `--jobs` does not say; the endpoint's own limit holds as well."""
_MOST_ERRORS = 3
"""After so many errors in a row that are not about one target (no model, a limit), no further target starts."""
_INDEX_SECONDS = 5.0


@dataclass(slots=True)
class CallLimit:
    """The calls of the whole batch. A job reserves all that its budget allows, so that the limit is never exceeded."""

    most: int | None
    each: int
    spent: int = 0
    reserved: int = 0

    def has_room(self) -> bool:
        """Whether one more job fits."""
        return self.most is None or self.spent + self.reserved + self.each <= self.most


@dataclass(slots=True)
class Batch:
    """A running batch. `results` are in the order of their ends."""

    arguments: argparse.Namespace
    engine: Engine
    ledger: BatchLedger
    progress: BatchProgress
    limit: CallLimit
    waiting: deque[str]
    results: list[TargetResult] = field(default_factory=list)
    errors_in_a_row: int = 0
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def run(self, jobs: int) -> None:
        """Runs the targets, so many at once. A cancel stops all jobs before it passes."""
        await _together([self._work() for _ in range(min(jobs, len(self.waiting)))])

    async def _work(self) -> None:
        while (target := await self._next()) is not None:
            self.progress.started(target)
            started = time.monotonic()
            try:
                result = await self._run_target(target, started)
            except SettingsError:
                raise
            except StetError as error:
                result = TargetResult(target, TargetState.FAILED, time.monotonic() - started, error=error)
            await self._finished(result)

    async def _next(self) -> str | None:
        """The next target once the limit has room for it; None if none may start anymore."""
        async with self.changed:
            while self.waiting and self.errors_in_a_row < _MOST_ERRORS:
                if self.limit.has_room():
                    self.limit.reserved += self.limit.each
                    return self.waiting.popleft()
                if not self.limit.reserved:
                    return None
                await self.changed.wait()
        return None

    async def _finished(self, result: TargetResult) -> None:
        failed = isinstance(result.error, StetError) and not isinstance(result.error, UsageError)
        self.errors_in_a_row = self.errors_in_a_row + 1 if failed else 0
        self.results.append(result)
        self.progress.finished(result)
        _print_result(self.arguments, result)
        async with self.changed:
            self.limit.reserved -= self.limit.each
            self.limit.spent += self.limit.each if failed else result.calls
            self.changed.notify_all()

    async def _run_target(self, name: str, started: float) -> TargetResult:
        target, request = await asyncio.to_thread(_read, self.arguments, name)
        answer = await self.engine.run(request)
        state = self._state(answer)
        if state is TargetState.OFFERED and self.arguments.apply:
            state = TargetState.WRITTEN
            self._write(name, target, answer)
            await self.engine.memory.applied(answer.metadata.trace)
            await self.engine.record_outcome(answer.metadata.trace, "applied")
        else:
            self.ledger.finish(name, state, _content(target))
        return TargetResult(name, state, time.monotonic() - started, answer)

    def _write(self, name: str, target: CommandTarget, answer: Answer) -> None:
        """Writes the edit. No await in here: a cancel cannot come between the ledger's lines and the files."""
        after = _content(target)
        for change in changes_of(target, answer):
            if change.document is target.document:
                after = fingerprint(change.document.with_text(change.text))
        self.ledger.writing(name, after, [file.path for file in answer.new_files])
        write_answer(target, answer)
        self.ledger.finish(name, TargetState.WRITTEN, after)

    def _state(self, answer: Answer) -> TargetState:
        if answer.nothing_to_do:
            return TargetState.NOTHING_TO_DO
        if not answer.success:
            return TargetState.REFUSED
        if answer.refuted:
            return TargetState.REFUTED
        if not answer.changes_files:
            return TargetState.ANSWERED
        accepted = self.arguments.accept_risk
        risky = unrequested_risk_codes(answer, accepted) or (answer.not_run and NOT_RUN not in accepted)
        return TargetState.RISKY if self.arguments.apply and risky else TargetState.OFFERED


async def run_batch(arguments: argparse.Namespace, targets: Sequence[str]) -> int:
    """Runs the batch, prints its results and totals, and returns the exit status."""
    from stet_ls.engine.memory.memory_client import COMMANDS_STAY
    from stet_ls.engine.run import Engine
    from stet_ls.server.cli.inputs.load_settings import load_settings, project_root
    from stet_ls.server.cli.terminal.consent import Terminal

    _refuse_moving_lines(arguments, targets)
    started = time.monotonic()
    overrides = {"sandbox.minimum_level": arguments.sandbox_level, "checks.coverage": arguments.coverage or None}
    settings = load_settings(near=Path.cwd(), arguments=overrides, trust_project=arguments.trust).settings
    name = batch_id(_identity(arguments))
    with BatchLedger(user_paths().batches, name, resume=arguments.resume) as ledger:
        todo = await asyncio.to_thread(_unfinished, ledger, targets, arguments.language)
        engine = Engine(settings, user_paths())
        engine.ask_by(Terminal())
        engine.memory.memory.stays_seconds = COMMANDS_STAY
        budget = Budget(arguments.budget)
        if budget is Budget.STANDARD:
            budget = spec_of(arguments.action).standard_budget
        limit = CallLimit(arguments.max_calls, CALLS[budget])
        batch = Batch(arguments, engine, ledger, BatchProgress(len(todo)), limit, deque(todo))
        try:
            engine.memory.warm()
            await engine.index.read((project_root(Path.cwd()),), _INDEX_SECONDS)
            if arguments.sandbox_level not in (None, "none"):
                await engine.runtimes.sandbox.allow()
            await batch.run(arguments.jobs or JOBS)
        except asyncio.CancelledError:
            batch.progress.clear()
            running = [target for target in todo if target not in {each.target for each in batch.results}]
            print_status(f"interrupted: {len(batch.results)} of {len(todo)} targets finished; nothing else was written")
            print_status(f"hint: to continue with {running[0] if running else 'the rest'}, add --resume")
            raise
        finally:
            batch.progress.clear()
            await engine.close()
        return _conclude(batch, len(targets) - len(todo), time.monotonic() - started)


async def _together(tasks: Sequence[Coroutine[None, None, None]]) -> None:
    """Runs all; the first error, or a cancel, cancels the others and passes once they have ended."""
    running = [asyncio.create_task(each, name="batch") for each in tasks]
    try:
        await asyncio.gather(*running)
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def _read(arguments: argparse.Namespace, name: str) -> tuple[CommandTarget, Request]:
    target = read_target(name, arguments.language)
    return target, job_request(arguments, target)


def _content(target: CommandTarget) -> str:
    assert target.document is not None, "standard input is no target of a batch"
    return fingerprint(target.document.raw)


def _identity(arguments: argparse.Namespace) -> list[object]:
    """What makes two calls the same batch; its targets do not, so that a batch can grow."""
    names = ("action", "instruction", "constraint", "context", "language", "budget", "apply", "accept_risk", "shard")
    return [getattr(arguments, name) for name in names]


def _unfinished(ledger: BatchLedger, targets: Sequence[str], language: str | None) -> list[str]:
    """The targets that have to run; an unreadable one is reported by its job."""
    left = []
    for name in targets:
        state = ""
        with suppress(UsageError):
            state = ledger.finished(name, _content(read_target(name, language)))
        if not state:
            left.append(name)
    return left


def _refuse_moving_lines(arguments: argparse.Namespace, targets: Sequence[str]) -> None:
    """UsageError for several targets in a file that `--apply` would change under them."""
    files = [os.path.abspath(target.partition(":")[0]) for target in targets]  # noqa: PTH100 - "a/../b" is the same
    twice = next((target for target, file in zip(targets, files, strict=True) if files.count(file) > 1), None)
    if arguments.apply and twice:
        raise UsageError(f"{twice}: with `--apply` a batch takes each file once, since an edit moves its other targets")


def _print_result(arguments: argparse.Namespace, result: TargetResult) -> None:
    if arguments.json:
        print_json(result.to_json())
    elif result.answer is not None and result.state is TargetState.OFFERED:
        for diff in diffs(result.answer):
            render.print_diff(diff)
    elif result.answer is not None and result.state is TargetState.ANSWERED:
        render.print_markdown(f"## {result.target}\n\n{result.answer.markdown}")
    sys.stdout.flush()


def _conclude(batch: Batch, before: int, seconds: float) -> int:
    arguments, left = batch.arguments, list(batch.waiting)
    total = summary(batch.results, left, before, str(arguments.shard), seconds)
    if arguments.json:
        print_json({"summary": total})
    for line in table(batch.results, left) if batch.results or left else ():
        print_status(render.visible(line))
    print_status(totals(total))
    if left:
        why = f"--max-calls {arguments.max_calls}" if batch.errors_in_a_row < _MOST_ERRORS else "errors in a row"
        print_status(f"hint: stopped by {why}; to run the rest, add --resume")
    if errors := [result.error.exit_code for result in batch.results if result.error]:
        return max(errors)
    if any(result.state is TargetState.RISKY for result in batch.results):
        return PolicyError.exit_code
    return int(bool(left) or any(result.state not in GOOD for result in batch.results))
