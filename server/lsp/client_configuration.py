"""The editor's settings and open folders."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.uris import to_fs_path

from stet_ls.server.engine_loader import ClientSettings
from stet_ls.server.lsp.client_connection import ClientConnection

LOGGER = logging.getLogger(__name__)

SECTION = "stet"
"""The section of the editor's settings."""
CONFIGURATION_SECONDS = 3.0
"""Limit for the editor to send its settings; jobs wait for them."""


class ClientConfiguration:
    """The settings of the editor. `options` are the `initializationOptions`.

    They contain `settings`, and `userSettings`, which a plugin reads from the user's scope. Neither may loosen
    anything: editors let the opened folder influence the options.
    """

    def __init__(self, ls: ClientConnection) -> None:
        self._ls = ls
        self.options: Mapping[str, Any] = {}

    def roots(self) -> tuple[Path, ...]:
        """The open folders in order. A client may have none."""
        workspace = self._ls.workspace
        uris = list(workspace.folders) or [uri for uri in [workspace.root_uri] if uri]
        paths = (to_fs_path(uri) for uri in uris)
        return tuple(Path(path) for path in paths if path)

    def project(self) -> Path | None:
        """The folder whose `.stet.toml` counts."""
        return next(iter(self.roots()), None)

    async def pull(self) -> ClientSettings:
        """The editor's settings: pulled if it supports that, else those from `initialize`."""
        workspace = self.options.get("settings")
        if self._ls.client.configuration:
            item = types.ConfigurationItem(section=SECTION)
            request = self._ls.workspace_configuration_async(types.ConfigurationParams([item]))
            try:
                pulled = await asyncio.wait_for(request, CONFIGURATION_SECONDS)
            except (JsonRpcException, TimeoutError) as error:
                LOGGER.warning("the editor did not send its settings: %s", error or "no answer")
            else:
                workspace = (pulled[0] if pulled else None) or workspace
        user = self.options.get("userSettings")
        return ClientSettings(
            workspace if isinstance(workspace, dict) else None, user if isinstance(user, dict) else None
        )
