"""The engine's entry point: runs a Request and returns an Answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from stet_ls.engine.actions.action import Action, build_job_prompt
from stet_ls.engine.actions.multi_file.chosen_parts import judged_part
from stet_ls.engine.actions.registry import Actions
from stet_ls.engine.answer_from_memory import answer_from_memory
from stet_ls.engine.api.answer import Answer, EditOutcome
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.events import OnEvent, ignore
from stet_ls.engine.api.request import Request
from stet_ls.engine.earlier_answer import answer_from_earlier
from stet_ls.engine.errors import LimitError
from stet_ls.engine.execution.runtime_provider import RuntimeProvider
from stet_ls.engine.inline_completion import complete_inline
from stet_ls.engine.job.job import Job
from stet_ls.engine.job.ledger import JobEnd, LedgerEntry, LedgerFile, now
from stet_ls.engine.job.overtime import OvertimeError, ended_after
from stet_ls.engine.job.spending_limits import SpendingLimiter
from stet_ls.engine.memory.job_memory import JobMemory
from stet_ls.engine.memory.memory_client import MemoryClient
from stet_ls.engine.model.local_server_consent import ServerAsker
from stet_ls.engine.model.model_source import ModelSource
from stet_ls.engine.model.pool import ModelPool
from stet_ls.engine.model.reply_cache import CachedReplies, forget
from stet_ls.engine.prompt.build import Prompt
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.storage.paths import Paths
from stet_ls.engine.storage.writable import unwritable_warnings
from stet_ls.engine.task_history.history import TaskHistory
from stet_ls.engine.trace.record_store import RecordStore
from stet_ls.engine.trace.recorder import FinishedJob, JobRecorder
from stet_ls.engine.workspace.symbol_index import SymbolIndex

log = logging.getLogger(__name__)

_JOB_LOOK_SECONDS = 0.05
"""How often a completion looks for a job that waits for its model."""


class Engine:
    """Runs jobs with one set of settings. A cancel at any await stops what was started; `close` ends connections."""

    def __init__(self, settings: Settings, paths: Paths, *, models: ModelSource | None = None) -> None:
        """`models` replace the settings' endpoints: those of a record."""
        self.settings = settings
        self.actions = Actions(settings)
        own = ModelPool(settings, paths)
        self.models: ModelSource = models or own
        self._own_models = own
        self._lines = own.lines
        self.index = SymbolIndex(paths, settings.privacy.ignore)
        """The workspace's symbols. The front end that opens a workspace has it watched, and reports changes."""
        self.runtimes = RuntimeProvider(settings, paths)
        # A replay uses the memory in the record, not the current one.
        remembering = settings.memory if models is None else settings.memory.model_copy(update={"enabled": False})
        self.memory = JobMemory(MemoryClient(remembering, paths), remembering)
        self.ledger = LedgerFile(paths.ledger)
        self._spending = SpendingLimiter(settings.spending, self.ledger)
        self._traces = RecordStore(paths.traces, settings.trace.keep if settings.trace.enabled else 0)
        self._watchers: list[Callable[[FinishedJob], None]] = [self._traces.keep]
        self.tasks = TaskHistory(paths.tasks)
        """Earlier tasks, and those that run."""
        self._paths = paths
        self._reported_off: set[str] = set()
        self._kept: dict[str, tuple[str, ...]] = {}

    def ask_by(self, asker: ServerAsker) -> None:
        """Sets the `asker` of the question whether a discovered model server may have the user's code."""
        if self.models is self._own_models:
            self._own_models.asker = asker

    def watch(self, watcher: Callable[[FinishedJob], None]) -> None:
        """Calls `watcher` for each finished job, on the event loop's thread: it must be fast."""
        self._watchers.append(watcher)

    @property
    def queue(self) -> tuple[int, int]:
        """The numbers of active calls and of calls that wait for their turn at an endpoint."""
        return self._lines.length

    async def run(self, request: Request, *, on_event: OnEvent = ignore) -> Answer:
        """Runs one job; its calls wait for their turn. A refusal is an Answer, StetError is for the user to fix."""
        return await self.run_action(request, self.actions.get(request.action), on_event=on_event)

    async def run_action(self, request: Request, action: Action, *, on_event: OnEvent = ignore) -> Answer:
        """Runs a job of an action that need not be listed."""
        await self._own_models.settle()  # before the job's time starts: this may ask the user
        profile = await self.models.profile()
        replies = self._replies(profile.model, fresh=request.fresh)
        recorder = JobRecorder(replies or self.models, on_event)
        job = Job(
            request, self.settings, recorder, profile, self._spending, recorder.on_event, self.index, self.runtimes,
            tasks=self.tasks, ledger=self.ledger,
        )  # fmt: skip
        recorder.name(job.trace_id, request.action)
        log.info("job began", extra={"job": job.trace_id, "action": request.action})
        ended, answer, raised = JobEnd.FAILED, None, None
        try:
            answer = await self._within_time(job, action)
            ended = JobEnd.of(answer)
            if replies is not None and answer.success and not answer.refuted:
                await asyncio.to_thread(replies.keep)
                self._kept[job.trace_id] = tuple(replies.used)
        except asyncio.CancelledError:
            ended = JobEnd.CANCELLED
            raise
        except Exception as error:
            raised = error
            raise
        finally:
            await job.resources.aclose()
            self._write_down(job, ended)
            spent, seconds = dict(job.usage.stages), job.deadline.seconds()
            finished = FinishedJob(
                job.trace_id, now(), ended, seconds, spent, request, self.settings, profile, recorder, answer, raised
            )
            for watcher in self._watchers:
                watcher(finished)
        return answer

    def _replies(self, model: str, *, fresh: bool) -> CachedReplies | None:
        """The models behind the cache of replies; None if it is off, or if a record's replies are used."""
        cache = self.settings.model
        if not cache.cache or self.models is not self._own_models:
            return None
        names = [(each.base_url, each.model, each.role) for each in self.settings.providers]
        return CachedReplies(self.models, self._paths.replies, f"{model} {names}", fresh=fresh, days=cache.cache_days)

    async def _within_time(self, job: Job, action: Action) -> Answer:
        """The answer; LimitError once the job has worked longer than its time limit."""
        try:
            async with ended_after(lambda: job.deadline.end, waits=job.is_waiting):
                return await self._with_off(await self._with_memory(job, action))
        except OvertimeError:
            at = f" at the stage `{job.at}`" if job.at else ""
            raise LimitError(
                f"The job did not end within {job.deadline.end:.0f} s and was stopped{at}; see the setting deadline."
            ) from None

    async def complete_inline(self, request: Request, offset: int) -> str:
        """The text to insert at a byte offset, "" if there is none that passes.

        A job comes first: nothing is asked while one uses the model, and a completion stops when one waits for it.
        """
        if any(self.queue):
            return ""
        profile = await self.models.profile()
        job = Job(request, self.settings, self.models, profile, self._spending, ignore, self.index)
        asking = asyncio.ensure_future(complete_inline(job, offset))
        ended = JobEnd.CANCELLED
        try:
            while not asking.done():
                await asyncio.wait({asking}, timeout=_JOB_LOOK_SECONDS)
                if self.queue[1]:
                    return ""
            ended = JobEnd.FAILED
            text = asking.result()
            ended = JobEnd.OFFERED if text else JobEnd.REFUSED
            return text
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            await job.resources.aclose()
            self._write_down(job, ended)

    async def off(self) -> tuple[str, ...]:
        """What is disabled because its folder cannot be written, one sentence per obstacle."""
        return tuple(await asyncio.to_thread(lambda: tuple(unwritable_warnings(self._folders(), self._paths.sandbox))))

    def _folders(self) -> Mapping[str, Path]:
        """The folders of the enabled features, by their names in messages."""
        paths, settings = self._paths, self.settings
        memory = {} if self.memory.memory.obstacle() else {"the memory": self.memory.memory.folder}
        traces = {"job records": paths.traces} if settings.trace.enabled else {}
        return {
            **memory, **traces, "the ledger": paths.ledger, "model profiles": paths.profiles,
            "the symbol index": paths.symbols, "packages for test runs": paths.environments,
        }  # fmt: skip

    async def _with_off(self, answer: Answer) -> Answer:
        """The answer with warnings of what is disabled by now, each once: later jobs do without it as well."""
        new = tuple(sentence for sentence in await self.off() if sentence not in self._reported_off)
        self._reported_off.update(new)
        for sentence in new:
            log.warning("%s", sentence)
        return replace(answer, warnings=(*answer.warnings, *new)) if new else answer

    async def _with_memory(self, job: Job, action: Action) -> Answer:
        """Runs the action with remembered solutions; one that fits exactly and passes its tests is the answer."""
        if job.request.candidate and (answer := await answer_from_earlier(job, action)) is not None:
            self.memory.offered(job.trace_id, job.request, answer, ())
            return answer
        recall = await self.memory.recall(job.request)
        known = recall.known
        if recall.missed:
            job.usage.warnings.append(f"memory not searched: {recall.missed}")
        for exact in known:
            if exact.fits and (answer := await answer_from_memory(job, action, exact)) is not None:
                self.memory.offered(job.trace_id, job.request, answer, (exact,))
                return replace(answer, metadata=replace(answer.metadata, memory_hits=1, memory=(exact.hit,)))
        job.remembered = tuple(each.piece for each in known)
        answer = await action.run(job)
        if notice := self.memory.missing_notice(job.request.action):
            answer = replace(answer, warnings=(*answer.warnings, notice))
        used = tuple(each for each in known if each.piece in job.remembered)
        self.memory.offered(job.trace_id, job.request, answer, used)
        return replace(answer, metadata=replace(answer.metadata, memory=tuple(each.hit for each in used)))

    def _write_down(self, job: Job, ended: JobEnd) -> None:
        spent = job.usage
        entry = LedgerEntry(
            at=now(),
            job=job.trace_id,
            action=job.request.action,
            model=spent.model,
            ended=ended,
            calls=spent.calls,
            prompt_tokens=spent.prompt_tokens,
            completion_tokens=spent.completion_tokens,
            cost=spent.cost if spent.cost is None else round(spent.cost, 6),
            seconds=round(job.deadline.seconds(), 3),
            uncounted=spent.uncounted,
            arms={name: asdict(use) for name, use in spent.arms.items()},
        )
        about = {"job": entry.job, "action": entry.action, "ended": entry.ended, "model": entry.model}
        tokens = entry.prompt_tokens + entry.completion_tokens
        log.info("job ended", extra={**about, "calls": entry.calls, "tokens": tokens, "seconds": entry.seconds})
        if spent.calls or spent.uncounted:
            self.ledger.add(entry)
        self._spending.close(job.trace_id)

    async def judge_part(self, request: Request, part: Answer) -> Answer:
        """A part of an answer to the request, judged by itself. No model is asked."""
        own = replace(request, budget=Budget.TASK)
        profile = await self.models.profile()
        job = Job(own, self.settings, self.models, profile, self._spending, ignore, self.index, self.runtimes)
        try:
            return await judged_part(job, part)
        finally:
            await job.resources.aclose()

    async def show_prompt(self, request: Request) -> Prompt:
        """The prompt of the first call of such a job, after redaction. Nothing is sent."""
        action = self.actions.get(request.action)
        job = Job(request, self.settings, self.models, await self.models.profile(), self._spending, ignore, self.index)
        job.remembered = tuple(each.piece for each in (await self.memory.recall(request)).known)
        return (await asyncio.to_thread(build_job_prompt, job, action)).prompt

    async def learn_outcome(self, job: str, outcome: EditOutcome, text: str) -> None:
        """Reports the outcome of a job's edit. `text` is the current document."""
        log.info("job %s: %s", job, outcome)
        if outcome in (EditOutcome.UNDONE, EditOutcome.REJECTED):
            await asyncio.to_thread(forget, self._paths.replies, self._kept.pop(job, ()))
        # The memory first: a prompt built in the meantime must not show what was undone.
        await self.memory.outcome(job, outcome, text)
        await self.record_outcome(job, "discarded" if outcome is EditOutcome.REJECTED else outcome.value)

    async def record_outcome(self, job: str, outcome: str) -> None:
        """Reports, in a word for its record, an outcome of a job's edit from which nothing is learned."""
        await self._traces.record_outcome(job, outcome)

    async def health(self) -> Mapping[str, Any]:
        """Which model would serve, and whether it answers; and the state of the memory."""
        return {**await self.models.health(), "memory": self.memory.health()}

    async def close(self) -> None:
        """Closes connections and releases the embedded model. Pending records get a moment."""
        await self.index.close()
        await self.runtimes.close()
        await self._traces.close()
        await self.memory.close()
        await self.models.close()
