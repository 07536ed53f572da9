"""The commands for `workspace/executeCommand`. The table at the end is the contract."""

from __future__ import annotations

import asyncio
import platform
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from stet_ls.engine.api.actions import ACTIONS, spec_of
from stet_ls.engine.errors import UsageError
from stet_ls.server.handlers import memory_commands, model_commands, task_commands
from stet_ls.server.handlers.target import target
from stet_ls.server.jobs.job_registry import JobHandle, JobResult
from stet_ls.server.session import StetServer

if TYPE_CHECKING:
    from stet_ls.engine.actions.registry import Actions
    from stet_ls.engine.api.answer import Answer
    from stet_ls.server.job_flow.run_job import PreparedJob
    from stet_ls.server.lsp.command_params import Params

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ServerCommand:
    """One command. `params` names its model in `params.py`, which is imported with the first command."""

    params: str
    run: Callable[[StetServer, Any], Awaitable[Any] | Any]
    about: str

    def model(self) -> type[Params]:
        """The model of its argument."""
        from stet_ls.server.lsp import command_params

        model: type[Params] = getattr(command_params, self.params)
        return model


async def result(ls: StetServer, params: Any) -> Json:
    """The result of a job; with `wait`, waits until it has one. Cancelling the wait does not affect the job."""
    job = ls.jobs.get(params.job)
    if params.wait:
        job.has_waiter.set()
        await job.wait()
    return _result(job)


def cancel(ls: StetServer, params: Any) -> Json:
    """Stops a job."""
    return {"cancelled": ls.jobs.get(params.job).cancel()}


async def evidence(ls: StetServer, params: Any) -> Json:
    """Opens a job's evidence, its report and (of one check) its files, and returns it. A plugin shows it itself."""
    if params.job is None:
        job = next((each for each in reversed(list(ls.jobs)) if each.answer and each.answer.evidence), None)
        if job is None:
            raise UsageError("job: no job has evidence yet.")
    elif ls.evidence.verified.owns(params.job):
        return cast(Json, await ls.evidence.verified.show(params.job, params.check, opens=not ls.client.shows_reports))
    else:
        job = ls.jobs.get(params.job)
    if job.answer is None:
        raise UsageError(f"job: {job.id} has no evidence: it has no answer (status: {job.status.value}).")
    show = ls.evidence.files.collect if ls.client.shows_reports else ls.evidence.files.show
    return await show(job.id, job.answer, params.check)


async def apply(ls: StetServer, params: Any) -> Json:
    """Applies the edit that a job asks about, even if its wait is over; returns the same as `stet.result`."""
    known = list(ls.jobs) if params.job is None else [ls.jobs.get(params.job)]
    job = next((each for each in reversed(known) if each.awaiting_confirmation), None)
    if job is None:
        raise UsageError("job: no edit waits for confirmation" + (f" of {params.job}." if params.job else "."))
    if params.files or params.steps:
        from stet_ls.engine.actions.multi_file.chosen_parts import ChosenParts, chosen_part

        job.choice = ChosenParts(params.files, params.steps)
        if job.answer is not None:
            chosen_part(job.answer, job.choice)  # a name or a number that does not exist is an error of this command
    job.apply_requested.set()
    await job.wait()
    if job.deferred_result is not None:
        await asyncio.wait({job.deferred_result})
    return _result(job)


def retry(ls: StetServer, params: Any) -> Json:
    """Runs a job again on the current document."""
    old = ls.jobs.get(params.job)
    again = old.params.model_copy(update={"uri": old.uri, "fresh": True})
    from stet_ls.engine.actions.rewriting.stated_examples import is_example
    from stet_ls.server.job_flow.run_job import prepare, start_prepared

    if params.instruction and is_example(params.instruction):
        # The reply to the question about an edit that nothing ran: it is tried on that edit first.
        again = again.model_copy(update={"constraints": (*again.constraints, params.instruction)})
        prepared = prepare(ls, old.action, again)
        candidate = old.answer.code if old.answer is not None else ""
        return {"job": start_prepared(ls, replace(prepared, request=replace(prepared.request, candidate=candidate))).id}
    if params.instruction:
        again = again.model_copy(update={"instruction": params.instruction})
    return _start(ls, old.action, again)


def custom(ls: StetServer, params: Any) -> Awaitable[Json]:
    """Runs any action by its name, on the document at the time of the command."""
    from stet_ls.server.job_flow.run_job import prepare

    # Before the coroutine runs: by then the next message may have changed the text.
    return _custom(ls, prepare(ls, params.action, params))


async def _custom(ls: StetServer, prepared: PreparedJob) -> Json:
    from stet_ls.server.job_flow.run_job import start_prepared

    try:
        _known((await ls.engine.get()).engine.actions, prepared.action)
    except BaseException:
        prepared.origin.track.release()
        raise
    return {"job": start_prepared(ls, prepared).id}


