"""The folder of records: the last ones are kept, and only the user may read them."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterator
from pathlib import Path

from stet_ls.engine.errors import PolicyError, UnknownIdError, UsageError
from stet_ls.engine.storage.private_files import private_folder, read_private, write_private
from stet_ls.engine.storage.writable import WriteObstacle
from stet_ls.engine.trace import record as form
from stet_ls.engine.trace.recorder import FinishedJob
from stet_ls.engine.trace.serializer import make_record

log = logging.getLogger(__name__)

KEPT_BYTES = 100_000_000
"""Maximum size of all records together; the oldest are deleted first."""

_CLOSING_SECONDS = 1.5
_NAME = re.compile(r"\d{8}T\d{6}Z-(?P<id>[0-9a-f]{6,32})\.json\Z")


class RecordStore:
    """The records of one user; several servers and commands may write at once. `kept` is the most kept, 0 for none."""

    def __init__(self, folder: Path, kept: int) -> None:
        self.folder = folder
        self._kept = kept
        self._writing: set[asyncio.Task[None]] = set()
        self._noting = asyncio.Lock()

    def keep(self, job: FinishedJob) -> None:
        """Records a job in a background thread; no job fails because of it."""
        if not self._kept:
            return
        task = asyncio.get_running_loop().create_task(asyncio.to_thread(self._write, job), name=f"trace {job.id}")
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def record_outcome(self, job: str, outcome: str) -> None:
        """Writes the outcome of an edit next to its job's record, if there is one; the last outcome counts."""
        if not self._kept:
            return
        async with self._noting:
            if self._writing:
                await asyncio.wait(self._writing)
            await asyncio.to_thread(self._note, job, outcome)

    async def close(self) -> None:
        """Waits a moment for pending writes."""
        if self._writing:
            await asyncio.wait(self._writing, timeout=_CLOSING_SECONDS)
        async with self._noting:  # held only to write a word
            return

    def files(self) -> list[Path]:
        """The records' files, the newest first."""
        return sorted((file for file in self.folder.glob("*.json") if _NAME.match(file.name)), key=_age, reverse=True)

    def find(self, prefix: str) -> Path:
        """The file of the job whose id has this prefix. UnknownIdError if there is none, UsageError for several."""
        files = list(self._named(prefix)) if prefix else self.files()[:1]
        if not files:
            raise UnknownIdError(f'no record of job "{prefix}". Run `stet trace list` to list records.')
        if len(files) > 1:
            ids = ", ".join(job_id(file) for file in files[:5])
            raise UsageError(f'"{prefix}" is the beginning of {len(files)} ids: {ids}; give more of it.')
        return files[0]

    def outcome(self, file: Path) -> str:
        """The outcome of the edit of that record's job, in a word; "" if unknown."""
        return (read_private(_outcome_file(file)) or "").strip()

    def _named(self, prefix: str) -> Iterator[Path]:
        return (file for file in self.files() if job_id(file).startswith(prefix.lower()))

    def _write(self, job: FinishedJob) -> None:
        try:
            private_folder(self.folder)
            text = make_record(job).to_json()
            if len(text) > form.MOST_BYTES:
                log.warning("no record of job %s: it would be too large", job.id)
                return
            moment = re.sub(r"[-:]", "", job.at)
            write_private(self.folder / f"{moment}-{job.id}.json", text)
            self._prune()
        except OSError as error:
            log.warning("no record of job %s: %s", job.id, WriteObstacle.of(self.folder, error))
        except PolicyError as error:
            log.warning("no record of job %s: %s", job.id, error)
        except Exception as error:  # noqa: BLE001 - no job fails for its record; its words may quote code, so only its kind
            log.error("no record of job %s: a bug in Stet (%s)", job.id, type(error).__name__)

    def _note(self, job: str, outcome: str) -> None:
        try:
            for file in self._named(job):
                write_private(_outcome_file(file), f"{outcome}\n")
        except OSError as error:
            log.warning(
                "cannot record the outcome of job %s (%s): %s", job, outcome, WriteObstacle.of(self.folder, error)
            )

    def _prune(self) -> None:
        room = KEPT_BYTES
        for index, file in enumerate(self.files()):
            try:
                room -= file.stat().st_size
                if index and (index >= self._kept or room < 0):
                    file.unlink()
                    _outcome_file(file).unlink(missing_ok=True)
            except FileNotFoundError:
                continue  # another process deleted it


def _age(file: Path) -> tuple[str, int, str]:
    """The sort key by age: a name has the second of its job; within that, the time of writing counts."""
    try:
        kept = file.stat().st_mtime_ns
    except OSError:  # another process deleted it
        kept = 0
    return file.name.partition("-")[0], kept, file.name


def _outcome_file(file: Path) -> Path:
    return file.with_suffix(".became")


def job_id(file: Path) -> str:
    """The id in the name of a record's file."""
    match = _NAME.match(file.name)
    return match["id"] if match else file.stem
