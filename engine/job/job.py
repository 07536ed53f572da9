"""The state of one call of the engine: its request, its limits, its spending."""

from __future__ import annotations

import asyncio
import copy
import time
import uuid
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from stet_ls.engine.api.budget import CALLS, Budget
from stet_ls.engine.api.events import Event, OnEvent, Progress, Stage, UnmeteredUsage
from stet_ls.engine.api.evidence import MissingInputs
from stet_ls.engine.api.metadata import Metadata, TokenCounts
from stet_ls.engine.api.request import Request
from stet_ls.engine.errors import LimitError
from stet_ls.engine.execution.environment_provisioning import JobResources
from stet_ls.engine.job.deadline import JUDGING, Deadline
from stet_ls.engine.job.spending_limits import Spend, SpendingLimiter
from stet_ls.engine.job.usage import JobUsage
from stet_ls.engine.model.chat import Completion, Role, Sampling
from stet_ls.engine.model.model_source import ModelSource
from stet_ls.engine.model.profiles.profiles import Profile
from stet_ls.engine.model.request_queue import QUEUED
from stet_ls.engine.plurals import plural
from stet_ls.engine.prompt.build import Prompt, RememberedItem
from stet_ls.engine.reply.parsing.overrun import continues_after_unit
from stet_ls.engine.sandbox.isolation import IsolationReport, weakest
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.tool_settings import toolbox
from stet_ls.engine.workspace.symbol_index import SymbolIndex
from stet_ls.validators.checkers.toolbox import Toolbox

if TYPE_CHECKING:
    from stet_ls.engine.execution.runtime import Runtime
    from stet_ls.engine.execution.runtime_provider import RuntimeProvider
    from stet_ls.engine.job.ledger import LedgerFile
    from stet_ls.engine.task_history.history import TaskHistory


BRIEF = 3.0
"""Total seconds for which the judges of a candidate may run code in the budget quick; usually one is enough."""

_READY = 3.0
"""Seconds for which the budget quick waits for a sandbox after the model's reply."""


