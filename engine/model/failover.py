"""Asks several endpoints in order, each within its share of the time, until one returns text."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from stet_ls.engine.api.events import Notice, OnEvent
from stet_ls.engine.api.message import Message
from stet_ls.engine.errors import EndpointError, Fault, ModelError, NoModelError, PolicyError
from stet_ls.engine.model.chat import Completion, Sampling
from stet_ls.engine.model.endpoint.circuit_breaker import Admission, BreakerState
from stet_ls.engine.model.endpoint.endpoint_client import EndpointClient, TimeBudget
from stet_ls.engine.model.endpoint.faults import EndpointFailure, reason, sentence
from stet_ls.engine.model.request_queue import RequestQueue
from stet_ls.engine.prompt.seal import UNSEALED, SealedPrompt

_SHORT_PAUSE = 3.0
"""Seconds to wait for an endpoint while another one is available."""

_LOOK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class _Setback:
    """A failed endpoint and its message, without a full stop."""

    client: EndpointClient
    failure: EndpointFailure
    words: str


async def ask(
    clients: Sequence[EndpointClient],
    messages: Sequence[Message],
    *,
    sampling: Sampling,
    deadline: float,
    longest_pause: float,
    on_event: OnEvent,
    sealed: SealedPrompt = UNSEALED,
    line_of: Callable[[EndpointClient], RequestQueue] | None = None,
) -> Completion:
    """A reply within `deadline` seconds, from the first endpoint that returns one; its warnings name those that failed.

    A pause that a server requests is observed if it is shorter than `longest_pause` seconds and no other endpoint is
    available. Raises NoModelError if nothing could be reached, EndpointError if a reached endpoint failed, PolicyError
    if none may have the prompt. `sealed` holds what is hidden in it. A cancelled call is not a failure.

    An endpoint that fell silent recently is asked last: another silence would cost its whole timeout again.

    `line_of` returns the queue of an endpoint. Time in the queue does not count toward the deadline.
    """
    clock = asyncio.get_running_loop().time
    deadline_at = clock() + deadline
    setbacks: list[_Setback] = []
    requests = 0
    ordered = sorted(clients, key=lambda client: client.breaker.fell_silent)
    for index, client in enumerate(ordered):
        following = ordered[index + 1 :]
        queued_at = clock()
        async with nullcontext() if line_of is None else line_of(client).turn(on_event, sampling.priority):
            deadline_at += clock() - queued_at
            admission = client.breaker.admit() or await _second_look(client, clients)
            if admission is None:
                setbacks.append(_resting(client))
            else:
                turn = _turn(deadline_at, longest_pause, sum(other.breaker.admits() for other in following))
                try:
                    result = await client.complete(
                        messages, sampling=sampling, turn=turn, on_event=on_event, sealed=sealed
                    )
                except BaseException:
                    client.breaker.withdraw(admission)
                    raise
                requests += result.requests
                if isinstance(result, Completion):
                    client.breaker.end(admission, None if result.fault is None else EndpointFailure(result.fault))
                    warnings = [f"{setback.words}. Used {client.label} instead." for setback in setbacks]
                    skipped = [each.label for each in clients[: clients.index(client)] if each in following]
                    warnings += [
                        f"{each} did not respond a minute ago; using {client.label} first." for each in skipped
                    ]
                    return replace(result, requests=requests, warnings=(*warnings, *result.warnings))
                client.breaker.end(admission, result.failure)
                setbacks.append(_Setback(client, result.failure, sentence(result.failure, client.label)))
                if result.failure.fault is Fault.DEADLINE:
                    break
        if following:
            on_event(Notice(f"{setbacks[-1].words}. Using {following[0].label} instead."))
    raise _error(setbacks)


def _turn(deadline_at: float, longest_pause: float, others: int) -> TimeBudget:
    """The time of an endpoint: until its first token, the others keep their share."""
    now = asyncio.get_running_loop().time()
    if not others:
        return TimeBudget(deadline_at, deadline_at, longest_pause)
    return TimeBudget(deadline_at, now + (deadline_at - now) / (others + 1), _SHORT_PAUSE)


async def _second_look(client: EndpointClient, clients: Sequence[EndpointClient]) -> Admission | None:
    """Admits a disabled endpoint that a user may just have started, if it runs now and no other is available."""
    failure = client.breaker.last
    if failure is None or failure.fault is not Fault.UNREACHABLE or any(other.breaker.admits() for other in clients):
        return None
    models = await client.connection.listed(seconds=_LOOK_SECONDS)
    if isinstance(models, EndpointFailure) and models.fault in (Fault.UNREACHABLE, Fault.NO_FIRST_TOKEN):
        return None
    client.breaker.half_open()
    return client.breaker.admit()


def _resting(client: EndpointClient) -> _Setback:
    breaker = client.breaker
    failure = breaker.last or EndpointFailure(Fault.SERVER)
    when = (
        f"temporarily disabled after repeated failures; retrying in {max(1, round(breaker.cooldown_remaining))} s"
        if breaker.state is BreakerState.OPEN
        else "retrying now"
    )
    return _Setback(client, failure, f"{reason(failure, client.label)}; {when}")


def _error(setbacks: Sequence[_Setback]) -> ModelError | PolicyError:
    """The message if no endpoint replied."""
    message = ". ".join(setback.words for setback in setbacks) + "."
    if all(setback.failure.fault is Fault.UNREACHABLE for setback in setbacks):
        return NoModelError(message)
    if all(setback.failure.fault is Fault.REFUSED for setback in setbacks):
        return PolicyError(message)
    last = setbacks[-1]
    failure = last.failure
    return EndpointError(
        message, fault=failure.fault, endpoint=last.client.name, status=failure.status, retry_after=failure.retry_after
    )
