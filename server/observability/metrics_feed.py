"""Updates the metrics of this server from its engines, and owns the metrics port."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stet_ls.engine.api.plan import TaskPriority
    from stet_ls.engine.run import Engine
    from stet_ls.server.observability.metrics import Metrics
    from stet_ls.server.observability.metrics_port import MetricsPort


class MetricsFeed:
    """Cheap to create; the first engine imports the library. `warn` shows that a port is taken."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._engine: Engine | None = None
        self._metrics: Metrics | None = None
        self._port: MetricsPort | None = None
        self._asked = 0

    @property
    def port(self) -> int | None:
        """The metrics port, if any."""
        return None if self._port is None else self._port.port

    def watch(self, engine: Engine) -> None:
        """Counts the jobs of an engine from now on; opens the port of its settings."""
        from stet_ls.server.observability.metrics import Metrics

        self._engine = engine
        if self._metrics is None:
            self._metrics = Metrics(self._queue, self._tasks)
        engine.watch(self._metrics.count_job)
        self._listen(engine.settings.metrics_port)

    def text(self) -> str:
        """The metrics in Prometheus' format; "" before the first engine."""
        return "" if self._metrics is None else self._metrics.text()

    async def close(self) -> None:
        """Closes the port."""
        port, self._port, self._asked = self._port, None, 0
        if port is not None:
            await asyncio.to_thread(port.close)

    def _queue(self) -> tuple[int, int]:
        return (0, 0) if self._engine is None else self._engine.queue

    def _tasks(self) -> list[TaskPriority]:
        from stet_ls.engine.api.plan import TaskPriority

        running = () if self._engine is None else self._engine.tasks.running()
        return [TaskPriority(each.plan.get("priority") or TaskPriority.NORMAL) for each in running]

    def _listen(self, port: int) -> None:
        if port == self._asked:
            return
        old, self._port, self._asked = self._port, None, port
        if old is not None:
            old.close()
        if not port or self._metrics is None:
            return
        from stet_ls.server.observability.metrics_port import MetricsPort

        try:
            self._port = MetricsPort(self._metrics.registry, port)
        except OSError as error:
            self._warn(f"metrics_port: cannot open port {port} on 127.0.0.1 ({error.strerror}). Choose another port.")
