"""Which parameters an endpoint accepts: learned from its refusals, kept as long as the endpoint is used."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from stet_ls.engine.api.message import Message
from stet_ls.engine.model.chat import Sampling
from stet_ls.engine.model.endpoint.faults import EndpointFailure

_OPTIONAL = {
    "stream_options": r"\bstream_options\b",
    "max_tokens": r"\bmax_tokens\b",
    "temperature": r"\btemperature\b",
    # An everyday word, so only when quoted by the server.
    "stop": r"['\"`]stop['\"`]",
}
"""Parameters that can be left out, and their patterns in error messages."""

EMBEDDED = {"return_progress": True}
"""llama.cpp notices a closed connection when it writes: with progress reports it writes with each batch, and a
cancelled call stops at the next one instead of at the prompt's end.
"""

_LEAST_REPLY = 256
"""A reply with less room than this is not worth a second request."""


@dataclass(frozen=True, slots=True)
class RequestQuirks:
    """What an endpoint refused so far; `most_tokens` of a reply; `extra` parameters that only this one takes.

    `begins`: it is known, without a self-test, to continue a reply that was begun.
    """

    refused: frozenset[str] = frozenset()
    most_tokens: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    begins: bool = False

    def request(self, model: str, messages: Sequence[Message], sampling: Sampling) -> dict[str, Any]:
        """The body of a chat completion without what was refused."""
        limit = sampling.max_tokens if self.most_tokens is None else min(sampling.max_tokens, self.most_tokens)
        body: dict[str, Any] = {
            "model": model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": sampling.temperature,
            "max_tokens": limit,
            "stop": list(sampling.stop) or None,
            "response_format": sampling.form and dict(sampling.form),
        }
        if self.extra:
            body["extra_body"] = dict(self.extra)
        if "max_tokens" in self.refused:
            body["max_completion_tokens"] = limit
        return {name: value for name, value in body.items() if value is not None and name not in self.refused}

    def after(self, failure: EndpointFailure, sampling: Sampling) -> RequestQuirks | None:
        """The quirks that may satisfy an endpoint which refused a request, or None if nothing can be changed."""
        detail = failure.detail
        named = {
            name
            for name, pattern in _OPTIONAL.items()
            if name not in self.refused and (failure.param.split(".")[0] == name or re.search(pattern, detail))
        }
        if "max_completion_tokens" in detail:
            # Only reasoning models require this name, and they accept only their own temperature: both change at once,
            # because there is only one more request.
            return replace(self, refused=self.refused | named | {"max_tokens", "temperature"})
        if "max_tokens" in named:
            smaller = [number for number in map(int, re.findall(r"\d+", detail)) if number < sampling.max_tokens]
            return replace(self, most_tokens=max(smaller)) if smaller and max(smaller) >= _LEAST_REPLY else None
        return replace(self, refused=self.refused | named) if named else None


def shorter_reply(failure: EndpointFailure, sampling: Sampling) -> Sampling | None:
    """The sampling whose reply fits next to the prompt, if the endpoint reported the free tokens (vLLM, OpenAI)."""
    limit = re.search(r"context length is (\d+)", failure.detail)
    prompt = re.search(r"\((\d+) in the messages", failure.detail) or re.search(
        r"(?:contains at least|prompt contains) (\d+)", failure.detail
    )
    if limit is None or prompt is None:
        return None
    room = int(limit[1]) - int(prompt[1])
    return replace(sampling, max_tokens=room) if _LEAST_REPLY <= room < sampling.max_tokens else None
