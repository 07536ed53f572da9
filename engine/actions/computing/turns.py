"""The turns of a task that computes: ask, run, show, until the model is done or a limit is reached."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stet_ls.engine.actions.computing.conversation import Failure, Success, TurnReply, prompt_of, read_reply
from stet_ls.engine.actions.computing.criteria import Criteria
from stet_ls.engine.actions.computing.inputs import InputFile
from stet_ls.engine.actions.computing.language_table import LANGUAGE, ROW
from stet_ls.engine.actions.computing.program_run import MOST_BYTES, ProgramFiles, ProgramRun, TaskProgram, run_program
from stet_ls.engine.api.events import Stage
from stet_ls.engine.errors import LimitError, ModelError, PolicyError
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.job.job import Job
from stet_ls.engine.privacy.redact import restore
from stet_ls.engine.sandbox.environments.known_packages import DISTRIBUTIONS, normalized

MOST_TURNS = 50
"""The most programs of a task; its budget allows fewer."""
_REPLY_TOKENS = 2_000
_TEMPERATURE, _AGAIN = 0.1, 0.7
"""A model that failed twice in the same way repeats itself at a low temperature."""
_REMINDERS = 2
"""How often a model that says it is done is asked to meet a criterion."""
_FIGURE = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_MODULES = {normalized(package): module for module, package in reversed(tuple(DISTRIBUTIONS.items()))}


@dataclass(frozen=True, slots=True)
class ComputingTask:
    """A task that computes.

    goal: What to find out or to make, in the user's words.
    inputs: The files that it reads, below the project's folder; programs cannot change them.
    required_libraries: Packages to install besides those that the programs import.
    constraints: What the programs have to meet, a sentence each.
    criteria: The files that have to exist at the end.
    context: What the user gave besides the goal, by name.
    """

    goal: str
    inputs: tuple[str, ...] = ()
    required_libraries: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    criteria: Criteria = field(default_factory=Criteria)
    context: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What became of a task. `programs` and `runs` are those that succeeded, `made` are the files they left.

    `problem` is why it ended before it was done, "" if it was; `words` are the model's about the files.
    """

    programs: tuple[TaskProgram, ...] = ()
    runs: tuple[ProgramRun, ...] = ()
    made: Mapping[str, bytes] = field(default_factory=dict)
    summary: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""
    status: str = "failed"
    stderr: str = ""
    seconds: float = 0.0
    turns: int = 0
    warnings: tuple[str, ...] = ()


