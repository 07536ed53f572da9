"""The engine's questions to the user: a weaker sandbox, unknown packages, a discovered model server.

An answer, yes or no, holds until the server ends. Permanent answers are settings of the user; only the permission for
a model server to receive code is stored by the engine. A project can neither be asked nor answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from stet_ls.engine.sandbox.environments.known_packages import misspellings

if TYPE_CHECKING:
    from stet_ls.engine.model.local_server_consent import FoundServer
    from stet_ls.engine.sandbox.isolation import IsolationLevel, IsolationReport
    from stet_ls.server.lsp.client_connection import ClientConnection

TIMEOUT = 600.0
"""Seconds for which a job waits for the user. Its question stays open; a later answer counts for later jobs."""

RUN = "Run it anyway"
INSTALL = "Install them"
SEND = "Send my code there"
NO = "No"


class PermissionPrompts:
    """Asks each question once. A dismissed message box, or a client that cannot show one, means no."""

    def __init__(self, ls: ClientConnection) -> None:
        self._ls = ls
        self._asked: dict[Hashable, asyncio.Future[bool]] = {}
        self._late: set[Hashable] = set()

    async def isolation(self, report: IsolationReport, needed: IsolationLevel) -> bool:
        """Whether code may run in a sandbox that is weaker than the settings require."""
        help_ = f" To improve it: {report.advice}." if report.advice else ""
        question = (
            f"Run code that a model wrote in {report}? Your settings require isolation {needed}, which is not "
            f"available here; `stet sandbox probe` shows why.{help_} Allowed until the server exits."
        )
        return await self._may((report.backend, report.version, report.level, needed), question, RUN)

    async def packages(self, names: tuple[str, ...]) -> bool:
        """Whether packages may be installed that are neither the project's nor well known."""
        question = (
            f"Install {', '.join(names)} in Stet's own folder, to run code that a model wrote? Your project does not "
            "depend on these packages and they are not well known: the model may have made up their names."
        )
        question = f"{question} {misspellings(names)}".rstrip()
        return await self._may(("packages", *sorted(names)), question, INSTALL)

    async def server(self, found: FoundServer) -> bool | None:
        """Whether a discovered model server on this machine may receive the user's code."""
        whose = "" if found.owner is None else f" It runs as the user {user_name(found.owner)}."
        question = (
            f"Send your code to the model server {found.name} at {found.base_url}?{whose} No other model is "
            "configured. Stet remembers a yes; after a no it uses the embedded model."
        )
        return await self.ask(("server", found), question, SEND)

    def forget(self, about: Hashable) -> None:
        """Drops the answer here because it is stored elsewhere: if it is removed there, the user is asked again."""
        self._asked.pop(about, None)

    async def _may(self, about: Hashable, question: str, yes: str) -> bool:
        return await self.ask(about, question, yes) is True

    async def ask(self, about: Hashable, question: str, yes: str) -> bool | None:
        """The user's answer to a question, shared by all jobs; None for a job without an answer within `TIMEOUT`.

        Later jobs do not wait again: they get the answer if it is known by then, else None.
        """
        if (asked := self._asked.get(about)) is None:
            asked = self._asked[about] = asyncio.ensure_future(ask_yes_no(self._ls, question, yes))
            asked.add_done_callback(lambda _: self._late.discard(about))
        if about not in self._late:
            await asyncio.wait({asked}, timeout=TIMEOUT)
        if asked.done():
            return asked.result()
        if about not in self._late:
            self._late.add(about)
            message = (
                f"No response to Stet's question ({yes}?). This job continues without it; your answer counts "
                "for the next."
            )
            self._ls.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))
        return None


def user_name(owner: int) -> str:
    """A user's name; the number if the system knows no name."""
    try:
        import pwd

        return pwd.getpwuid(owner).pw_name
    except (ImportError, KeyError):
        return str(owner)


async def ask_yes_no(ls: ClientConnection, question: str, yes: str) -> bool:
    """The user's answer, however late; a dismissed question, or a client that cannot ask, means no."""
    try:
        return await ls.choose(types.MessageType.Warning, question, (yes, NO)) == yes
    except JsonRpcException:
        return False
