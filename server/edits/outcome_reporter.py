"""Reports the outcomes of edits to the engine, in the background."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stet_ls.engine.api.answer import Answer
    from stet_ls.server.edits.outcome_watcher import OutcomeName
    from stet_ls.server.engine_loader import EngineLoader
    from stet_ls.server.lsp.client_connection import ClientConnection


class OutcomeReporter:
    """The reports of one client's edits. Each uses the engine in force when it is sent, not when the edit was made."""

    def __init__(self, ls: ClientConnection, engine: EngineLoader) -> None:
        self._ls = ls
        self._engine = engine
        self._under_way: set[asyncio.Future[Any]] = set()

    def record(self, answer: Answer, outcome: str) -> None:
        """Stores the outcome of an edit, in one word, in the record of its job."""

        async def store(trace: str) -> None:
            await (await self._engine.get()).engine.record_outcome(trace, outcome)

        if trace := answer.metadata.trace:
            self._send(store(trace), f"{trace} was {outcome}")

    def learn(self, trace: str, outcome: OutcomeName, text: str) -> None:
        """Lets the memory learn from an edit: `text` is the current text of the document."""

        async def learn() -> None:
            from stet_ls.engine.api.answer import EditOutcome

            await (await self._engine.get()).engine.learn_outcome(trace, EditOutcome(outcome), text)

        self._send(learn(), f"outcome of {trace}")

    async def flush(self) -> None:
        """Returns once the engine knows the outcome of every edit: many users save and quit right after it."""
        while self._under_way:
            await asyncio.wait(self._under_way)

    def _send(self, work: Any, name: str) -> None:
        task = self._ls.in_background(work, name)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
