"""A table that a team shares: in a folder, and in an object store that speaks S3 over a socket."""

from __future__ import annotations

import asyncio
import socket
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from support.corpora.remembered import DATE, REVERSE

from stet_ls.engine.errors import StoreError
from stet_ls.engine.memory.store import maintenance
from stet_ls.engine.memory.store.embedders import Embedder
from stet_ls.engine.memory.store.lance_table import LanceTable
from stet_ls.engine.memory.store.solution_store import SolutionHit, SolutionStore
from stet_ls.engine.memory.store.synced_index import SyncedIndex
from stet_ls.engine.memory.store.team_table import TeamTable

AGAIN = "read a date in ISO form from text"


@dataclass
class Place:
    """Where a team's table lies. A member is a store in a folder of its own."""

    uri: str
    storage: Mapping[str, str]
    folder: Path
    embedder: Embedder

    async def member(self, name: str, *, writes: bool, uri: str = "") -> SolutionStore:
        home = self.folder / name
        team = TeamTable(uri or self.uri, home, self.embedder, self.storage, writes=writes)
        await team.looked()
        return SolutionStore(await SyncedIndex.open(home, self.embedder), 100, team)

    def files(self) -> dict[Path, bytes]:
        """What lies in the shared folder; nothing of an object store's."""
        return {path: path.read_bytes() for path in Path(self.uri).rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """The address of an object store with an empty bucket `team`."""
    moto = pytest.importorskip("moto.server", reason="moto[server] is not installed")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    urllib.request.urlopen(urllib.request.Request(f"{address}/team", method="PUT")).read()
    yield address
    server.stop()


@pytest.fixture(params=["folder", "object store"])
def place(request: pytest.FixtureRequest, tmp_path: Path, embedder: Embedder) -> Place:
    if request.param == "folder":
        return Place(str(tmp_path / "share"), {}, tmp_path, embedder)
    keys = {"aws_access_key_id": "key", "aws_secret_access_key": "secret", "aws_region": "us-east-1"}
    storage = {**keys, "aws_endpoint": request.getfixturevalue("bucket"), "allow_http": "true"}
    return Place(f"s3://team/{tmp_path.name}", storage, tmp_path, embedder)


async def share(store: SolutionStore) -> int:
    assert store.team is not None
    return await store.team.follow(store.index)


async def look(store: SolutionStore, query: str = AGAIN) -> list[SolutionHit]:
    """What a patient person finds, after what others wrote was seen."""
    assert store.team is not None
    store.team._looked = float("-inf")
    await store.team.looked()
    return await store.search(query, scope="elsewhere", team_seconds=60.0)


async def test_a_solution_kept_by_one_member_is_found_by_another(place: Place) -> None:
    writer = await place.member("writer", writes=True)
    await writer.put(replace(DATE, scope="mine", path="src/dates.py"))
    await writer.put(replace(REVERSE, scope="mine", outcome="imported"))
    assert await share(writer) == 1, "what did not stand is not shared"
    assert await share(writer) == 0, "nor is anything twice"

    reader = await place.member("reader", writes=False)
    (hit,) = await look(reader)
    assert (hit.solution.code, hit.solution.path, hit.team) == (DATE.code, "src/dates.py", True)
    assert await look(reader, REVERSE.instruction) == []
    assert reader.team is not None
    assert reader.team.state() == {"uri": place.uri, "access": "read", "solutions": 1, "fault": ""}
    assert await reader.index.table.count() == 0


async def test_a_solution_of_the_user_hides_the_same_one_of_the_team(place: Place) -> None:
    writer = await place.member("writer", writes=True)
    await writer.put(DATE)
    await share(writer)

    assert [hit.team for hit in await look(writer)] == [False]


async def test_outcomes_of_a_team_solution_are_private(place: Place) -> None:
    writer = await place.member("writer", writes=True)
    await writer.put(DATE)
    await share(writer)
    reader = await place.member("reader", writes=False)
    (hit,) = await look(reader)
    await reader.count([hit.solution.id], losses=1)

    (again,) = await look(reader)
    assert (again.team, again.solution.losses) == (False, 1)


async def test_forgetting_a_solution_removes_it_for_the_team(place: Place) -> None:
    writer = await place.member("writer", writes=True)
    reader = await place.member("reader", writes=False)
    await writer.put(DATE)
    await share(writer)
    await maintenance.forget(writer, [DATE.id])

    assert await look(writer) == []
    assert await look(reader) == []
    assert not any(b"fromisoformat" in content for content in place.files().values())


PROVEN = replace(DATE, grounds=("proven 1a2b3c",), outcome="proven", evidence=("tests: pass, quokka",))


async def test_an_undo_removes_the_solution_for_the_team(place: Place) -> None:
    writer = await place.member("writer", writes=True)
    reader = await place.member("reader", writes=False)
    await writer.put_many([PROVEN, replace(REVERSE, outcome="kept", grounds=("kept 9f9f9f", "kept 1a2b3c"), wins=1)])
    await maintenance.embed_waiting(writer)
    assert await share(writer) == 2
    assert writer.team is not None
    writer.team.record_undone("1a2b3c")
    assert await writer.retract("1a2b3c") == 1
    assert await share(writer) == 0

    assert await look(reader) == []
    (left,) = await look(reader, REVERSE.instruction)
    assert (left.solution.grounds, left.solution.times_kept) == (("kept 9f9f9f",), 1)
    assert not any(b"fromisoformat" in content or b"1a2b3c" in content for content in place.files().values())


class Died(BaseException):
    """What is done in the place where a process dies."""


async def undo(store: SolutionStore) -> None:
    assert store.team is not None
    store.team.record_undone("1a2b3c")
    await store.team.follow(store.index)


async def die(*_: object, **__: object) -> None:
    raise Died


@pytest.mark.parametrize("place", ["folder"], indirect=True)
@pytest.mark.parametrize("step", ["remove", "rewrite"])
@pytest.mark.parametrize("way", ["forget", "undo"])
async def test_leftovers_of_a_crash_in_team_files_are_removed_at_the_next_start(
    place: Place, way: str, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = await place.member("writer", writes=True)
    await writer.put(PROVEN)
    await share(writer)
    assert writer.team is not None
    with monkeypatch.context() as dying:
        dying.setattr(LanceTable, step, die)
        with pytest.raises(Died):
            await (maintenance.forget(writer, [PROVEN.id]) if way == "forget" else undo(writer))
    assert any(b"fromisoformat" in content for content in place.files().values())

    again = await place.member("writer", writes=True)
    if (way, step) == ("forget", "remove"):
        assert await maintenance.forget(again, [PROVEN.id]) == 1, "nothing was removed, nor said to be"
    await share(again)
    assert not any(b"fromisoformat" in content for content in place.files().values())


@pytest.mark.parametrize("place", ["folder"], indirect=True)
async def test_files_that_others_are_writing_are_kept(place: Place) -> None:
    """A file that no version of the table names may be half of a commit; no lock tells."""
    writer = await place.member("writer", writes=True)
    await writer.put(DATE)
    await share(writer)
    (data,) = {path.parent for path in place.files() if path.parent.name == "data"}
    (data / f"{'0' * 32}.lance").write_bytes(b"of another member")
    await maintenance.forget(writer, [DATE.id])

    assert [path.name for path in place.files() if path.parent == data] == [f"{'0' * 32}.lance"]


@pytest.mark.parametrize("place", ["folder"], indirect=True)
async def test_a_solution_forgotten_during_sharing_is_not_shared(place: Place) -> None:
    writer = await place.member("writer", writes=True)
    await writer.put(DATE)
    await asyncio.gather(share(writer), maintenance.forget(writer, [DATE.id]))

    assert await look(writer) == []
    assert not any(b"fromisoformat" in content for content in place.files().values())


async def test_a_solution_only_in_the_team_table_can_be_forgotten_with_write_permission(place: Place) -> None:
    writer = await place.member("writer", writes=True)
    await writer.put(DATE)
    await share(writer)
    reader = await place.member("reader", writes=False)
    (hit,) = await look(reader)
    with pytest.raises(StoreError, match=r"the team's table, which is read-only here \(setting `memory.team_access`\)"):
        await maintenance.forget(reader, [hit.solution.id])
    await maintenance.clear(writer, None)
    assert len(await look(reader)) == 1, "others may want it"

    assert await maintenance.forget(writer, [hit.solution.id]) == 1
    assert await look(reader) == []


async def test_a_reader_removes_no_team_files(place: Place) -> None:
    writer = await place.member("writer", writes=True)
    await writer.put(DATE)
    await share(writer)
    reader = await place.member("reader", writes=False)
    await reader.put(DATE)
    await maintenance.forget(reader, [DATE.id])
    assert await share(reader) == 0

    assert [hit.team for hit in await look(reader)] == [True]


async def test_a_missing_team_table_is_reported(place: Place) -> None:
    reader = await place.member("reader", writes=False)
    await reader.put(DATE)

    assert [hit.solution for hit in await look(reader)] == [DATE]
    assert reader.team is not None
    assert "holds no solutions" in reader.team.fault


@pytest.fixture
def silent() -> Iterator[str]:
    """An address that takes connections and never says anything."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize("address", ["silent", "http://127.0.0.1:9"])
async def test_an_unreachable_team_table_does_not_delay_a_search(
    address: str, silent: str, tmp_path: Path, embedder: Embedder
) -> None:
    keys = {"aws_access_key_id": "key", "aws_secret_access_key": "secret", "aws_region": "us-east-1"}
    dead = {
        **keys,
        "allow_http": "true",
        "timeout": "300ms",
        "aws_endpoint": silent if address == "silent" else address,
    }
    alone = SolutionStore(await SyncedIndex.open(tmp_path / "own", embedder), 100)
    await alone.put(DATE)
    assert [hit.solution for hit in await alone.search(AGAIN)] == [DATE]
    team = TeamTable("s3://team/x", tmp_path / "own", embedder, dead, writes=True)
    store = SolutionStore(alone.index, 100, team)
    team.look()

    assert [hit.solution for hit in await store.search(AGAIN)] == [DATE]
    assert team.fault == "not connected yet", "the look continues behind the search"
    await team.looked()
    assert team.fault.startswith("s3://team/x is not reachable (")
    with pytest.raises(StoreError, match="Nothing deleted: the team's memory is not reachable"):
        await maintenance.forget(store, [DATE.id])
    assert await store.get(DATE.id) == DATE


async def test_team_rows_that_arrive_late_are_used_in_the_next_search(place: Place) -> None:
    writer = await place.member("writer", writes=True)
    await writer.put(DATE)
    await share(writer)
    reader = await place.member("reader", writes=False)
    await look(reader)
    assert reader.team is not None
    reader.team._rows.clear()

    assert await reader.search(AGAIN, team_seconds=0.0) == []
    async with asyncio.timeout(60):
        while not await reader.search(AGAIN, team_seconds=0.001):
            await asyncio.sleep(0.01)
