"""The memory's process: the store behind a port on loopback. Only it loads LanceDB, numpy or an embedder."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from stet_ls.engine.errors import StoreError, StoreFault
from stet_ls.engine.memory.rpc import LIMIT, OnProgress, serve
from stet_ls.engine.memory.solution import Solution, from_elsewhere
from stet_ls.engine.memory.store import maintenance
from stet_ls.engine.memory.store.embedders import Embedder, EmbedderChoice, choose
from stet_ls.engine.memory.store.malloc_trim import give_back, return_large_blocks
from stet_ls.engine.memory.store.solution_store import SolutionStore
from stet_ls.engine.memory.store.synced_index import SyncedIndex
from stet_ls.engine.memory.store.team_table import SECONDS, TeamTable
from stet_ls.engine.workers.handshake import LOOPBACK, new_key
from stet_ls.engine.workers.host import IdleLimits, host

_log = logging.getLogger(__name__)

_NICENESS = 2
_TEAM_SECONDS = 2.0
"""Seconds that a report waits for the team's table."""


@dataclass(frozen=True, slots=True)
class TeamTableSettings:
    """The team's table: its folder or address ("": there is none), and whether kept solutions are added to it."""

    place: str = ""
    writes: bool = False


@dataclass(frozen=True, slots=True)
class _Keys:
    """Secrets that are never on a command line or in an environment: the parent sends them first."""

    embedder: str = ""
    storage: Mapping[str, str] = field(default_factory=dict)


class StoreWork:
    """The store as the work of a child, in its own thread and event loop."""

    def __init__(self, root: Path, choice: EmbedderChoice, most: int, shared: TeamTableSettings) -> None:
        self._root = root
        self._choice = choice
        self._most = most
        self._shared = shared
        self._requests = 0
        self._seen = 0
        self._busy = False
        self._due = False
        self._full = False
        self._address: Future[Mapping[str, Any]] = Future()
        self._background: set[asyncio.Task[None]] = set()

    def start(self) -> Mapping[str, Any]:
        """Reports its port at once; the store opens afterwards, because importing LanceDB takes two seconds."""
        if hasattr(os, "nice"):
            os.nice(_NICENESS)
        threading.Thread(target=asyncio.run, args=(self._run(),), name="store", daemon=True).start()
        return self._address.result()

    def active(self) -> bool:
        """True if there was a request since the last check, or background work is running."""
        before, self._seen = self._seen, self._requests
        active = self._busy or self._seen != before
        if self._full and not active:
            give_back()
        self._full = active
        return active

    async def _run(self) -> None:
        key = new_key()
        unlocked: asyncio.Future[_Keys] = asyncio.get_running_loop().create_future()
        if self._choice.kind != "endpoint" and not self._shared.place:
            unlocked.set_result(_Keys())
        opening = asyncio.create_task(self._open(unlocked))

        async def answer(op: str, fields: Mapping[str, Any], on_progress: OnProgress) -> Any:
            self._requests += 1
            if op == "unlock":
                if not unlocked.done():
                    unlocked.set_result(_Keys(str(fields["key"]), dict(fields["storage"])))
                return None
            return await self._answer(await asyncio.shield(opening), op, fields, on_progress)

        server = await asyncio.start_server(
            lambda reader, writer: serve(reader, writer, key, answer), LOOPBACK, 0, limit=LIMIT
        )
        self._address.set_result({"port": server.sockets[0].getsockname()[1], "key": key})
        await server.serve_forever()

    async def _open(self, unlocked: asyncio.Future[_Keys]) -> SolutionStore:
        keys = await unlocked
        choice = replace(self._choice, key=keys.embedder)
        embedder: Embedder | None
        try:
            embedder = await asyncio.to_thread(choose, choice)
        except StoreError as error:
            _log.warning("searching by words alone: %s", error)
            embedder = None
        team = None
        if self._shared.place and embedder is not None:
            team = TeamTable(self._shared.place, self._root, embedder, keys.storage, writes=self._shared.writes)
            team.look()
        store = SolutionStore(await SyncedIndex.open(self._root, embedder), self._most, team)
        self._tend(store)
        return store

    async def _answer(self, store: SolutionStore, op: str, fields: Mapping[str, Any], on_progress: OnProgress) -> Any:
        operation = OPERATIONS.get(op)
        if operation is None:
            raise StoreError(f"The memory has no operation {op!r}.", fault=StoreFault.REFUSED)
        try:
            return await operation(store, fields, on_progress)
        except StoreError as error:
            if error.fault is not StoreFault.CORRUPT:
                raise
            _log.warning("rebuilding the table: %s", error.__cause__ or error)
            async with store.index.writing():
                await store.index.start_again()
            return await operation(store, fields, on_progress)
        finally:
            if op in _WRITING or store.damaged:
                self._tend(store)

    def _tend(self, store: SolutionStore) -> None:
        """Starts due background work: repairs, missing vectors, maintenance."""
        self._due = True
        if self._busy:
            return

        async def work() -> None:
            try:
                while self._due:
                    self._due = False
                    await round_()
            finally:
                self._busy = False

        async def round_() -> None:
            try:
                if store.damaged:
                    store.damaged = 0
                    _log.warning("damaged row: %s", await maintenance.doctor(store))
                await maintenance.embed_waiting(store)
                await maintenance.maintain(store)
                if store.team is not None:
                    await store.team.follow(store.index)
            except StoreError as error:
                _log.warning("%s", error)
            finally:
                await asyncio.to_thread(give_back)

        self._busy = True
        task = asyncio.create_task(work())
        self._background.add(task)
        task.add_done_callback(self._background.discard)


