"""The engine's door: a Request goes in, an Answer comes out."""

from __future__ import annotations

import asyncio
import difflib
import logging
from collections.abc import Mapping
from typing import Any

from stet_ls.engine.actions.recipe import Recipe, brief
from stet_ls.engine.actions.registry import RECIPES
from stet_ls.engine.errors import UsageError
from stet_ls.engine.events import OnEvent, ignore
from stet_ls.engine.job import Job
from stet_ls.engine.model.pool import Models
from stet_ls.engine.models import Answer, Outcome, Request
from stet_ls.engine.paths import Paths
from stet_ls.engine.prompt.build import Prompt
from stet_ls.engine.settings import Settings

log = logging.getLogger(__name__)


class Engine:
    """Runs jobs with one set of settings. Holds the connections to models; `close` lets go of them.

    Every method may be cancelled at any await; what it started is stopped then.
    """

    def __init__(self, settings: Settings, paths: Paths) -> None:
        self.settings = settings
        self.models = Models(settings, paths)

    async def run(self, request: Request, *, on_event: OnEvent = ignore) -> Answer:
        """Does one job. Raises StetError for what the user has to mend; a refusal is an Answer without success."""
        recipe = self._recipe(request)
        job = Job(request, self.settings, self.models, await self.models.profile(), on_event)
        log.info("job %s: %s, %s", job.trace_id, request.action, request.language)
        answer = await recipe.run(job)
        log.info("job %s: %s after %.1f s", job.trace_id, "offered" if answer.success else "refused", job.seconds())
        return answer

    async def show_prompt(self, request: Request) -> Prompt:
        """What the first call of such a job would send, after redaction. Nothing is sent."""
        recipe = self._recipe(request)
        job = Job(request, self.settings, self.models, await self.models.profile(), ignore)
        return (await asyncio.to_thread(brief, job, recipe)).prompt

    def _recipe(self, request: Request) -> Recipe:
        recipe = RECIPES.get(request.action)
        if recipe is None:
            raise UsageError(unknown_action(request.action))
        return recipe

    async def outcome(self, job: str, outcome: Outcome, text: str) -> None:
        """Hears what became of a job's edit."""
        log.info("job %s: %s", job, outcome)

    async def health(self) -> Mapping[str, Any]:
        """Which model would serve, and whether it answers."""
        return await self.models.health()

    async def close(self) -> None:
        """Lets go of connections and of the embedded model."""
        await self.models.close()


def unknown_action(name: str) -> str:
    """The sentence for an action that does not exist, with the nearest that does."""
    near = difflib.get_close_matches(name, RECIPES, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(RECIPES)}."
    return f"Unknown action {name!r}; {hint}"
