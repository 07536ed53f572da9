"""Runs the whole engine again on a record: the same actions, loop and judges, with the recorded replies."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.job.ledger import JobEnd
from stet_ls.engine.run import Engine
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.storage.paths import Paths
from stet_ls.engine.trace.playback import RecordedModels, difference, request_of, settings_of
from stet_ls.engine.trace.record import Record


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of a replay. `diff` is "" if it is the same; `asked` counts calls, `recorded` those of the record."""

    ended: JobEnd
    diff: str
    asked: int
    recorded: int
    answer: Answer | None = None


async def replay(record: Record, name: str, settings: Settings, paths: Paths) -> Replayed:
    """Runs a record again without models, ledger or record. UsageError names the record (`name`) and the field."""
    models = RecordedModels(record, name)
    request = request_of(record, name)
    settings = settings_of(record, settings, name)
    answer: Answer | None = None
    raised: Exception | None = None
    with tempfile.TemporaryDirectory(prefix="stet-replay-") as folder:
        engine = Engine(settings, replace(paths, data=Path(folder)), models=models)
        try:
            answer = await engine.run(request)
            ended = JobEnd.of(answer)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():  # the replay itself, unlike a recorded cancellation
                raise
            ended = JobEnd.CANCELLED
        except Exception as error:  # noqa: BLE001 - a bug of the engine is what a record may be about
            raised, ended = error, JobEnd.FAILED
        finally:
            await engine.close()
    return Replayed(ended, difference(record, answer, raised, ended), models.asked, len(record.calls), answer)
