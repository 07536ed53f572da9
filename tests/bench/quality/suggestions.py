"""Example calls of a real model for labeled rewrites: what becomes of each case without them and with them."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from statistics import median

from pydantic import SecretStr

from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.events import ignore
from stet_ls.engine.api.evidence import MissingInputs
from stet_ls.engine.api.request import Request
from stet_ls.engine.job.example_calls import example_calls
from stet_ls.engine.job.job import Job
from stet_ls.engine.job.ledger import LedgerFile
from stet_ls.engine.job.spending_limits import SpendingLimiter
from stet_ls.engine.judges.case import Case
from stet_ls.engine.model.pool import ModelPool
from stet_ls.engine.settings.schema import ModelSettings, Settings
from stet_ls.engine.settings.table_schemas import Provider
from stet_ls.engine.storage.paths import user_paths

_DEADLINE = 600.0


@dataclass(frozen=True)
class Asked:
    """A reply, "" if none came, with the seconds it took and the tokens of both ways."""

    text: str
    seconds: float
    tokens: int
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Suggestion:
    """A case, what becomes of it without example calls and with them, and why."""

    name: str
    label: str
    without: str
    outcome: str
    reason: str
    reply: Asked


@dataclass
class Suggestions:
    """The model, and what it led to: of `judged` rewrites, the comparison of `lacking` ones had too few inputs."""

    models: ModelPool
    settings: Settings
    judged: int = 0
    lacking: int = 0
    found: list[Suggestion] = field(default_factory=list)

    @classmethod
    @asynccontextmanager
    async def asking(cls) -> AsyncIterator[Suggestions]:
        """With the model that the environment names, or the embedded one."""
        address = os.environ.get("STET_BASE_URL")
        provider = (
            Provider(name="model", base_url=address, model=os.environ["STET_MODEL"], api_key=SecretStr("unused"))
            if address
            else None
        )
        settings = Settings(
            deadline=_DEADLINE, providers=(provider,) if provider else (), model=ModelSettings(discover=False)
        )
        models = ModelPool(settings, user_paths())
        try:
            yield cls(models, settings)
        finally:
            await models.close()

    async def ask(self, given: Case, missing: MissingInputs) -> Asked:
        """The reply about the case's code, as a job gets it."""
        request = Request("refactor", given.language, given.before, path=given.path, budget=Budget.THOROUGH)
        limiter = SpendingLimiter(self.settings.spending, LedgerFile(user_paths().ledger))
        job = Job(request, self.settings, self.models, await self.models.profile(), limiter, ignore)
        began = time.monotonic()
        text = await example_calls(job, missing)
        tokens = job.usage.prompt_tokens + job.usage.completion_tokens
        return Asked(text, time.monotonic() - began, tokens, tuple(job.usage.warnings))

    def add(self, suggestion: Suggestion) -> None:
        """One more case."""
        self.found.append(suggestion)

    def in_markdown(self) -> Iterator[str]:
        """How many cases went which way, then each case."""
        yield f"{self.lacking} of {self.judged} comparisons lack inputs; {len(self.found)} of them were asked about."
        if self.found:
            seconds, tokens = ([getattr(each.reply, what) for each in self.found] for what in ("seconds", "tokens"))
            yield f"A call: median {median(seconds):.1f} s, at most {max(seconds):.1f} s; {median(tokens):.0f} tokens."
        yield from ("", "| label | without | with | cases |", "|---|---|---|---|")
        kinds = sorted({(each.label, each.without, each.outcome) for each in self.found})
        for kind in kinds:
            count = sum((each.label, each.without, each.outcome) == kind for each in self.found)
            yield f"| {' | '.join(kind)} | {count} |"
        yield ""
        for each in self.found:
            said = " ".join((*each.reply.warnings, each.reason)).replace("\n", " ")
            yield f"- `{each.name}`: {each.without}, {each.outcome}. {said[:300]}"
