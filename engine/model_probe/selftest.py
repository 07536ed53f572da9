"""Gives one model the tasks, one after the other while the time lasts, and adds up the results."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from stet_ls.engine.actions.registry import BUILT_IN
from stet_ls.engine.api.events import OnEvent, Stage
from stet_ls.engine.api.message import Message
from stet_ls.engine.api.request import Request, Selection
from stet_ls.engine.errors import EndpointError, Fault
from stet_ls.engine.model.chat import Completion, Sampling
from stet_ls.engine.model.endpoint.begun_reply import stops
from stet_ls.engine.model.endpoint.connection import is_loopback
from stet_ls.engine.model.endpoint.endpoint_client import EndpointClient, Refusal, TimeBudget
from stet_ls.engine.model.endpoint.faults import EndpointFailure, sentence
from stet_ls.engine.model.profiles.profile_store import ProbeScores, Share
from stet_ls.engine.model.profiles.profiles import Profile
from stet_ls.engine.model_probe import context_window
from stet_ls.engine.model_probe.tasks import (
    BEGUN,
    BEGUN_PROMPT,
    BLOCKS,
    BLOCKS_SYSTEM,
    JSON_FORMS,
    JSON_PROMPT,
    KINDS,
    UNITS,
    BlockTask,
    UnitTask,
    blocks_prompt,
    continues_after_begun,
)
from stet_ls.engine.prompt.build import build
from stet_ls.engine.prompt.instruction import find_instruction
from stet_ls.engine.prompt.target import resolve_target
from stet_ls.engine.reply.fitting.fit import fit_code
from stet_ls.engine.reply.parsing.parse_reply import parse_reply
from stet_ls.engine.reply.parsing.patch import apply, search_replace
from stet_ls.validators import syntax
from stet_ls.validators.findings import Status
from stet_ls.validators.source import Source, Span

CALLS, PROMPT_TOKENS, REPLY_TOKENS = 10, 3_000, 1_500
"""Approximate cost of a self-test without retries, to warn users who pay for it."""

_LONGEST_REPLY = 400
_FIRST_CALL_SECONDS = 300.0
"""A model may first have to be read from a slow disk."""

_FORM_FAULTS = (Fault.BAD_REQUEST, Fault.SERVER, Fault.MALFORMED, Fault.EMPTY)
"""How endpoints refuse an unknown response format."""


@dataclass(frozen=True, slots=True)
class ProbeResults:
    """The results of one endpoint's self-test. `left_out` names the parts without time."""

    endpoint: str
    probe: ProbeScores
    profile: Profile
    left_out: tuple[str, ...] = ()


async def self_test(client: EndpointClient, *, seconds: float, on_event: OnEvent) -> ProbeResults:
    """Tests an endpoint's model for about so many seconds, saves the results. EndpointError: it does not answer."""
    test = _SelfTest(client, seconds, on_event)
    left_out = await test.run()
    await client.experience.found(test.probe)
    profile = await client.profile()
    assert isinstance(profile, Profile), "it answered"
    return ProbeResults(client.name, test.probe, profile, left_out)


class _OutOfTimeError(Exception):
    """A step did not finish: it proves nothing about the model."""


