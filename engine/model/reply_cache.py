"""Replies to earlier prompts on the disk: an identical request on an identical text needs no model.

Only the reply is kept; the judges run again on it. A reply is kept once its job succeeded, and forgotten if the user
undoes or rejects the edit. A prompt that hides a secret is never answered from here, nor is its reply kept.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from stet_ls import __version__
from stet_ls.engine.api.events import OnEvent, ignore
from stet_ls.engine.api.message import Message
from stet_ls.engine.errors import StetError
from stet_ls.engine.model.chat import Completion, Sampling
from stet_ls.engine.model.model_source import ModelSource
from stet_ls.engine.model.profiles.profiles import Profile
from stet_ls.engine.prompt.seal import UNSEALED, SealedPrompt
from stet_ls.engine.storage.private_files import private_folder, read_private, write_private

_DAY = 24 * 3600
MOST = 500
"""Replies that are kept; the oldest go first."""
_FIELDS = ("text", "reasoning", "model", "endpoint")


class CachedReplies:
    """One job's models behind the cache in `folder`. With `fresh`, nothing is read; `identity` names the endpoints.

    A reply that is older than `days` is not read, and deleted when the next one is kept.
    """

    def __init__(self, models: ModelSource, folder: Path, identity: str, *, fresh: bool, days: float) -> None:
        self._models, self._folder, self._identity, self._fresh = models, folder, identity, fresh
        self._seconds = days * _DAY
        self._asked = Counter[str]()
        self._new: dict[str, Completion] = {}
        self.used: list[str] = []
        """The keys of the replies of this job, from the cache or to be kept."""

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        sampling: Sampling,
        deadline: float,
        on_event: OnEvent = ignore,
        sealed: SealedPrompt = UNSEALED,
    ) -> Completion:
        """A kept reply, else the models'. The same prompt asked twice in a job means another sample."""
        if sealed.secrets:
            return await self._models.complete(
                messages, sampling=sampling, deadline=deadline, on_event=on_event, sealed=sealed
            )
        key = self._key(messages, sampling, sealed.ident)
        if not self._fresh and (known := self._read(key)) is not None:
            self.used.append(key)
            return known
        completion = await self._models.complete(
            messages, sampling=sampling, deadline=deadline, on_event=on_event, sealed=sealed
        )
        if completion.finish == "stop" and completion.fault is None and not completion.is_thought:
            self.used.append(key)
            self._new[key] = completion
        return completion

    def keep(self) -> None:
        """Writes the new replies; a folder that cannot be written keeps none. Not for an event loop."""
        if not self._new:
            return
        try:
            private_folder(self._folder)
            for key, completion in self._new.items():
                row = {name: value for name, value in asdict(completion).items() if name in _FIELDS}
                write_private(self._folder / f"{key}.json", json.dumps(row))
            kept = sorted(self._folder.glob("*.json"), key=lambda each: each.stat().st_mtime, reverse=True)
            for at, each in enumerate(kept):
                if at >= MOST or self._is_expired(each):
                    each.unlink(missing_ok=True)
        except (OSError, StetError, UnicodeEncodeError):
            return

    def _is_expired(self, file: Path) -> bool:
        return time.time() - file.stat().st_mtime > self._seconds

    def _read(self, key: str) -> Completion | None:
        file = self._folder / f"{key}.json"
        try:
            if self._is_expired(file):
                file.unlink(missing_ok=True)
                return None
            row = json.loads(read_private(file) or "null")
            known = Completion(
                text=str(row["text"]), reasoning=str(row["reasoning"]), finish="stop", usage=None,
                model=str(row["model"]), endpoint=str(row["endpoint"]), first_token_seconds=0.0, seconds=0.0,
                requests=0, cost=0.0, cached=True,
            )  # fmt: skip
        except (OSError, ValueError, TypeError, KeyError):
            return None
        return known if known.text else None

    def _key(self, messages: Sequence[Message], sampling: Sampling, ident: str) -> str:
        """Of all that a reply depends on; the id of a data fence and functions differ in each process."""
        own = [(each.role, each.content.replace(ident, "ID") if ident else each.content) for each in messages]
        begun = sampling.begun.replace(ident, "ID") if ident else sampling.begun
        parts = [__version__, self._identity, own, asdict(replace(sampling, begun=begun, overrun=None, priority=0))]
        digest = sha256(json.dumps(parts).encode("utf-8", "surrogatepass")).hexdigest()
        self._asked[digest] += 1
        return sha256(f"{digest} {self._asked[digest]}".encode()).hexdigest()

    async def profile(self) -> Profile:
        """Delegates to the models."""
        return await self._models.profile()

    async def health(self) -> Mapping[str, Any]:
        """Delegates to the models."""
        return await self._models.health()

    def most(self, prompt_tokens: int, reply_tokens: int) -> float:
        """Delegates to the models."""
        return self._models.most(prompt_tokens, reply_tokens)

    @property
    def is_embedded(self) -> bool:
        """Delegates to the models."""
        return self._models.is_embedded

    async def close(self) -> None:
        """Does nothing: the models belong to the engine."""


def forget(folder: Path, keys: Sequence[str]) -> None:
    """Removes replies whose edit the user did not want."""
    for key in keys:
        (folder / f"{key}.json").unlink(missing_ok=True)
