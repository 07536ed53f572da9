"""The data of one model call: sampling, usage, reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from stet_ls.engine.errors import Fault

Finish = Literal["stop", "length", "cut"]
"""Why a reply ended: the model was done, it reached `max_tokens`, or the reply is incomplete."""

Role = Literal["generator", "reviewer"]
"""The role of the model: one writes code and tests, the other explains and analyzes."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a reply is drawn. `stop` strings end it and are excluded.

    `by_user`: the temperature is the user's own for all models; otherwise a model that needs a higher one gets it.
    `form` is a `response_format`: for labels only, never for code. `begun` is the start of the reply, a fence and
    perhaps code: an endpoint that can continue it gets it, and the reply holds it in any case. `overrun` is asked
    about the reply so far: if true, the reply is stopped. `priority`: calls of a higher one wait before others.
    """

    temperature: float
    max_tokens: int
    stop: tuple[str, ...] = ()
    role: Role = "generator"
    by_user: bool = False
    form: Mapping[str, Any] | None = None
    begun: str = ""
    overrun: Callable[[str], bool] | None = field(default=None, compare=False, repr=False)
    priority: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the endpoint counted them; `cached_tokens` of the prompt came from its cache."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Completion:
    """A reply. `text` is never empty unless the model only reasoned until it reached `max_tokens`.

    `usage` is None if the endpoint does not report it. `endpoint` is the provider's name. `requests` counts all
    requests for this reply, to failed endpoints too. `warnings` are sentences for the user. `cost` is in the currency
    of the provider's prices, None if they are unknown. `fault` is what ended the reply early. `streamed` is False if it
    arrived in one piece, and `runaway` True if it was stopped: it repeated itself, continued after its code, or ignored
    its limit.
    `cached`: it was kept from an earlier call, and costs nothing.
    """

    text: str
    reasoning: str
    finish: Finish
    usage: Usage | None
    model: str
    endpoint: str
    first_token_seconds: float
    seconds: float
    requests: int
    warnings: tuple[str, ...] = ()
    cost: float | None = None
    fault: Fault | None = None
    streamed: bool = True
    runaway: bool = False
    cached: bool = False

    @property
    def is_thought(self) -> bool:
        """True if its text is only reasoning, without an answer."""
        return bool(self.text) and self.text == self.reasoning


def known_reply(code: str, language: str) -> Completion:
    """Code that is known, in the form of a reply; it cost nothing."""
    fence = "`" * (3 + max((len(run) for run in code.split() if set(run) == {"`"}), default=0))
    text = f"CODE:\n{fence}{language}\n{code.rstrip()}\n{fence}\n"
    return Completion(text, "", "stop", None, "", "", 0.0, 0.0, 0, cost=0.0)