class _SelfTest:
    """The state of one run: `probe` as far as it is filled."""

    def __init__(self, client: EndpointClient, seconds: float, on_event: OnEvent) -> None:
        self.probe = ProbeScores(datetime.now(UTC).isoformat(timespec="seconds"), cost=0.0)
        self._client = client
        self._on_event = on_event
        self._seconds = seconds
        self._started = time.monotonic()
        self._longest = 0.0

    async def run(self) -> tuple[str, ...]:
        """Runs every step that fits the time; returns the names of the others."""
        steps: list[tuple[str, Callable[[], Awaitable[None]]]] = [
            ("whole units", lambda: self._unit(UNITS[0])),
            ("JSON", self._json),
            ("whole units", lambda: self._unit(UNITS[1])),
            ("search/replace", lambda: self._block(BLOCKS[0])),
            ("begun replies", self._begun),
            ("whole units", lambda: self._unit(UNITS[2])),
            ("search/replace", lambda: self._block(BLOCKS[1])),
            ("whole units", lambda: self._unit(UNITS[3])),
            ("context", self._long_prompt),
        ]
        left_out: list[str] = []
        self._on_event(Stage("probe", self._client.name))
        await self._listing()
        for number, (name, step) in enumerate(steps, 1):
            if self.probe.calls and self._left() < self._longest:
                left_out.append(name)
                continue
            self._on_event(Stage("probe", f"{self._client.name}, {number} of {len(steps)}, {name}"))
            try:
                await step()
            except _OutOfTimeError:
                left_out.append(name)
        self.probe = replace(self.probe, seconds=round(time.monotonic() - self._started, 1))
        return tuple(dict.fromkeys(left_out))

    async def _unit(self, task: UnitTask) -> None:
        """A whole unit, with the action's own prompt."""
        profile = await self._client.profile()
        prompt, read = await asyncio.to_thread(_unit_prompt, task, profile)
        completion = await self._ask(prompt)
        code = None if isinstance(completion, EndpointFailure) else await asyncio.to_thread(read, completion)
        self.probe = replace(
            self.probe,
            well_formed=_counted(self.probe.well_formed, code is not None),
            solved=_counted(self.probe.solved, code is not None and task.solved_by(code)),
        )

    async def _block(self, task: BlockTask) -> None:
        messages = (Message("system", BLOCKS_SYSTEM), Message("user", blocks_prompt(task)))
        completion = await self._ask(messages)
        good = False
        if isinstance(completion, Completion) and completion.finish == "stop":
            hunks = search_replace(completion.text)
            good = bool(hunks) and apply(hunks, task.code) == task.after
        self.probe = replace(self.probe, search_replace=_counted(self.probe.search_replace, good))

    async def _begun(self) -> None:
        """Whether it continues a reply that was begun. Some endpoints ignore the beginning, others refuse it."""
        messages = (Message("user", BEGUN_PROMPT), Message("assistant", BEGUN))
        completion = await self._ask(messages, stop=stops(BEGUN))
        self.probe = replace(
            self.probe, begins=isinstance(completion, Completion) and continues_after_begun(completion.text)
        )

    async def _json(self) -> None:
        """The strictest form that works."""
        for name, form in JSON_FORMS.items():
            completion = await self._ask((Message("user", JSON_PROMPT),), form=form)
            if isinstance(completion, Completion) and _is_label(completion.text):
                self.probe = replace(self.probe, json="schema" if name == "schema" else "object")
                return
        self.probe = replace(self.probe, json="no")

    async def _listing(self) -> None:
        """What the server reports without a model call."""
        found = await context_window.listed(self._client)
        self.probe = replace(self.probe, max_output=found.max_output)
        if found.context:
            self.probe = replace(self.probe, context=found.context, context_from="listed")

    async def _long_prompt(self) -> None:
        """Whether the context is as large as reported; not if tokens cost money."""
        profile = await self._client.profile()
        provider = self._client.provider
        is_paid = not is_loopback(provider.base_url) or bool(provider.price_in)
        if isinstance(profile, EndpointFailure) or is_paid:
            return
        messages, estimated = context_window.long_messages(self.probe.context or profile.context, profile)
        expected = profile.seconds_for(round(estimated * profile.token_factor), 20)
        if expected is None or profile.reading is None or expected > self._left():
            raise _OutOfTimeError
        completion = await self._ask(messages)
        if isinstance(completion, Completion):
            read = context_window.read_by(completion, estimated, self._client.experience.correction)
            if read is not None:
                size, origin = read
                self.probe = replace(self.probe, context=size or self.probe.context, context_from=origin)

    async def _ask(
        self, messages: Sequence[Message], form: object = None, stop: tuple[str, ...] = ()
    ) -> Completion | EndpointFailure:
        """One call. A failure is a value only if the reply's format, or its beginning, may be the reason."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        limit = max(self._left(), _FIRST_CALL_SECONDS) if not self.probe.calls else max(self._left(), 5.0)
        turn = TimeBudget(began + limit, began + limit, 5.0)
        sampling = Sampling(0.1, _LONGEST_REPLY, form=form if isinstance(form, dict) else None, stop=stop)
        result = await self._client.complete(messages, sampling=sampling, turn=turn, on_event=self._on_event)
        self._longest = max(self._longest, loop.time() - began)
        if isinstance(result, Refusal):
            failure = result.failure
            if (form is None and not stop) or failure.fault not in _FORM_FAULTS:
                raise EndpointError(
                    f"{sentence(failure, self._client.label)}.",
                    fault=failure.fault,
                    endpoint=self._client.name,
                    status=failure.status,
                )
            return failure
        self._count(result)
        if result.fault is Fault.DEADLINE:
            raise _OutOfTimeError
        return result

    def _count(self, completion: Completion) -> None:
        probe, usage = self.probe, completion.usage
        first = completion.first_token_seconds
        self.probe = replace(
            probe,
            calls=probe.calls + 1,
            tokens=probe.tokens + (usage.prompt_tokens + usage.completion_tokens if usage else 0),
            cost=None if probe.cost is None or completion.cost is None else probe.cost + completion.cost,
            streams=completion.streamed and probe.streams is not False,
            usage=usage is not None or bool(probe.usage),
            loops=probe.loops + completion.runaway,
            first_token_seconds=first if probe.first_token_seconds is None else min(first, probe.first_token_seconds),
        )

    def _left(self) -> float:
        return self._seconds - (time.monotonic() - self._started)


def _unit_prompt(
    task: UnitTask, profile: Profile | EndpointFailure
) -> tuple[Sequence[Message], Callable[[Completion], str | None]]:
    """The action's own prompt, and a reader of the unit in a reply: None unless it fits and the file parses."""
    source = Source(task.code)
    request = Request(task.action, task.language, source, Selection(Span(0, 0)), instruction=task.instruction)
    target = resolve_target(request)
    asked = BUILT_IN[task.action].task
    assert asked is not None, "self-test tasks need a model"
    tier = "mid" if isinstance(profile, EndpointFailure) else profile.tier
    prompt = build(request, target, find_instruction(request, target), asked, budget_tokens=2500, tier=tier)

    def read(completion: Completion) -> str | None:
        reply = parse_reply(
            completion.text,
            language=task.language,
            reply_kind="unit",
            symbol=target.name,
            truncated=completion.finish != "stop",
            current=task.code,
        )
        if reply.code is None:
            return None
        fitted = fit_code(reply.code, source=source, target=target, language=task.language)
        if fitted.problem is not None:
            return None
        after = source.splice(fitted.splices)
        return after.text if syntax.check_fast(after, task.language).status is not Status.ERROR else None

    return prompt.messages, read


def _counted(share: Share, good: bool) -> Share:
    return Share(share.good + good, share.tried + 1)


def _is_label(text: str) -> bool:
    try:
        found = json.loads(text)
    except ValueError:
        return False
    return isinstance(found, dict) and found.get("kind") in KINDS and isinstance(found.get("line"), int)
