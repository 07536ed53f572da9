"""`stet run ACTION TARGET...`: runs one job, or one for each target, with the same engine as the server."""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from stet_ls.engine.api.actions import ACTIONS, PROJECT_ACTION, spec_of
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.plan import TaskOptions
from stet_ls.engine.api.request import Request
from stet_ls.engine.errors import SettingsError, UsageError
from stet_ls.engine.judges.danger.risk_kinds import ACCEPTABLE
from stet_ls.engine.storage.paths import user_paths
from stet_ls.engine.task_history.history import TaskEnd
from stet_ls.server.cli.command_table import did_you_mean, positive
from stet_ls.server.cli.inputs.command_target import CommandTarget, is_standard_input, read_target
from stet_ls.server.cli.inputs.load_settings import load_settings
from stet_ls.server.cli.inputs.sandbox_levels import LEVELS
from stet_ls.server.cli.inputs.shard import Shard, read_shard
from stet_ls.server.cli.run.answer_files import diffs
from stet_ls.server.cli.run.batch import run_batch
from stet_ls.server.cli.run.batch_targets import batch_targets, is_pattern
from stet_ls.server.cli.run.finish import finish, write_evidence
from stet_ls.server.cli.run.job_request import job_request
from stet_ls.server.cli.run.task_request import configure_task, edited_plan, task_request
from stet_ls.server.cli.terminal import render
from stet_ls.server.cli.terminal.machine_output import print_json
from stet_ls.server.cli.terminal.progress_line import ProgressLine
from stet_ls.server.cli.terminal.status import print_status
from stet_ls.server.evidence.evidence_text import NOT_RUN

if TYPE_CHECKING:  # the engine is imported once the target is known to be readable
    from stet_ls.engine.run import Engine

NAMING = "select a part of a file with FILE:LINE-LINE or FILE::NAME, and say what to do with `--instruction`"
"""What to try if the action cannot work on the target."""
INDEX_SECONDS = 2.0
"""Limit for reading the project's symbols before a job; the next command reads the rest."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("action", metavar="ACTION", help=f"{', '.join(ACTIONS)}, or a custom one such as document")
    parser.add_argument(
        "target",
        metavar="TARGET",
        nargs="+",
        help="FILE, FILE:LINE, FILE:LINE:COLUMN, FILE:LINE-LINE, FILE::NAME (a unit or a test's node id), "
        "or -[:LINE] for standard input (with --language); several, or a quoted pattern such as 'src/**/*.py', "
        "run as a batch",
    )
    configure_words(parser)
    budgets = [budget.value for budget in Budget]
    parser.add_argument(
        "--budget", choices=budgets, default=Budget.STANDARD.value, help="how many model calls the job may make"
    )
    configure_result(parser)
    parser.add_argument("--evidence", metavar="DIR", help="write evidence files there: inputs, failing output")
    parser.add_argument(
        "--coverage", action="store_true", help="let analyze run the tests that use the file, and show what they reach"
    )
    parser.add_argument("--no-cache", action="store_true", help="ask the model even if it was asked the same before")
    parser.add_argument("--show-prompt", action="store_true", help="print the prompt without sending it")
    parser.add_argument("--trust", action="store_true", help="trust the project's actions for this run only")
    parser.add_argument("--sandbox-level", choices=LEVELS, help="weakest isolation level at which code may run")
    batch = parser.add_argument_group("batch", "for several targets")
    batch.add_argument("--jobs", type=positive, metavar="N", help="jobs at once [default: 2]")
    batch.add_argument("--max-calls", type=positive, metavar="N", help="model calls of the whole batch")
    batch.add_argument("--resume", action="store_true", help="continue an earlier batch with the same arguments")
    batch.add_argument("--shard", type=read_shard, metavar="I/N", help="run only part I of N, for several machines")
    configure_task(parser)


def configure_words(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments that say what is to be done."""
    parser.add_argument("--instruction", default="", metavar="TEXT", help="what to do, in a sentence")
    parser.add_argument(
        "--constraint",
        action="append",
        default=[],
        metavar="TEXT",
        help="a requirement that the edit must meet; repeatable",
    )
    parser.add_argument(
        "--context", action="append", default=[], metavar="KEY=VALUE", help="more information for the model; repeatable"
    )
    parser.add_argument("--language", metavar="NAME", help="language, if the file name does not show it")


