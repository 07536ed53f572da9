"""Chooses the model by question, in any client: servers on this machine, embedded models, another endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from stet_ls.engine.errors import UsageError
from stet_ls.server.consent.model_download import ModelDownloadOffer

if TYPE_CHECKING:
    from stet_ls.engine.storage.paths import Paths
    from stet_ls.server.lsp.client_connection import ClientConnection

ELSEWHERE, FORGET = "Another endpoint…", "As config.toml says"

SetupChoice = tuple[str, Callable[[], Awaitable[str]]]
"""What a button says, and what it does; that returns a sentence."""


class ModelSetup:
    """The choice of a model, kept in the user's own folder."""

    def __init__(self, ls: ClientConnection, paths: Paths, download: ModelDownloadOffer) -> None:
        self._ls = ls
        self._paths = paths
        self._download = download

    async def ask(self) -> str:
        """Asks which model, and follows the answer. Returns what was chosen, "" if nothing was."""
        rows = await self._rows()
        try:
            button = await self._ls.choose(
                types.MessageType.Info, "Which model should Stet use?", [title for title, _ in rows]
            )
        except JsonRpcException:
            raise UsageError(f"this editor shows no buttons. {self._by_hand()}") from None
        chosen = next((run for title, run in rows if title == button), None)
        return "" if chosen is None else await chosen()

    async def _rows(self) -> list[SetupChoice]:
        from stet_ls.engine.model.discover import discover
        from stet_ls.engine.model.embedded.weights import WEIGHTS, installed

        found, _ = await discover()
        rows: list[SetupChoice] = [
            (f"{each.model} ({each.name})", lambda each=each: self.endpoint(each.base_url, each.model, ""))  # type: ignore[misc]
            for each in found
        ]
        for name, weights in WEIGHTS.items():
            here = await asyncio.to_thread(installed, self._paths, name) is not None
            title = f"{weights.title} ({'downloaded' if here else f'download: {weights.needs}'})"
            rows.append((title, lambda name=name: self.embedded(name)))  # type: ignore[misc]
        rows.append((ELSEWHERE, self._elsewhere))
        if self._paths.model_file.exists():
            rows.append((FORGET, self.forget))
        return rows

    async def embedded(self, name: str) -> str:
        """Chooses an embedded model, which is downloaded if it is not here; "" if that was stopped."""
        from stet_ls.engine.model.embedded.weights import WEIGHTS, installed
        from stet_ls.engine.settings.model_choice import ModelChoice, keep

        if name not in WEIGHTS:
            raise UsageError(f"embedded: unknown model {name!r}; it is one of {', '.join(WEIGHTS)}.")
        if installed(self._paths, name) is None and not await self._download.fetch(name):
            return ""
        keep(self._paths, ModelChoice(embedded=name))
        return f"Stet uses {WEIGHTS[name].title}."

    async def endpoint(self, url: str, model: str, key: str) -> str:
        """Chooses an endpoint. The key goes into the system's keyring, or `key` is `$` and a variable's name."""
        from stet_ls.engine.settings.model_choice import ModelChoice, keep, keep_key

        place = await asyncio.to_thread(keep_key, url, key)
        keep(self._paths, ModelChoice(url=url, model=model, key_place=place))
        return f"Stet uses {model} at {url}."

    async def forget(self) -> str:
        """Goes back to what the user's file says."""
        from stet_ls.engine.settings.model_choice import keep

        keep(self._paths, None)
        return "Stet uses the model of config.toml."

    async def _elsewhere(self) -> str:
        return self._by_hand()

    def _by_hand(self) -> str:
        file = self._paths.config_file
        return (
            f"Run `stet config init`, then add the endpoint to {file} below [[providers]]; its key stays in a variable."
        )
