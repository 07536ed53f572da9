"""A project's actions run once the user trusts them; the first job that uses one asks."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stet_ls.engine.actions.registry import RegisteredAction
    from stet_ls.server.consent.permissions import PermissionPrompts
    from stet_ls.server.engine_loader import EngineLoader, LoadedEngine

YES = "Trust these actions"
_MOST_NAMED = 10


class ProjectTrust:
    """Asks once for each state of a project's tables; a no holds until the server ends."""

    def __init__(self, questions: PermissionPrompts, engine: EngineLoader) -> None:
        self._questions = questions
        self._engine = engine
        self._asking = asyncio.Lock()

    async def ask(self, listed: RegisteredAction, ready: LoadedEngine) -> LoadedEngine:
        """The engine to continue with: one that trusts the project's actions if the user does, else the same.

        The engine itself refuses to run untrusted actions.
        """
        from stet_ls.engine.settings.trusted_projects import trust

        origin = listed.origin
        assert origin.project is not None, "only a project's actions need trust"
        state = (origin.project, origin.digest)
        async with self._asking:
            ready = await self._engine.get()
            if ready.engine.actions.awaiting_trust(listed.action.spec.name) is None or not await self._says_yes(
                listed, ready
            ):
                return ready
            # Trusts exactly what was shown: tables that changed since have another hash.
            await asyncio.to_thread(trust, *state)
            self._questions.forget(("trust", *state))
            self._engine.invalidate()
            return await self._engine.get()

    async def _says_yes(self, listed: RegisteredAction, ready: LoadedEngine) -> bool | None:
        from stet_ls.engine.settings.action_tables import project_file

        same = [each for each in ready.engine.actions.custom.values() if each.origin == listed.origin]
        names = [f"{each.action.spec.name} ({each.action.spec.title})" for each in same]
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        question = (
            f"Trust the actions of this project? {project_file(listed.origin)} defines {', '.join(names[:_MOST_NAMED])}"
            f"{more}. Their instructions go to your model together with your code."
        )
        return await self._questions.ask(("trust", listed.origin.project, listed.origin.digest), question, YES)
