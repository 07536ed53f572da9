"""The Prometheus metrics of this process. Jobs update them when they end; they reveal nothing about a job's content.

prometheus_client is loaded with the engine, after the handshake.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from stet_ls.engine.api.events import JudgeFinished
from stet_ls.engine.api.evidence import CHECKS
from stet_ls.engine.api.plan import TaskPriority
from stet_ls.engine.job.ledger import JobEnd

if TYPE_CHECKING:
    from stet_ls.engine.api.answer import Answer
    from stet_ls.engine.trace.recorder import FinishedJob

_SECONDS = (0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300)
_MOST_NAMES = 50
"""Models or endpoints that get their own label value; further ones share one."""

_SECRETLESS = re.compile(r"[\w.:/@+ -]{1,60}\Z")


class Metrics:
    """The metrics of one process.

    `queue` returns how many calls run and how many wait, `tasks` the priorities of the tasks that run, of any process.
    """

    def __init__(
        self,
        queue: Callable[[], tuple[int, int]] = lambda: (0, 0),
        tasks: Callable[[], Sequence[TaskPriority]] = lambda: (),
    ) -> None:
        self.registry = CollectorRegistry()
        self._names: dict[str, set[str]] = {}
        self._jobs = self._counter("jobs", "Jobs by action and status", "action", "ended")
        self._seconds = self._histogram("job_seconds", "Duration of jobs in seconds", "action")
        self._stages = self._histogram("stage_seconds", "Duration of job stages in seconds", "stage")
        self._calls = self._counter("model_calls", "Model calls by model and result", "model", "result")
        self._requests = self._counter("model_requests", "Endpoint requests by fault", "endpoint", "fault")
        self._first = self._histogram("first_token_seconds", "Seconds until the first token", "model")
        self._tokens = self._counter("tokens", "Tokens, as counted by endpoints", "model", "direction")
        self._cost = self._counter("cost", "Cost of calls, in the currency of the configured prices", "model")
        self._failovers = self._counter("failovers", "Calls that failed over to another endpoint", "endpoint")
        self._refusals = self._counter("refusals", "Answers without an edit, by check", "reason")
        self._errors = self._counter("errors", "Failed jobs by error class", "kind")
        self._verdicts = self._counter("verdicts", "Results of checks", "check", "verdict")
        self._sandbox = self._counter("sandbox_runs", "Candidates that ran in the sandbox, by level", "level")
        self._memory = self._counter("memory_hits", "Remembered solutions used in prompts")
        working, waiting = (Gauge(f"stet_calls_{name}", f"Calls that are {name}", registry=self.registry)
                            for name in ("working", "waiting"))  # fmt: skip
        working.set_function(lambda: queue()[0])
        waiting.set_function(lambda: queue()[1])
        running = Gauge("stet_tasks_running", "Tasks that run, by priority", ("priority",), registry=self.registry)
        for each in TaskPriority:
            running.labels(each.value).set_function(partial(_count, tasks, each))

    def text(self) -> str:
        """All metrics in Prometheus' text format."""
        return generate_latest(self.registry).decode()

    def count_job(self, job: FinishedJob) -> None:
        """Counts a job that has ended."""
        action = self._name("action", job.request.action)
        self._jobs.labels(action, job.ended.value).inc()
        self._seconds.labels(action).observe(job.seconds)
        for stage, seconds in job.stages.items():
            self._stages.labels(self._name("stage", stage)).observe(seconds)
        for _, event in job.recorder.events:
            if isinstance(event, JudgeFinished):
                self._verdicts.labels(event.evidence.check.value, event.evidence.verdict.value).inc()
        for call in job.recorder.calls:
            self._called(call)
        if job.ended is JobEnd.REFUSED and job.answer is not None:
            self._refusals.labels(_reason(job)).inc()
        if job.error is not None:
            self._errors.labels(type(job.error).__name__).inc()
        if job.answer is not None:
            self._answered(job.answer)

    def _called(self, call: Any) -> None:
        reply = call.completion
        for request in call.requests:
            self._requests.labels(self._name("endpoint", request.endpoint), request.fault or "none").inc()
        model = self._name("model", reply.model if reply else (call.requests[-1].model if call.requests else "none"))
        self._calls.labels(model, "reply" if reply else "fault" if call.error else "cancelled").inc()
        if reply is None:
            return
        self._first.labels(model).observe(reply.first_token_seconds)
        if len({request.endpoint for request in call.requests}) > 1:
            self._failovers.labels(self._name("endpoint", reply.endpoint)).inc()
        if reply.usage is not None:
            self._tokens.labels(model, "prompt").inc(reply.usage.prompt_tokens)
            self._tokens.labels(model, "completion").inc(reply.usage.completion_tokens)
            self._tokens.labels(model, "cached").inc(reply.usage.cached_tokens)
        if reply.cost:
            self._cost.labels(model).inc(reply.cost)

    def _answered(self, answer: Answer) -> None:
        if answer.isolation:
            self._sandbox.labels(str(answer.isolation.get("level", "unknown"))).inc()
        self._memory.inc(answer.metadata.memory_hits)

    def _name(self, label: str, value: str) -> str:
        """A label value: limited in number and length, and never a secret."""
        known = self._names.setdefault(label, set())
        if value not in known:
            if len(known) >= _MOST_NAMES or not _SECRETLESS.match(value):
                return "other"
            from stet_ls.engine.privacy.redact import redact

            if "@" in value or redact(value).redactions:
                return "other"
            known.add(value)
        return value

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(f"stet_{name}", about, labels, registry=self.registry)

    def _histogram(self, name: str, about: str, *labels: str) -> Histogram:
        return Histogram(f"stet_{name}", about, labels, registry=self.registry, buckets=_SECONDS)


def _count(tasks: Callable[[], Sequence[TaskPriority]], priority: TaskPriority) -> float:
    return float(tasks().count(priority))


def _reason(job: FinishedJob) -> str:
    """The check that refuted, or that the reply was unusable."""
    assert job.answer is not None
    failed = {item.check for item in job.answer.evidence if item.verdict.value == "fail"}
    return next((check.value for check in CHECKS if check in failed), "no usable reply")