class Turns:
    """The state of one task. Files and turns of a failed program are dropped."""

    def __init__(self, job: Job, goal: str, root: Path, inputs: Sequence[InputFile], task: ComputingTask) -> None:
        self._job, self._goal, self._root, self._inputs, self._task = job, goal, root, inputs, task
        self._successes: list[Success] = []
        self._made: dict[str, bytes] = {}
        self._failure: Failure | None = None
        self._last = ProgramRun("failed", "", "", 0.0)
        self._turns = self._reminders = 0
        self._same_problem = False
        self._seconds = 0.0

    @property
    def _is_tiny(self) -> bool:
        """A tiny model writes programs; its words about their output are worth less than the output."""
        return self._job.profile.tier == "tiny"

    async def run(self) -> TaskResult:
        """All turns. Raises ModelError if the first call fails, PolicyError where code may not run."""
        job = self._job
        job.look_for_runtime()
        problem, reply = "", TurnReply()
        while self._turns < MOST_TURNS:
            if self._turns and job.reserved and (problem := job.call_limit_reason()):
                break
            try:
                reply = await self._ask()
            except (ModelError, LimitError) as error:
                if not self._turns and job.usage.calls == 0:
                    raise
                problem = str(error)
                break
            program = reply.program
            if reply.done:
                problem = self._task.criteria.unmet(self._made)
                if not problem or self._reminders >= _REMINDERS:
                    problem = ""
                    break
                self._reminders += 1
                self._fail(f"DONE\n{reply.summary}", problem)
            elif program is None:
                self._turns += 1
                self._fail("", reply.problem)
            elif self._repeats(program):
                reply = TurnReply(done=True)
                break
            else:
                self._turns += 1
                await self._try(program, reply.plan)
                if self._is_tiny and self._failure is None and not self._task.criteria.unmet(self._made):
                    reply = TurnReply(done=True)
                    break
        else:
            problem = f"{MOST_TURNS} programs are the limit."
        return self._result(reply, problem)

    def _repeats(self, program: TaskProgram) -> bool:
        """True for the program that has just succeeded: the model has nothing to add."""
        last = self._successes[-1].program.text if self._successes and self._failure is None else None
        return last is not None and last.split() == program.text.split()

    async def _ask(self) -> TurnReply:
        job, task = self._job, self._task
        prompt = await asyncio.to_thread(
            prompt_of, job.request, self._goal, self._inputs, task.required_libraries, task.constraints,
            task.context, self._successes, self._failure, job.prompt_budget(),
            is_short=self._is_tiny, begins=job.profile.begins,
        )  # fmt: skip
        temperature = _AGAIN if self._same_problem else _TEMPERATURE
        stage = Stage("model", f"program {self._turns + 1}")
        completion = await job.ask(prompt, temperature=temperature, max_tokens=_REPLY_TOKENS, stage=stage)
        text = restore(completion.text, prompt.secrets)
        reply = read_reply(
            text, number=self._turns + 1, truncated=completion.finish != "stop", ran=bool(self._successes)
        )
        if completion.finish != "stop" and not reply.done:
            return TurnReply(problem="The reply is incomplete: write a shorter program, or one step of it.")
        return reply

    async def _try(self, program: TaskProgram, plan: str) -> None:
        """Runs a program. Its files count only if it succeeds."""
        text = program.text + _importing(self._task.required_libraries)
        runtime = await self._job.runtime(text)
        if runtime is None:
            raise PolicyError("A task that computes runs code: use the budget `standard` or larger.")
        if runtime.python is None:
            raise PolicyError(f"A task that computes runs code, and {runtime.why_no_python or 'no Python was found'}.")
        if why := _lacking(runtime):
            self._fail(program.text, why, fenced=True)
            return
        if (self._root / program.name).exists() and program.name not in {each.program.name for each in self._successes}:
            program = TaskProgram(f"task_{self._turns}{ROW.suffix}", program.text)
        place = ProgramFiles(
            self._root, self._buffers(runtime), tuple(each.name for each in self._inputs), self._known()
        )
        with self._job.stage("run", program.name):
            run = await run_program(runtime, place, program)
        self._seconds += run.seconds
        self._last = run
        total = sum(map(len, {**self._made, **run.files}.values()))
        problem = run.problem or ("" if total <= MOST_BYTES else f"all files hold more than {MOST_BYTES >> 20} MB")
        if problem:
            self._fail(program.text, _with_stderr(problem, run.stderr), fenced=True)
            return
        own = {each.program.name for each in self._successes} | {program.name}
        self._made.update((name, content) for name, content in run.files.items() if name not in own)
        self._successes.append(Success(program, run, plan))
        self._failure, self._same_problem = None, False

    def _known(self) -> dict[str, bytes]:
        """What a program finds besides the workspace: the files and programs of earlier turns."""
        return {**{each.program.name: each.program.text.encode() for each in self._successes}, **self._made}

    def _buffers(self, runtime: Runtime) -> dict[str, bytes]:
        """Unsaved documents; not those of inputs, which programs read from the disk as well."""
        return runtime.unsaved(self._root, Path())

    def _fail(self, reply: str, problem: str, *, fenced: bool = False) -> None:
        self._same_problem = self._failure is not None and self._failure.problem == problem
        self._failure = Failure(f"CODE:\n```{LANGUAGE}\n{reply.rstrip()}\n```" if fenced else reply, problem)

    def _result(self, reply: TurnReply, problem: str) -> TaskResult:
        if not self._successes and not problem:
            problem = "The model wrote no program."
        if not self._successes and self._failure is not None:
            first = self._failure.problem.splitlines()[0].rstrip(".")
            problem = f"{problem.rstrip('.')}; the last program failed: {first}." if problem else f"{first}."
        runs = tuple(each.run for each in self._successes)
        # A program that was written again replaces the one of that name.
        programs = {each.program.name: each.program for each in self._successes}
        summary = reply.summary if reply.done else ""
        return TaskResult(
            tuple(programs.values()), runs, self._made, summary or "".join(run.stdout for run in runs[-1:]).strip(),
            reply.words, problem, "ok" if runs else self._last.status,
            runs[-1].stderr if runs else self._last.stderr, self._seconds, self._turns,
            tuple(_unshown(summary, runs, self._goal)),
        )  # fmt: skip


def _with_stderr(problem: str, stderr: str) -> str:
    """The problem, and the end of what the program said about it."""
    shown = "\n".join(stderr.strip().splitlines()[-15:])[-2_000:]
    return f"{problem}\n{shown}" if shown else problem


def _lacking(runtime: Runtime) -> str:
    lacking = runtime.missing_packages
    if not lacking.modules:
        return ""
    names = ", ".join(sorted(lacking.modules))
    return f"{lacking.why or f'{names} could not be installed.'} Do it without {names}."


def _unshown(summary: str, runs: Sequence[ProgramRun], goal: str) -> list[str]:
    """A warning about figures of the summary that no program printed; small counts are left alone."""
    printed = " ".join([goal, *(run.stdout for run in runs)])
    known = {_number(each) for each in _FIGURE.findall(printed)}
    wrong = [each for each in _FIGURE.findall(summary) if _large(each) and not _is_known(_number(each), known)]
    if not wrong:
        return []
    return [f"The summary states figures that no program printed: {', '.join(dict.fromkeys(wrong))}."]


def _number(text: str) -> float:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return float("nan")


_SMALL = 12
_ROUNDED = 0.006


def _large(text: str) -> bool:
    return _number(text) > _SMALL


def _is_known(number: float, known: set[float]) -> bool:
    """True for a printed number, rounded or not."""
    return any(abs(number - each) <= max(abs(each) * _ROUNDED, 0.005) for each in known)


def _importing(libraries: Iterable[str]) -> str:
    """A program that imports the required libraries, so that environments are built for them."""
    return "".join(f"import {module}\n" for module in map(_module_of, libraries) if module.isidentifier())


def _module_of(library: str) -> str:
    """The module of a library by the name of its package or module; versions do not count."""
    found = _NAME.match(library.strip())
    name: str = found[0] if found else ""
    return _MODULES.get(normalized(name)) or name.replace("-", "_").partition(".")[0]