def verify(ls: StetServer, params: Any) -> Awaitable[Json]:
    """Judges a change by any author, without a model: a file's, the project's, or what is staged."""
    from stet_ls.server.job_flow import verify_change

    # Before the coroutine runs: by then the next message may have changed the text.
    return verify_change.run(ls, verify_change.prepare(ls, params))


def review(ls: StetServer, params: Any) -> Awaitable[Json]:
    """Reviews a change by any author: a file's, the project's, or what is staged."""
    from stet_ls.server.job_flow import review_change, verify_change

    # Before the coroutine runs: by then the next message may have changed the text.
    return review_change.run(ls, verify_change.prepare(ls, params))


def clear(ls: StetServer, params: Any) -> Json:
    """Removes the diagnostics of analyze and verify, and the lenses above changed code."""
    ls.evidence.verified.forget()
    ls.evidence.lenses.clear(params.uri)
    return {"cleared": ls.diagnostics.clear(params.uri)}


def jobs(ls: StetServer, params: Any) -> Json:
    """The running jobs and the last ones that ended."""
    return {
        "jobs": [
            {
                "job": job.id,
                "action": job.action,
                "uri": job.uri,
                "status": job.status.value,
                "stage": job.stage,
                "seconds": round(job.elapsed(), 3),
                "message": job.result.message if job.result else "",
            }
            for job in ls.jobs
        ]
    }


async def health(ls: StetServer, params: Any) -> Mapping[str, Any]:
    """The model that would serve and its state, and `parts`: the state of each other part, its reason and a hint."""
    return await ls.monitoring.health.of((await ls.engine.get()).engine, ls.paths, ls.editor.roots())


async def stats(ls: StetServer, params: Any) -> Json:
    """The counts of this server since its start, the sums of the ledger of all jobs, and this process's metrics."""
    answers = [job.result.answer for job in ls.jobs if job.result and job.result.answer]
    tokens = Counter[str]()
    for answer in answers:
        tokens.update(asdict(answer.metadata.tokens))
    return {
        "jobs": dict(Counter(job.status.value for job in ls.jobs)),
        "actions": dict(Counter(job.action for job in ls.jobs)),
        "calls": sum(answer.metadata.calls for answer in answers),
        "tokens": dict(tokens),
        "seconds": round(sum(job.elapsed() for job in ls.jobs), 3),
        "uptime": round(ls.monitoring.uptime(), 3),
        "ledger": await asyncio.to_thread(_ledger, ls.paths.ledger),
        "prometheus": ls.monitoring.metrics.text(),
        "metrics_port": ls.monitoring.metrics.port,
    }


_LEDGER_DAYS, _LAST_JOBS = 30, 50


def _ledger(folder: Path) -> Json:
    """The sums of the last days, as in `stet stats`, and the last jobs one by one."""
    from stet_ls.engine.job.ledger import GROUPS, LedgerFile, days_ago, total, totals

    entries = list(LedgerFile(folder).entries(since=days_ago(_LEDGER_DAYS)))
    sums = {by: {name: asdict(each) for name, each in totals(entries, by).items()} for by in GROUPS}
    return {
        "days": _LEDGER_DAYS,
        **sums,
        "jobs": [asdict(entry) for entry in entries[-_LAST_JOBS:]],
        "total": asdict(total(entries)),
    }


async def show_prompt(ls: StetServer, params: Any) -> Json:
    """The prompt of an action, after redaction. Nothing is sent."""
    from stet_ls.server.job_flow.run_job import request_of

    request, _ = request_of(ls, params.action, params)
    engine = (await ls.engine.get()).engine
    _known(engine.actions, params.action)
    prompt = await engine.show_prompt(request)
    return {**prompt.to_json(), "endpoint": (await engine.health()).get("endpoint")}


async def capabilities(ls: StetServer, params: Any) -> Json:
    """The server's capabilities for plugins: actions with their schemas, languages, versions, limits and commands."""
    from stet_ls.engine.actions.arms.table import all_arms
    from stet_ls.engine.api.answer import ANSWER_SCHEMA
    from stet_ls.server.handlers import capabilities as described
    from stet_ls.server.lsp.command_params import ActionParams

    ready = await ls.engine.get()
    return {
        "version": ls.version,
        "versions": {"stet": ls.version, "python": platform.python_version(), "lsp": LSP_VERSION},
        "encoding": ls.client.encoding,
        "log": str(ls.monitoring.log_path(ls.paths.log_file)),
        "actions": described.actions_of(ready.engine.actions),
        "problems": [*ready.engine.actions.problems, *all_arms().problems],
        "arms": await described.arms(ready.engine),
        "steps": described.steps(),
        "model": await described.model(ready.engine),
        "languages": described.languages(),
        "limits": described.limits(ready.settings),
        "input": ActionParams.model_json_schema(),
        "output": ANSWER_SCHEMA,
        "commands": {name: spec.about for name, spec in COMMANDS.items()},
    }


