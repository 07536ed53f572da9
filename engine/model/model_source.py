"""The engine's view of its models: real ones, or the replies of a record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from stet_ls.engine.api.events import OnEvent, ignore
from stet_ls.engine.api.message import Message
from stet_ls.engine.model.chat import Completion, Sampling
from stet_ls.engine.model.profiles.profiles import Profile
from stet_ls.engine.prompt.seal import UNSEALED, SealedPrompt


class ModelSource(Protocol):
    """The source of replies; see `pool.ModelPool`, which asks endpoints."""

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        sampling: Sampling,
        deadline: float,
        on_event: OnEvent = ignore,
        sealed: SealedPrompt = UNSEALED,
    ) -> Completion:
        """A reply within `deadline` seconds. Raises ModelError or PolicyError if there is none."""

    async def profile(self) -> Profile:
        """What is known of the model that would serve."""

    async def health(self) -> Mapping[str, Any]:
        """Which model would serve, and whether it answers."""

    def most(self, prompt_tokens: int, reply_tokens: int) -> float:
        """The maximum cost of such a call."""

    @property
    def is_embedded(self) -> bool:
        """True if the embedded model would serve."""

    async def close(self) -> None:
        """Releases everything."""