Operation = Callable[[SolutionStore, Mapping[str, Any], OnProgress], Awaitable[Any]]


async def _search(store: SolutionStore, fields: Mapping[str, Any], on_progress: OnProgress) -> Any:
    hits = await store.search(
        fields["query"],
        languages=fields.get("languages"),
        scope=fields.get("scope"),
        limit=fields.get("limit", 3),
        min_score=fields.get("min_score", 0.7),
        team_seconds=fields.get("team_seconds", SECONDS),
    )
    return {"hits": [hit.to_json() for hit in hits], "team": store.team.fault if store.team is not None else ""}


async def _put(store: SolutionStore, fields: Mapping[str, Any], on_progress: OnProgress) -> Any:
    stored = await store.put(Solution.from_json(fields["solution"]))
    return {"id": stored.id, "how": stored.how}


async def _retract(store: SolutionStore, fields: Mapping[str, Any], on_progress: OnProgress) -> Any:
    if store.team is not None:
        store.team.record_undone(fields["edit"])
    return await store.retract(fields["edit"])


async def _import(store: SolutionStore, fields: Mapping[str, Any], on_progress: OnProgress) -> Any:
    solutions = [Solution.from_json(each) for each in fields["solutions"]]
    # A file's claims of proof are not trusted.
    return await store.put_many([from_elsewhere(each) if each.outcome == "proven" else each for each in solutions])


async def _count(store: SolutionStore, fields: Mapping[str, Any], on_progress: OnProgress) -> Any:
    counts = {name: fields.get(name, 0) for name in ("uses", "wins", "losses")}
    await store.count(fields["ids"], **counts)


async def _show(store: SolutionStore, fields: Mapping[str, Any], on_progress: OnProgress) -> Any:
    return (await store.get(fields["ident"])).to_json()


async def _export(store: SolutionStore, fields: Mapping[str, Any], on_progress: OnProgress) -> Any:
    known = await asyncio.to_thread(store.index.journal.solutions)
    return [solution.to_json() for solution in list(known.values())[fields["start"] : fields["end"]]]


async def _stats(store: SolutionStore, fields: Mapping[str, Any], on_progress: OnProgress) -> Any:
    if store.team is not None:
        await asyncio.wait({asyncio.ensure_future(store.team.looked())}, timeout=_TEAM_SECONDS)
    return await maintenance.stats(store)


OPERATIONS: Mapping[str, Operation] = {
    "search": _search,
    "put": _put,
    "import": _import,
    "count": _count,
    "retract": _retract,
    "show": _show,
    "export": _export,
    "forget": lambda store, fields, _: maintenance.forget(store, fields["ids"]),
    "clear": lambda store, fields, _: maintenance.clear(store, fields.get("scope")),
    "embed": lambda store, _, on_progress: maintenance.embed_waiting(store, on_progress),
    "stats": _stats,
    "doctor": lambda store, *_: maintenance.doctor(store),
    "compact": lambda store, *_: maintenance.compact(store),
}
"""The operations of the memory's process."""

_WRITING = frozenset({"put", "import", "count", "retract", "doctor"})


def main() -> None:
    """Serves the store of the command line."""
    return_large_blocks()
    # Read when numpy is first imported. Two threads for one query wait for each other if a core is busy.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    parser = argparse.ArgumentParser(prog="python -m stet_ls.engine.memory.store.store_child")
    parser.add_argument("root", type=Path)
    parser.add_argument("--embedder", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--url", required=True)
    parser.add_argument("--most", type=int, required=True)
    parser.add_argument("--team", required=True)
    parser.add_argument("--team-access", choices=("read", "write"), required=True)
    parser.add_argument("--idle-seconds", type=float, required=True)
    parser.add_argument("--stays-seconds", type=float, required=True)
    options = parser.parse_args()
    choice = EmbedderChoice(options.embedder, options.model, options.url)
    shared = TeamTableSettings(options.team, options.team_access == "write")
    limits = IdleLimits(last_lease=options.stays_seconds, idle=options.idle_seconds)
    host(StoreWork(options.root, choice, options.most, shared), limits)


if __name__ == "__main__":
    main()