LSP_VERSION = "3.18"


def _action(name: str) -> Callable[[StetServer, Any], Json]:
    def start(ls: StetServer, params: Any) -> Json:
        return _start(ls, name, params)

    return start


def _start(ls: StetServer, action: str, params: Any) -> Json:
    from stet_ls.server.job_flow.run_job import start_job

    return {"job": start_job(ls, action, params).id}


def _known(actions: Actions, name: str) -> None:
    if name not in actions:
        raise UsageError(f"action: {actions.unknown(name)}")


def _result(job: JobHandle) -> Json:

    ending = job.result or JobResult(job.status, "")
    answer = ending.answer
    return {
        "status": ending.status.value,
        "answer": answer.to_json() if answer else None,
        "markdown": answer.markdown if answer else job.written,
        "message": ending.message,
        "headline": ending.short or ending.message,
        "applied": ending.applied,
        **({"asks": True} if job.awaiting_confirmation else {}),
        **({"missingModel": ending.missing_model} if ending.missing_model else {}),
        **({"modelFailed": True} if ending.model_failed else {}),
        **(_shown_after(answer, applied=ending.applied is True) if answer else {}),
    }


def _shown_after(answer: Answer, *, applied: bool) -> Json:
    """What a client shows once the job has ended: the file that it opens, the findings that it lists."""
    spec = spec_of(answer.action)
    written = [*(each.path for each in answer.new_files), *(each.path for each in answer.edits)]
    return {
        **({"opens": str(written[0])} if written and applied and spec.writes_tests else {}),
        **({"findings": answer.to_json()["findings"]} if spec.lists_findings and answer.success else {}),
    }


COMMANDS: Mapping[str, ServerCommand] = {
    **{
        f"stet.{name}": ServerCommand(
            "TaskParams" if spec.takes_project else "ActionParams", _action(name), f"Start the job {name}."
        )
        for name, spec in ACTIONS.items()
    },
    "stet.plan": ServerCommand("TaskParams", task_commands.plan, "Start a job whose report is the plan of a task."),
    "stet.tasks.list": ServerCommand("NoParams", task_commands.listed, "List earlier and running tasks."),
    "stet.tasks.show": ServerCommand("TaskIdParams", task_commands.show, "Show a task with its steps and evidence."),
    "stet.tasks.resume": ServerCommand(
        "ResumeParams", task_commands.resume, "Do the unfinished steps of a task, or its plan as edited."
    ),
    "stet.custom": ServerCommand("CustomParams", custom, "Start an action by name."),
    "stet.result": ServerCommand("ResultParams", result, "Return the result of a job."),
    "stet.evidence": ServerCommand("EvidenceParams", evidence, "Open the evidence of a job and its files."),
    "stet.cancel": ServerCommand("JobParams", cancel, "Stop a job."),
    "stet.retry": ServerCommand("RetryParams", retry, "Run a job again on the current document."),
    "stet.apply": ServerCommand("ApplyParams", apply, "Apply the edit that waits for confirmation."),
    "stet.verify": ServerCommand("VerifyParams", verify, "Judge a change by any author, without a model."),
    "stet.review": ServerCommand(
        "VerifyParams", review, "Review a change: judges, tools and a reviewer, with a score."
    ),
    "stet.clear": ServerCommand("ClearParams", clear, "Remove the findings of analyze and verify, and code lenses."),
    "stet.target": ServerCommand("TargetParams", target, "Return what an action at a position would work on."),
    "stet.jobs": ServerCommand("NoParams", jobs, "List running and recent jobs."),
    "stet.health": ServerCommand(
        "NoParams", health, ("Report the state of models and all other components, with hints.")
    ),
    "stet.stats": ServerCommand("NoParams", stats, "Report usage, cost and metrics."),
    "stet.showPrompt": ServerCommand(
        "CustomParams", show_prompt, "Show the prompt that would be sent, after redaction."
    ),
    "stet.memory.search": ServerCommand(
        "MemorySearchParams", memory_commands.search, "Search for remembered solutions."
    ),
    "stet.memory.stats": ServerCommand("NoParams", memory_commands.stats, "Report the number of remembered solutions."),
    "stet.memory.forget": ServerCommand("MemoryForgetParams", memory_commands.forget, "Forget a solution."),
    "stet.models": ServerCommand("NoParams", model_commands.models, "List the models to choose from."),
    "stet.download": ServerCommand("DownloadParams", model_commands.download, "Download an embedded model."),
    "stet.setup": ServerCommand("SetupParams", model_commands.setup, "Choose the model, by question or by argument."),
    "stet.capabilities": ServerCommand("NoParams", capabilities, "List actions and commands, with their schema."),
}
"""Every command by its name."""
