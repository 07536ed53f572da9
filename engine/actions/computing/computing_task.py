"""A task that computes: "plot the revenue of sales.csv by month".

run_computing_task(job, ComputingTask("plot the revenue", inputs=("sales.csv",), criteria=Criteria(picture=True)))

  the model writes a program     it runs in an overlay of the workspace; its output and files go back to the model
  ... until it is done           the programs, tables and pictures are offered as new files, described by what they hold
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from stet_ls.engine.actions.action import finish_answer, refusal
from stet_ls.engine.actions.computing.file_facts import describe_file, file_facts, text_of
from stet_ls.engine.actions.computing.inputs import input_files, root_of
from stet_ls.engine.actions.computing.language_table import LANGUAGE, ROW
from stet_ls.engine.actions.computing.turns import ComputingTask, TaskResult, Turns
from stet_ls.engine.api.answer import Answer, NewFile
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.api.execution_result import ExecutionResult, FileKind, ProducedFile
from stet_ls.engine.api.summary import Summary
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.table import judge_of
from stet_ls.engine.plurals import plural
from stet_ls.engine.privacy.ignored_files import IgnoredFiles, left_out
from stet_ls.validators.source import Source

_JUDGED = (Check.SYNTAX, Check.DANGER)
"""What is judged of a program that is offered as a new file, besides the fact that it ran."""


async def run_computing_task(job: Job, task: ComputingTask) -> Answer:
    """Does the task, and offers what its programs made; a refusal if none of them succeeded.

    Raises UsageError for an input that cannot be read, PolicyError where code may not run.
    """
    root = root_of(job.request)
    with job.stage("context"):
        inputs = await asyncio.to_thread(input_files, job.request, root, task.inputs, job.settings.privacy.ignore)
        hidden = await asyncio.to_thread(_hidden, job, task)
    task = replace(task, context={name: value for name, value in task.context.items() if name not in hidden})
    program = replace(
        job.request, language=LANGUAGE, path=root / f"task{ROW.suffix}", source=Source(""), selection=None
    )
    own = replace(job, request=program, _runtime=None)
    own.deadline = job.deadline
    result = await Turns(own, task.goal, root, inputs, task).run()
    if not result.programs:
        return _refused(job, result)
    return await _answer(job, task, root, result)


def _hidden(job: Job, task: ComputingTask) -> Collection[str]:
    """The pieces of context that are files which no model is shown."""
    return left_out(task.context, IgnoredFiles(job.request.workspace, job.settings.privacy.ignore))


def _refused(job: Job, result: TaskResult) -> Answer:
    ran = f" after {plural(result.turns, 'turn')}" if result.turns else ""
    no = refusal(job, f"Task: no result{ran}. {result.problem}")
    return replace(no, execution=_execution(result))


def _execution(result: TaskResult) -> ExecutionResult:
    stdout = "".join(run.stdout for run in result.runs)
    return ExecutionResult(result.status, stdout, result.stderr, result.seconds, result.turns)


async def _answer(job: Job, task: ComputingTask, root: Path, result: TaskResult) -> Answer:
    contents = {**{each.name: each.text.encode("utf-8", "surrogatepass") for each in result.programs}, **result.made}
    taken = [name for name in contents if (root / name).exists()]
    files = tuple(_produced(root, name, data, result) for name, data in contents.items() if name not in taken)
    new = tuple(_new_file(each.path, contents[each.name]) for each in files)
    made = [each for each in files if each.kind is not FileKind.CODE]
    unmet = task.criteria.unmet(result.made)
    notes = [unmet.rstrip(".")] if unmet else []
    notes += [f"`{name}` exists already, so the new one is left out" for name in taken]
    notes += [result.problem.rstrip(".")] if result.problem else []
    changed = sorted({name for run in result.runs for name in run.left_alone})
    notes += [f"changes of `{name}` discarded: a task that computes writes new files only" for name in changed]
    summary = Summary(
        f"Computed with {plural(len(result.programs), 'program')}" + (f", {plural(len(made), 'file')}" if made else ""),
        new_files=tuple(each.name for each in files),
        notes=tuple(notes),
    )
    evidence = (_ran(result), *(await _judged(job, root, result)))
    return finish_answer(
        job,
        Answer(
            True,
            job.request.action,
            job.request.language,
            summary,
            new_files=new,
            markdown=result.summary,
            code="\n\n".join(each.text for each in result.programs),
            explanation=result.summary,
            evidence=evidence,
            warnings=result.warnings,
            execution=_execution(result),
            files=files,
        ),
    )


def _produced(root: Path, name: str, data: bytes, result: TaskResult) -> ProducedFile:
    found = file_facts(name, data)
    return ProducedFile(root / name, name, found.kind, len(data), describe_file(found, result.words.get(name, "")))


def _new_file(path: Path, data: bytes) -> NewFile:
    text = text_of(data)
    return NewFile(path, "", data) if text is None else NewFile(path, text)


def _ran(result: TaskResult) -> Evidence:
    """That the programs ran: it shows that they work, not that their result is right."""
    seconds = sum(run.seconds for run in result.runs)
    failed = result.turns - len(result.runs)
    detail = f"{plural(len(result.runs), 'program')} ran in {seconds:.1f} s"
    detail += f", after {failed} that failed" if failed else ""
    return Evidence(Check.EXECUTION, Ruling.PASS, detail, trusted=True, seconds=seconds, count=len(result.runs))


async def _judged(job: Job, root: Path, result: TaskResult) -> list[Evidence]:
    found = []
    for program in result.programs:
        case = Case(
            job.request.action, LANGUAGE, root / program.name, Source(""), Source(program.text), tools=job.tools
        )
        found += [await judge_of(check).judge(case) for check in _JUDGED]
    # One line of each kind says it for all programs.
    return list({(item.check, item.detail): item for item in found}.values())
