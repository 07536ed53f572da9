"""The memory's process: the store behind a port on loopback. Nothing else loads LanceDB, numpy or an embedder."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from stet_ls.engine.errors import StoreError, StoreFault
from stet_ls.engine.memory import upkeep
from stet_ls.engine.memory.embedders import Choice, Embedder, choose
from stet_ls.engine.memory.link import OnProgress, serve
from stet_ls.engine.memory.shelf import Shelf
from stet_ls.engine.memory.solution import Solution
from stet_ls.engine.memory.store import Store
from stet_ls.engine.workers.host import Patience, host
from stet_ls.engine.workers.wire import LOOPBACK, new_key

_log = logging.getLogger(__name__)

_NICENESS = 2


class Remembering:
    """The store as the work of a child. It runs in a thread and a loop of its own."""

    def __init__(self, root: Path, choice: Choice, most: int) -> None:
        self._root = root
        self._choice = choice
        self._most = most
        self._requests = 0
        self._seen = 0
        self._busy = False
        self._ready: Future[Mapping[str, Any]] = Future()
        self._background: set[asyncio.Task[None]] = set()

    def start(self) -> Mapping[str, Any]:
        """Opens the store: two seconds, most of which LanceDB's import takes. A fault is told to whoever asks."""
        if hasattr(os, "nice"):
            os.nice(_NICENESS)
        threading.Thread(target=asyncio.run, args=(self._run(),), name="store", daemon=True).start()
        return self._ready.result()

    def active(self) -> bool:
        """True if there was a request since the last look, or the background is at work."""
        before, self._seen = self._seen, self._requests
        return self._busy or self._seen != before

    async def _run(self) -> None:
        try:
            key = new_key()
            opening = asyncio.create_task(self._open())
            await asyncio.wait({opening})
            store = opening.result() if opening.exception() is None else None
            fault = opening.exception()
            if fault is not None and not isinstance(fault, StoreError):
                raise fault

            async def answer(op: str, fields: Mapping[str, Any], on_progress: OnProgress) -> Any:
                self._requests += 1
                if store is None:
                    assert isinstance(fault, StoreError)
                    raise fault
                return await self._answer(store, op, fields, on_progress)

            server = await asyncio.start_server(
                lambda reader, writer: serve(reader, writer, key, answer), LOOPBACK, 0, limit=2**26
            )
            self._ready.set_result({"port": server.sockets[0].getsockname()[1], "key": key})
            if store is not None:
                self._embed(store)
            await server.serve_forever()
        except BaseException as error:
            if not self._ready.done():
                self._ready.set_exception(error)
            raise

    async def _open(self) -> Store:
        embedder: Embedder | None
        try:
            embedder = await asyncio.to_thread(choose, self._choice)
        except StoreError as error:
            _log.warning("searching by words alone: %s", error)
            embedder = None
        return Store(await Shelf.open(self._root, embedder), self._most)

    async def _answer(self, store: Store, op: str, fields: Mapping[str, Any], on_progress: OnProgress) -> Any:
        operation = OPERATIONS.get(op)
        if operation is None:
            raise StoreError(f"The memory knows no {op!r}.", fault=StoreFault.REFUSED)
        result = await operation(store, fields, on_progress)
        if op in _WRITING:
            self._embed(store)
        return result

    def _embed(self, store: Store) -> None:
        """Starts what is due: vectors for rows that have none, and maintenance."""
        if self._busy:
            return

        async def work() -> None:
            try:
                await upkeep.embed_waiting(store)
                await upkeep.maintain(store)
            except StoreError as error:
                _log.warning("%s", error)
            finally:
                self._busy = False

        self._busy = True
        task = asyncio.create_task(work())
        self._background.add(task)
        task.add_done_callback(self._background.discard)


Operation = Callable[[Store, Mapping[str, Any], OnProgress], Awaitable[Any]]


async def _search(store: Store, fields: Mapping[str, Any], on_progress: OnProgress) -> Any:
    hits = await store.search(
        fields["query"],
        languages=fields.get("languages"),
        scope=fields.get("scope"),
        limit=fields.get("limit", 3),
        min_score=fields.get("min_score", 0.7),
    )
    return [hit.to_json() for hit in hits]


async def _put(store: Store, fields: Mapping[str, Any], on_progress: OnProgress) -> Any:
    stored = await store.put(Solution.from_json(fields["solution"]))
    return {"id": stored.id, "how": stored.how}


async def _import(store: Store, fields: Mapping[str, Any], on_progress: OnProgress) -> Any:
    return await store.put_many([Solution.from_json(each) for each in fields["solutions"]])


async def _count(store: Store, fields: Mapping[str, Any], on_progress: OnProgress) -> Any:
    counts = {name: fields.get(name, 0) for name in ("uses", "wins", "losses")}
    await store.count(fields["ids"], **counts)


async def _show(store: Store, fields: Mapping[str, Any], on_progress: OnProgress) -> Any:
    return (await store.get(fields["ident"])).to_json()


async def _export(store: Store, fields: Mapping[str, Any], on_progress: OnProgress) -> Any:
    known = await asyncio.to_thread(store.shelf.journal.solutions)
    return [solution.to_json() for solution in list(known.values())[fields["start"] : fields["end"]]]


async def _forget(store: Store, fields: Mapping[str, Any], on_progress: OnProgress) -> Any:
    return await upkeep.forget(store, fields["ids"])


async def _clear(store: Store, fields: Mapping[str, Any], on_progress: OnProgress) -> Any:
    return await upkeep.clear(store, fields.get("scope"))


async def _embed(store: Store, fields: Mapping[str, Any], on_progress: OnProgress) -> Any:
    return await upkeep.embed_waiting(store, on_progress)


async def _stats(store: Store, fields: Mapping[str, Any], on_progress: OnProgress) -> Any:
    return await upkeep.stats(store)


async def _doctor(store: Store, fields: Mapping[str, Any], on_progress: OnProgress) -> Any:
    return await upkeep.doctor(store)


async def _compact(store: Store, fields: Mapping[str, Any], on_progress: OnProgress) -> Any:
    return await upkeep.compact(store)


OPERATIONS: Mapping[str, Operation] = {
    "search": _search,
    "put": _put,
    "import": _import,
    "count": _count,
    "show": _show,
    "export": _export,
    "forget": _forget,
    "clear": _clear,
    "embed": _embed,
    "stats": _stats,
    "doctor": _doctor,
    "compact": _compact,
}
"""What can be asked of the memory's process."""

_WRITING = frozenset({"put", "import", "count", "doctor"})


def main() -> None:
    """Serves the store of the command line. The key of an embedding endpoint comes by the environment alone."""
    parser = argparse.ArgumentParser(prog="python -m stet_ls.engine.memory.child")
    parser.add_argument("root", type=Path)
    parser.add_argument("--embedder", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--url", required=True)
    parser.add_argument("--most", type=int, required=True)
    parser.add_argument("--idle-seconds", type=float, required=True)
    options = parser.parse_args()
    choice = Choice(options.embedder, options.model, options.url)
    host(Remembering(options.root, choice, options.most), Patience(idle=options.idle_seconds))


if __name__ == "__main__":
    main()