def configure_result(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments that say what becomes of the result."""
    result = parser.add_mutually_exclusive_group()
    result.add_argument(
        "--diff", action="store_true", help="print the patch alone, for `git apply`, if no check refuted it"
    )
    unless = "unless a check refuted it, none ran it, or it adds a risk that --accept-risk does not name"
    result.add_argument("--apply", action="store_true", help=f"write the edit to the files, {unless}")
    result.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.add_argument(
        "--accept-risk",
        action="append",
        default=[],
        metavar="NAME",
        choices=(*ACCEPTABLE, NOT_RUN),
        help="let --apply write an edit with this risk, or one that no check ran (not-run); repeatable",
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="FILE", help="take the changes of this file alone; repeatable"
    )
    parser.add_argument(
        "--step", action="append", default=[], type=positive, metavar="N",
        help="take the changes of this step of a task alone; repeatable",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Runs the job, prints its answer, and returns the exit status."""
    words = list(arguments.target)
    is_batch = arguments.jobs or arguments.max_calls or arguments.resume or arguments.shard
    if spec_of(arguments.action).takes_project and not is_batch:
        return run_task(arguments, words)
    own = ("plan", "edit", "after", "library", "priority", "deadline")
    if given := [f"`--{name}`" for name in own if getattr(arguments, name)]:
        raise UsageError(f"only the action {PROJECT_ACTION} has {given[0]}")
    if is_batch or len(words) > 1 or is_pattern(words[0]):
        return _run_batch(arguments, words)
    arguments.target = words[0]
    if arguments.apply and is_standard_input(arguments.target):
        raise UsageError("`--apply` needs a file; standard input cannot be written")
    if arguments.action not in ACTIONS:
        _find_custom(arguments.action, arguments.target)
    target = read_target(arguments.target, arguments.language)
    return run_one(arguments, target, job_request(arguments, target))


def run_task(arguments: argparse.Namespace, words: list[str]) -> int:
    """Does one task on all of its targets."""
    if is_standard_input(words[0]):
        raise UsageError("a task needs files: standard input has no project")
    target, request = task_request(arguments, words)
    arguments.target = words[0]
    return run_one(arguments, target, request)


def run_one(arguments: argparse.Namespace, target: CommandTarget, request: Request) -> int:
    """Runs one job, shows or writes its answer, and returns the exit status."""
    return asyncio.run(_run(arguments, target, request))


def _run_batch(arguments: argparse.Namespace, words: list[str]) -> int:
    if arguments.evidence is not None or arguments.show_prompt:
        option = "--show-prompt" if arguments.show_prompt else "--evidence"
        raise UsageError(f"`{option}` takes one target")
    arguments.shard = arguments.shard or Shard()
    targets = batch_targets(words, arguments.shard)
    if arguments.action not in ACTIONS:
        _find_custom(arguments.action, ".")
    return asyncio.run(run_batch(arguments, targets))


def _find_custom(name: str, target: str) -> None:
    """Refuses an unknown action, before reading its target."""
    from stet_ls.engine.actions.registry import Actions
    from stet_ls.engine.settings import find_project, load

    here = Path.cwd()
    folder = Path(target).parent
    loaded = load(project=find_project(folder if folder.is_dir() else here, below=here))
    actions = Actions(loaded.settings)
    if name in actions:
        return
    reasons = [each for each in (*loaded.broken, *actions.problems) if f"{name!r}" in each]
    names = [action.spec.name for action in actions]
    hint = reasons[0] if reasons else did_you_mean(name, names)
    raise UsageError(f'unknown action "{name}": {hint}')


async def _run(arguments: argparse.Namespace, target: CommandTarget, request: Request) -> int:
    near = Path.cwd() if request.path is None else request.path.parent
    overrides = {"sandbox.minimum_level": arguments.sandbox_level, "checks.coverage": arguments.coverage or None}
    settings = load_settings(near=near, arguments=overrides, trust_project=arguments.trust).settings

    from stet_ls.engine.memory.memory_client import COMMANDS_STAY
    from stet_ls.engine.run import Engine
    from stet_ls.server.cli.terminal.consent import Terminal

    engine = Engine(settings, user_paths())
    engine.ask_by(Terminal())
    engine.memory.memory.stays_seconds = COMMANDS_STAY
    progress = ProgressLine()
    try:
        engine.memory.warm()  # finds its process while the project is read
        await engine.index.read(request.workspace.roots, INDEX_SECONDS)
        if arguments.show_prompt:
            return await _show_prompt(engine, request, as_json=arguments.json)
        if arguments.sandbox_level not in (None, "none"):
            await engine.runtimes.sandbox.allow()  # an unavailable sandbox level ends the job before it costs anything
        if getattr(arguments, "edit", False):
            request = await _with_edited_plan(engine, request, progress)
        answer = await engine.run(request, on_event=progress)
        answer, unknown = await _part_of(engine, request, answer, arguments)
        progress.clear()
        if arguments.apply and answer.not_run and NOT_RUN not in arguments.accept_risk:
            answer = await _confirmed(arguments, engine, request, answer, progress)
    except SettingsError:
        raise
    except UsageError as error:
        raise UsageError(f"{arguments.target}: {error}", hint=error.hint or NAMING) from error
    except asyncio.CancelledError:
        progress.clear()
        _print_cancelled(engine, request)
        raise
    finally:
        progress.clear()
        await engine.close()
    if unknown is not None:
        raise unknown
    if arguments.evidence is not None:
        await asyncio.to_thread(write_evidence, Path(arguments.evidence), answer)
    status = finish(arguments, target, answer)
    if arguments.apply and status == 0:
        trace = answer.metadata.trace
        await engine.memory.applied(trace)
        await engine.record_outcome(trace, "applied")
    return status


def _print_cancelled(engine: Engine, request: Request) -> None:
    """Prints how to do the rest of a task that the user stopped."""
    latest = next(iter(engine.tasks.list()), None) if request.task is not None else None
    if latest is not None and latest.state == TaskEnd.CANCELLED:
        print_status(f"cancelled, nothing was written: `stet tasks resume {latest.id}` does what is left")


async def _part_of(
    engine: Engine, request: Request, answer: Answer, arguments: argparse.Namespace
) -> tuple[Answer, UsageError | None]:
    """The part of an answer that the arguments name, judged again; or what is wrong with them."""
    from stet_ls.engine.actions.multi_file.chosen_parts import ChosenParts, chosen_part

    choice = ChosenParts(tuple(arguments.only), tuple(arguments.step))
    if not choice or not answer.success:
        return answer, None
    try:
        part = chosen_part(answer, choice)
    except UsageError as error:
        return answer, error
    return await engine.judge_part(request, part), None


async def _confirmed(
    arguments: argparse.Namespace, engine: Engine, request: Request, answer: Answer, progress: ProgressLine
) -> Answer:
    """The answer that the user accepts on the terminal: this one, or the one after an example was given."""
    from stet_ls.engine.actions.rewriting.stated_examples import is_example
    from stet_ls.server.cli.terminal.consent import ask_line

    for diff in diffs(answer):
        render.print_diff(diff)
    reply = await ask_line(f"No check ran this edit. Apply it, or {answer.metadata.raised_by}? [y/N/example]")
    if reply is None:
        return answer
    if is_example(reply):
        stated = replace(request, constraints=(*request.constraints, reply), candidate=answer.code)
        return await engine.run(stated, on_event=progress)
    if reply.lower() in ("y", "yes"):
        arguments.accept_risk = [*arguments.accept_risk, NOT_RUN]
    return answer


async def _with_edited_plan(engine: Engine, request: Request, progress: ProgressLine) -> Request:
    """The request with the plan as the user edited it. UsageError if there is no plan."""
    options = request.task or TaskOptions()
    if options.plan:
        plan = options.plan
    else:
        planned = await engine.run(replace(request, task=replace(options, plan_only=True)), on_event=progress)
        progress.clear()
        if not planned.success:
            raise UsageError(planned.message)
        plan = planned.markdown
    return replace(request, task=replace(options, plan=await asyncio.to_thread(edited_plan, plan)))


async def _show_prompt(engine: Engine, request: Request, *, as_json: bool) -> int:
    prompt = await engine.show_prompt(request)
    if as_json:
        print_json({**prompt.to_json(), "endpoint": (await engine.health())["endpoint"]}, indent=2)
        return 0
    for message in prompt.messages:
        render.print_text(f"[{message.role}]\n{message.content}\n")
    for part in prompt.parts:
        print_status(f"{part.tokens:6,} tokens: {part.name}")
    for one in prompt.redactions:
        print_status(f"replaced: {one.kind}" + ("" if one.line is None else f", line {one.line + 1}"))
    for name in prompt.left_out:
        print_status(f"left out: {name}")
    print_status(f"{prompt.tokens} tokens, {len(prompt.redactions)} values replaced; left out: {len(prompt.left_out)}")
    return 0
