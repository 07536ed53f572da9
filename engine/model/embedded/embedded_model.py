"""The embedded model: found running or started, and kept as long as a process holds it."""

from __future__ import annotations

import asyncio
import importlib.util
import os

from pydantic import SecretStr

from stet_ls import __version__
from stet_ls.engine.api.events import Notice, OnEvent, Stage, ignore
from stet_ls.engine.errors import ModelError, NoModelError, WeightsError, WorkerError
from stet_ls.engine.model.embedded.weights import chosen, installed, is_verified, known
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.table_schemas import Provider
from stet_ls.engine.storage.paths import Paths
from stet_ls.engine.workers.worker import ChildSpec, Worker
from stet_ls.validators.install_hints import install_command

CONTEXT = 8192
"""Tokens. Its memory is small (100 MB for tiny, 230 MB for small), and reading a longer prompt would take minutes."""

_ALL_OF = 2
"""Up to so many processors the model gets all: it gives way by its priority, and one of two is half of its speed."""

_START_SECONDS = 120.0
"""From a slow disk, next to a build."""


def default_threads(processors: int) -> int:
    """The threads of the model if the settings do not say: one processor is left free where there are enough."""
    return processors if processors <= _ALL_OF else processors - 1


def processors() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Embedded:
    """This process's reference to the user's one embedded model. Belongs to one event loop."""

    def __init__(self, settings: Settings, paths: Paths) -> None:
        self._settings = settings
        self._paths = paths
        self._worker: Worker | None = None

    def available(self) -> str | None:
        """Why it cannot serve, in one sentence with the way out; None if it can. Checks the disk, starts nothing."""
        reason = self._obstacle()
        return None if reason is None else str(reason)

    async def endpoint(self, on_event: OnEvent = ignore) -> Provider:
        """The embedded model's address, started if needed. Raises WeightsError, NoModelError and PolicyError."""
        if (obstacle := self._obstacle()) is not None:
            raise obstacle
        if self._worker is None:
            await asyncio.to_thread(self._check_file)
            self._worker = Worker(self._kind(), runtime=self._paths.runtime, logs=self._paths.logs)
        starting = False

        def on_start() -> None:
            nonlocal starting
            starting = True
            on_event(Notice("Starting the embedded model."))

        try:
            lease = await self._worker.lease(on_start)
        except WorkerError as error:
            raise NoModelError(f"The embedded model cannot run: {error}") from error
        if starting:
            on_event(Stage("model"))
        return Provider(
            name="embedded",
            base_url=lease.info["base_url"],
            model=lease.info["model"],
            api_key=SecretStr(lease.info["api_key"]),
            context=CONTEXT,
        )

    async def close(self) -> None:
        """Releases it. It exits when no process of this user holds it."""
        if self._worker is not None:
            await self._worker.close()
            self._worker = None

    def _obstacle(self) -> ModelError | None:
        name = chosen(self._settings.model.embedded, self._paths)
        if name is None:
            return NoModelError("The embedded model is disabled (setting `model.embedded`).")
        if importlib.util.find_spec("xllamacpp") is None:
            return NoModelError(f"The embedded model is not installed: {install_command('full')}.")
        models = known(self._paths)
        if name not in models:
            names = ", ".join(models)
            return WeightsError(f"There is no embedded model `{name}` (setting `model.embedded`); there are {names}.")
        if installed(self._paths, name) is None:
            weights = models[name]
            return WeightsError(
                f"The embedded model is not downloaded. Run `stet model pull {name}` ({weights.megabytes} MB).",
                absent=name if weights.repository else "",
            )
        return None

    def _check_file(self) -> None:
        """Raises WeightsError if its file's bytes are not the model's."""
        name = chosen(self._settings.model.embedded, self._paths)
        path = None if name is None else installed(self._paths, name)
        if name is not None and path is not None and not is_verified(self._paths, name, path):
            title = known(self._paths)[name].title
            raise WeightsError(
                f"{path} is not {title}: its SHA-256 differs. Run `stet model pull {name}` to replace it."
            )

    def _kind(self) -> ChildSpec:
        name = chosen(self._settings.model.embedded, self._paths)
        assert name is not None, "switched off"
        weights, path = known(self._paths)[name], installed(self._paths, name)
        arguments = {
            "--alias": weights.model,
            "--threads": str(self._settings.model.threads or default_threads(processors())),
            "--context": str(CONTEXT),
            "--idle-seconds": str(self._settings.model.idle_seconds),
        }
        return ChildSpec(
            name="embedded",
            module="stet_ls.engine.model.embedded.embedded_child",
            arguments=(str(path), *(word for option in arguments.items() for word in option)),
            identity=f"{name}-{weights.sha256[:12]}-{__version__}",
            deadline=_START_SECONDS,
        )