@dataclass
class Job:
    """The state of one call of the engine: its request, its limits, its spending."""

    request: Request
    settings: Settings
    models: ModelSource
    profile: Profile
    spending: SpendingLimiter
    on_event: OnEvent
    index: SymbolIndex | None = None
    runtimes: RuntimeProvider | None = None
    tasks: TaskHistory | None = None
    """Earlier tasks, and those that run."""
    ledger: LedgerFile | None = None
    """What earlier jobs spent, and how often the arms of tasks succeeded."""
    usage: JobUsage = field(default_factory=JobUsage)
    trace_id: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    remembered: tuple[RememberedItem, ...] = ()
    """Solutions that the user kept, for the prompt; once it is built, those that are in it."""
    canned_reply: Completion | None = None
    """A reply that replaces the model call and costs nothing."""
    reserved: int = 0
    """Calls reserved for later: each further step of a task needs one."""
    at: str = ""
    """The current stage, the inner one of two."""
    _queued_at: float | None = None
    _fitting: int = 0
    """How many of its waits for an environment are under way: the user may be asked about it."""
    step: int = 0
    """The number of its step, if it is part of a task."""
    drafts: int = 0
    """The calls for its result so far; those after the first are repairs."""
    own_calls: int = 0
    """The calls of this job alone; `usage` is that of the whole task."""
    own_tokens: int = 0
    """The tokens of those calls."""
    parts: list[Job] = field(default_factory=list)
    """The jobs of a task's steps."""
    examples: dict[MissingInputs, str] = field(default_factory=dict)
    """The replies with example calls, by what was lacking; "" where there is none."""
    resources: AsyncExitStack = field(default_factory=AsyncExitStack)
    """What is in use until the job ends; the creator of the job closes it."""
    _runtime: asyncio.Task[Runtime] | None = None
    due: float | None = None
    """The moment (monotonic) at which a task has to be done, if its user said so."""
    deadline: Deadline = field(init=False)

    def __post_init__(self) -> None:
        self.deadline = Deadline(self.settings.deadline, self.request.budget, self.profile, due=self.due)

    def about(self, request: Request) -> Job:
        """The same job with another request, to build a prompt for it: time, usage and resources are shared."""
        other = copy.copy(self)
        other.request, other.remembered = request, ()
        return other

    @cached_property
    def tools(self) -> Toolbox:
        """The checkers, linters and formatters that the settings allow."""
        return toolbox(self.settings, self.request.workspace.roots)

    def with_request(self, request: Request) -> Job:
        """The same job, its clock included, with another request."""
        other = replace(self, request=request)
        other.deadline = self.deadline
        return other

    def look_for_runtime(self) -> None:
        """Starts to look for the runtime of the code, so that it is known when the first candidate arrives."""
        if self.runtimes is None or self._runtime is not None:
            return
        helper = JobResources(self.resources, self.stage, self._warn, self._wait, self._ran)
        self._runtime = asyncio.create_task(self.runtimes.runtime(self.request, helper))
        self.resources.push_async_callback(_stopped, self._runtime)

    async def runtime(self, *texts: str) -> Runtime | None:
        """The runtime for the code, with all that these texts of the document import; None if the budget runs no code.

        A candidate that was paid for gets some seconds even if its job's time is over. Time for questions to the user
        and for installing packages does not count as job time.
        """
        if self.request.budget is Budget.QUICK:
            return None
        self.look_for_runtime()
        if self._runtime is None:
            return None
        began = time.monotonic()
        self._fitting += 1
        try:
            try:
                found = await asyncio.shield(self._runtime)
            finally:
                self._wait(time.monotonic() - began)
            runtime = await found.fit(*texts)
        finally:
            self._fitting -= 1
        return replace(runtime, until=time.monotonic() + max(self.deadline.left(), JUDGING))

    def _wait(self, seconds: float) -> None:
        self.deadline.waited += seconds

    def _ran(self, report: IsolationReport) -> None:
        self.usage.isolation = weakest(self.usage.isolation, report)

    async def runtime_for_judges(self, *texts: str) -> Runtime | None:
        """As `runtime`, in the budget quick too: there nothing is installed, and it has to be ready soon."""
        if self.request.budget is not Budget.QUICK:
            return await self.runtime(*texts)
        self.look_for_runtime()
        if self._runtime is None:
            return None
        await asyncio.wait({self._runtime}, timeout=_READY)
        from stet_ls.engine.execution.runtime import RunExtent, Runtime

        if self._runtime.done():
            return replace(self._runtime.result(), extent=RunExtent.BRIEF, until=time.monotonic() + BRIEF)
        assert self.runtimes is not None
        late = Runtime(self.runtimes.sandbox, None, self.request.workspace, until=time.monotonic())
        return replace(late, extent=RunExtent.BRIEF)

    def _warn(self, warning: str) -> None:
        if warning not in self.usage.warnings:
            self.usage.warnings.append(warning)

    @contextmanager
    def stage(self, name: str, detail: str = "") -> Iterator[None]:
        """Announces a stage and counts its seconds."""
        self.on_event(Stage(name, detail))
        started = time.perf_counter()
        outer, self.at = self.at, name
        try:
            yield
            self.at = outer  # a stage that ended in an error is kept
        finally:
            self.usage.stages[name] = self.usage.stages.get(name, 0.0) + time.perf_counter() - started

    async def ask(
        self,
        prompt: Prompt,
        *,
        temperature: float,
        max_tokens: int,
        stage: Stage | None = None,
        role: Role | None = None,
        seconds: float | None = None,
    ) -> Completion:
        """One model call for a `stage` (by default the model's, then repairs). ModelError; LimitError beforehand.

        `role` is that of the action unless it is given. `seconds` are the most that it may take, if that is less than
        what the job has left; a reply that is not whole by then ends there.
        """
        if self.canned_reply is not None:
            return self.canned_reply
        asked = self.settings.model.temperature
        sampling = Sampling(
            temperature if asked is None else asked,
            max_tokens,
            role=role or self.request.spec.role,
            by_user=asked is not None,
            begun=prompt.begun,
            overrun=None
            if prompt.unit is None
            else partial(continues_after_unit, language=self.request.language, unit=prompt.unit),
            priority=self.request.rank,
        )
        if self.usage.calls + len(self.usage.in_flight) >= CALLS[self.request.budget]:
            raise LimitError(
                f"Call limit reached (budget `{self.request.budget}`: {plural(CALLS[self.request.budget], 'call')}). "
                "Try a larger `--budget`."
            )
        limit = self.deadline.of_call(prompt.tokens, max_tokens, is_first=not self.usage.calls)
        limit = limit if seconds is None else min(limit, seconds)
        await self._reserve(prompt.tokens, max_tokens)
        if stage is None:
            stage = Stage("repair") if self.drafts else Stage("model", self.profile.model)
            self.drafts += 1
        waited = self.deadline.waited
        try:
            with self.stage(stage.name, stage.detail):
                completion = await self.models.complete(
                    prompt.messages, sampling=sampling, deadline=limit, on_event=self._hear, sealed=prompt.sealed
                )
            self.usage.add_call(completion)
            self.own_calls += 1
            if completion.usage is not None:
                self.own_tokens += completion.usage.prompt_tokens + completion.usage.completion_tokens
        finally:
            self.usage.in_flight.pop(id(self), None)
            self.spending.settle(self.trace_id, self.spent())
            if waited := self.deadline.waited - waited:
                stages = self.usage.stages
                stages[stage.name] = max(stages.get(stage.name, 0.0) - waited, 0.0)
                stages[QUEUED] = stages.get(QUEUED, 0.0) + waited
        return completion

    def _hear(self, event: Event) -> None:
        """Counts the time that a call waits for its turn, which is not job time, and the usage of failed requests."""
        if isinstance(event, UnmeteredUsage):
            self.usage.uncounted += event.tokens
            self.usage.known_cost += event.cost
            if self.usage.cost is not None:
                self.usage.cost += event.cost
            if (call := self.usage.in_flight.get(id(self))) is not None:
                self.spending.renew(self.trace_id, self._spent_with_others(), call)
            return
        if isinstance(event, Stage):
            if self._queued_at is not None:
                self.deadline.waited += time.monotonic() - self._queued_at
            self._queued_at = time.monotonic() if event.name == QUEUED else None
        if isinstance(event, Progress) and self.request.spec.role != "reviewer":
            event = replace(event, text="")  # code is shown once it was judged
        self.on_event(event)

    def may_ask_again(self) -> bool:
        """True if another call fits the budget's count and the remaining time at the model's measured speed."""
        return not self.call_limit_reason()

    def call_limit_reason(self) -> str:
        """Why no call beyond the reserved ones is allowed, as text; "" if one is."""
        budget = self.request.budget
        if self.canned_reply is not None:
            return "the reply came from memory, not from a model"
        if self.usage.calls + len(self.usage.in_flight) + self.reserved >= CALLS[budget]:
            kept = f", {self.reserved} of them kept for later steps" if self.reserved else ""
            return f"the budget {budget} allows {plural(CALLS[budget], 'call')}{kept}"
        per_call = self.usage.stages.get("model", 0.0) + self.usage.stages.get("repair", 0.0)
        call = per_call / max(self.usage.calls, 1)  # a repair is of the same size
        left = self.deadline.left()
        if call * (1 + self.reserved) > left:
            return (
                f"a call takes about {call:.0f} s, and of the {self.deadline.limit:.0f} s of this job "
                f"{max(left, 0):.0f} s are left; the setting deadline gives more"
            )
        return ""

    def prompt_budget(self) -> int:
        """Tokens for a prompt, by our estimate: the context minus a reply, corrected by the model's own counts."""
        room = self.profile.context - min(self.settings.model.max_tokens, self.profile.context // 3)
        return int(min(room, 2500 if self.profile.tier == "tiny" else 12000) / self.profile.token_factor)

    def spent(self) -> Spend:
        """What the job's calls used so far; a call of unknown price counts as nothing."""
        ledger = self.usage
        return Spend(ledger.prompt_tokens + ledger.completion_tokens + ledger.uncounted, ledger.known_cost)

    def metadata(self, known: Metadata) -> Metadata:
        """The known metadata of an answer, with what the job used so far."""
        used = self.usage
        return replace(
            known,
            model=used.model,
            endpoint=used.endpoint,
            trace=self.trace_id,
            tokens=TokenCounts(used.prompt_tokens, used.completion_tokens, used.cached_tokens),
            cost=used.cost,
            calls=used.calls,
            memory_hits=len(self.remembered),
            seconds=self.deadline.seconds(),
            stages=dict(used.stages),
            cached=used.cached,
        )

    async def _reserve(self, prompt_tokens: int, reply_tokens: int) -> None:
        """Reserves the most that a call can take."""
        prompt_tokens = round(prompt_tokens * self.profile.token_factor)
        call = Spend(prompt_tokens + reply_tokens, self.models.most(prompt_tokens, reply_tokens))
        await asyncio.to_thread(self.spending.reserve, self.trace_id, self._spent_with_others(), call)
        self.usage.in_flight[id(self)] = call

    def _spent_with_others(self) -> Spend:
        """What was spent, and what the calls of other steps can take."""
        spent = self.spent()
        for job, call in self.usage.in_flight.items():
            spent = spent.plus(call) if job != id(self) else spent
        return spent

    def is_waiting(self) -> bool:
        """True while it waits for its turn, for a person, or for packages, which does not count as job time."""
        own = self._queued_at is not None or self._fitting > 0
        return own or any(part.is_waiting() for part in self.parts)

    def part(self, request: Request, step: int, reserved: int) -> Job:
        """The job of one step of a task: with time of its own, and what it spends is this job's."""
        part = replace(
            self, request=request, step=step, reserved=reserved, parts=[], drafts=0, own_calls=0, own_tokens=0,
            _runtime=None, _queued_at=None, _fitting=0,
        )  # fmt: skip
        self.deadline.added += part.deadline.end
        self.parts.append(part)
        return part


async def _stopped(task: asyncio.Task[Runtime]) -> None:
    """Discards the result: its job has ended."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
