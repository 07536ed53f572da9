"""A source of replies in front of another one: what it does not change is the other's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stet_ls.engine.model.model_source import ModelSource
from stet_ls.engine.model.profiles.profiles import Profile


class WrappedModels:
    """The models behind a job's own source; `complete` and `close` are the source's business."""

    def __init__(self, models: ModelSource) -> None:
        self._models = models

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
