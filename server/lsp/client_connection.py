"""The connection to one client: its capabilities, messages to it, and its background tasks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from stet_ls import __version__
from stet_ls.engine.markdown import plain
from stet_ls.server.lsp.client_capabilities import ClientFeatures
from stet_ls.server.lsp.message_converter import converter_factory
from stet_ls.server.lsp.protocol import Protocol

LOGGER = logging.getLogger(__name__)


class ClientConnection(LanguageServer):
    """The server object that the features of one client use: `client` has its capabilities.

    `process_id` is the process to end with; the command line may set it, and `initialize` another.
    """

    protocol: Protocol

    def __init__(self, *, client_process_id: int | None = None) -> None:
        super().__init__(
            "stet",
            __version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            protocol_cls=Protocol,
            converter_factory=converter_factory,
        )
        self.client = ClientFeatures()
        self.process_id = client_process_id
        self._background: set[asyncio.Task[Any]] = set()

    def warn(self, message: str) -> None:
        """Shows a warning that the user has to act on."""
        LOGGER.warning("%s", message)
        self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))

    def log(self, message: str) -> None:
        """Writes a line to the client's log."""
        self.window_log_message(types.LogMessageParams(types.MessageType.Info, message))

    def window_show_message(self, params: types.ShowMessageParams) -> None:
        """Shows a message box. Messages quote code, replies and file names: none of them may become a link."""
        super().window_show_message(types.ShowMessageParams(params.type, plain(params.message)))

    async def choose(self, kind: types.MessageType, question: str, buttons: Iterable[str]) -> str | None:
        """The button of a message box that the user presses; None for a dismissed one. Its text is escaped as above.

        Raises JsonRpcException if the client shows none.
        """
        actions = [types.MessageActionItem(button) for button in buttons]
        params = types.ShowMessageRequestParams(kind, plain(question), actions)
        item = await self.window_show_message_request_async(params)
        return None if item is None else item.title

    def in_background(self, work: Any, name: str) -> asyncio.Future[Any]:
        """Runs a coroutine in the background, and keeps a reference until it ends."""
        task: asyncio.Task[Any] = asyncio.ensure_future(work)
        task.set_name(name)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task
