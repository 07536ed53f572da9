"""The server as seen from outside: its log, its health, its metrics, its uptime."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from stet_ls.server.observability.health import Health
from stet_ls.server.observability.metrics_feed import MetricsFeed

if TYPE_CHECKING:
    from stet_ls.engine.settings.schema import LogSettings
    from stet_ls.server.observability.log_format import Format


class Monitoring:
    """The monitoring of one server. Log arguments take precedence over the settings; `warn` warns the user."""

    def __init__(
        self, warn: Callable[[str], None], *, log_file: Path | None, log_level: str | None, log_format: Format | None
    ) -> None:
        self.health = Health()
        self.metrics = MetricsFeed(warn)
        self._log_file = log_file
        self._log_level = log_level
        self._log_format = log_format
        self._started = time.monotonic()

    def uptime(self) -> float:
        """Seconds since the server was created."""
        return time.monotonic() - self._started

    def log_path(self, usual: Path) -> Path:
        """The log file, the usual one if none was named."""
        return self._log_file or usual

    def start_log(self, usual: Path) -> None:
        """Opens the log file, the usual one if none was named."""
        from stet_ls.server.observability.log import start_log

        start_log(self.log_path(usual), self._log_level or "info", self._log_format or "text")

    def configure(self, settings: LogSettings) -> None:
        """Applies the settings of the log."""
        from stet_ls.server.observability.log import set_format, set_level

        set_level(self._log_level or settings.level)
        set_format(self._log_format or settings.format)

    async def close(self) -> None:
        """Closes the metrics port, and cancels health checks that are still running."""
        await self.metrics.close()
        await self.health.close()
