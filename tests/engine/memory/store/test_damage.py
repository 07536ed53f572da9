"""What happens to files: crashes, full disks, damage, other processes. Nothing acknowledged is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.corpora.remembered import DATE, REVERSE, Open
from support.processes.mounts import read_only, tiny

from stet_ls.engine.errors import StoreError, StoreFault
from stet_ls.engine.memory.solution import Solution
from stet_ls.engine.memory.store import maintenance
from stet_ls.engine.memory.store.embedders import Embedder
from stet_ls.engine.memory.store.lance_table import LanceTable
from stet_ls.engine.memory.store.solution_store import SolutionStore
from stet_ls.engine.memory.store.synced_index import SyncedIndex
from stet_ls.engine.memory.store.table_rows import SCHEMA_VERSION, TABLE

WRITER = Path(__file__).parent / "writer.py"


def write(root: Path, name: str, count: int) -> subprocess.Popen[str]:
    """A writing process that waits for a line before its first write."""
    return waiting(WRITER, str(root), name, str(count))


def waiting(script: Path, *arguments: str) -> subprocess.Popen[str]:
    """A process that is ready and waits for a line."""
    process = subprocess.Popen(
        [sys.executable, str(script), *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


async def test_two_processes_storing_the_same_solution_make_one_row(root: Path, open_store: Open) -> None:
    processes = [write(root, "same", 15), write(root, "same", 15)]
    for process in processes:
        go(process)
    for process in processes:
        process.communicate(timeout=110)
        assert process.returncode == 0

    store = await open_store(with_embedder=False)
    assert await store.index.table.count() == 15
    assert (await maintenance.doctor(store))["sound"]


async def test_a_kill_at_any_moment_loses_no_acknowledged_row(root: Path, open_store: Open) -> None:
    acknowledged: set[str] = set()
    for round_ in range(4):
        process = write(root, f"round {round_}", 1000)
        go(process)
        assert process.stdout is not None
        acknowledged |= {process.stdout.readline().strip() for _ in range(1 + 2 * round_)}
        os.kill(process.pid, signal.SIGKILL)
        acknowledged |= {line for line in process.stdout.read().split("\n")[:-1] if line}
        process.wait()
        process.stdout.close()
        assert process.stdin is not None
        process.stdin.close()

    store = await open_store(with_embedder=False)
    rows = await store.index.table.get(sorted(acknowledged))
    assert len(acknowledged) >= 16
    assert {ident for ident, row in rows.items() if row is not None} == acknowledged
    assert (await maintenance.doctor(store))["sound"]


async def test_a_kill_during_mixed_operations_keeps_what_was_acknowledged(root: Path, open_store: Open) -> None:
    """Stores, counts, forgets, joins files and writes them again, and is killed at four different moments."""
    put: set[str] = set()
    forgot: set[str] = set()
    for round_ in range(4):
        process = waiting(WRITER.with_name("busy.py"), str(root), f"round{round_}")
        go(process)
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(2 + round_)]
        time.sleep(0.02 * round_)
        os.kill(process.pid, signal.SIGKILL)
        rest, _ = process.communicate()
        for line in "".join([*lines, rest]).splitlines():
            word, _, ident = line.partition(" ")
            (put if word == "put" else forgot).add(ident)

    store = await open_store(with_embedder=False)
    known = store.index.journal.solutions()
    assert len(put) >= 8
    assert forgot
    assert put <= known.keys()
    assert not forgot & known.keys()
    rows = await store.index.table.get(sorted(put | forgot))
    assert {ident for ident, row in rows.items() if row is not None} == put
    assert (await maintenance.doctor(store))["sound"]
    files = [path.read_bytes() for path in root.rglob("*") if path.is_file()]
    assert not any(ident.encode() in content for ident in forgot for content in files)


async def test_rows_written_by_another_process_are_found(store: SolutionStore, root: Path, embedder: Embedder) -> None:
    other = SolutionStore(await SyncedIndex.open(root, embedder), 100)
    await store.put(DATE)
    assert [hit.solution for hit in await other.search(DATE.instruction)] == [DATE]
    await maintenance.forget(other, [DATE.id])
    assert await store.search(DATE.instruction) == []


def data_files(store: SolutionStore) -> list[Path]:
    return sorted(store.index.folder.rglob("data/*.lance"))


async def test_a_damaged_page_is_detected_and_repaired(store: SolutionStore, open_store: Open) -> None:
    await store.put_many([DATE, REVERSE])
    await maintenance.embed_waiting(store)
    await maintenance.compact(store)
    (file,) = data_files(store)
    data = bytearray(file.read_bytes())
    middle = len(data) // 3
    data[middle : middle + 64] = os.urandom(64)
    file.write_bytes(data)

    again = await open_store()
    found = await maintenance.doctor(again)
    assert not found["sound"]
    assert found["damaged_rows"] or found["table_unreadable"] or found["missing_rows"]
    await maintenance.embed_waiting(again)
    assert [hit.solution for hit in await again.search(DATE.instruction)] == [DATE]
    assert (await maintenance.doctor(again))["sound"]


@pytest.mark.parametrize("content", [b"", b"garbage", None])
async def test_a_damaged_manifest_loses_the_index_but_no_solution(
    store: SolutionStore, open_store: Open, content: bytes | None
) -> None:
    await store.put(DATE)
    for manifest in store.index.folder.rglob("_versions/*"):
        manifest.unlink() if content is None else manifest.write_bytes(content)

    again = await open_store()
    await maintenance.embed_waiting(again)
    assert [hit.solution for hit in await again.search(DATE.instruction)] == [DATE]


async def test_a_lost_data_file_loses_the_index_but_no_solution(store: SolutionStore, open_store: Open) -> None:
    await store.put(DATE)
    for file in data_files(store):
        file.unlink()

    again = await open_store()
    assert again.index.waiting == 1
    assert await again.get(DATE.id) == DATE
    assert (await maintenance.doctor(again))["sound"]


async def test_a_lost_journal_is_restored_from_the_table(store: SolutionStore, open_store: Open) -> None:
    await store.put(DATE)
    store.index.journal.path.unlink()

    again = await open_store()
    assert set(again.index.journal.solutions()) == {DATE.id}
    assert await again.get(DATE.id) == DATE


async def test_a_damaged_journal_line_is_restored_from_the_table(store: SolutionStore, open_store: Open) -> None:
    await store.put_many([DATE, REVERSE])
    path = store.index.journal.path
    path.write_bytes(path.read_bytes().replace(b"ISO date", b"OSI date"))
    again = await open_store()
    found = await maintenance.doctor(again)

    assert (found["damaged_journal_lines"], found["rows_only_in_table"]) == (1, 1)
    assert set(again.index.journal.solutions()) == {DATE.id, REVERSE.id}
    assert (await maintenance.doctor(again))["sound"]


async def test_a_table_of_a_newer_version_is_refused_in_one_sentence(store: SolutionStore, open_store: Open) -> None:
    import lancedb

    database = await lancedb.connect_async(str(store.index.folder))
    await database.create_table("solutions_v2", data=[{"id": "1"}])

    with pytest.raises(StoreError, match=r"newer version of Stet \(solutions_v2\)\. Update Stet") as raised:
        await open_store()
    assert raised.value.fault is StoreFault.NEWER


async def test_rows_of_a_newer_version_are_refused(store: SolutionStore, open_store: Open) -> None:
    import lancedb

    await store.put(DATE)
    database = await lancedb.connect_async(str(store.index.folder))
    await (await database.open_table(TABLE)).update({"schema_version": SCHEMA_VERSION + 1})

    with pytest.raises(StoreError, match=r"holds 1 rows of a newer version of Stet. Update Stet") as raised:
        await open_store()
    assert raised.value.fault is StoreFault.NEWER


async def test_a_relative_folder_is_not_taken_for_a_cloud_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LanceDB takes "db..." for its own service and asks for a key."""
    monkeypatch.chdir(tmp_path)
    table = await LanceTable.open(Path("dbfoo"), "words", 8)

    assert await table.count() == 0
    assert (tmp_path / "dbfoo").is_dir()


FULL = """
import asyncio, sys
from pathlib import Path
from stet_ls.engine.errors import StoreError
from stet_ls.engine.memory.store.synced_index import SyncedIndex
from stet_ls.engine.memory.solution import Solution
from stet_ls.engine.memory.store.solution_store import SolutionStore
async def main():
    store = SolutionStore(await SyncedIndex.open(Path(sys.argv[1]), None), 10000)
    stored = []
    try:
        for n in range(400):
            code = f"def f():\\n    return '{n:05}'" + "#" * 9000
            stored.append((await store.put(Solution(f"Task {n}", code, "python"))).id)
    except StoreError as error:
        print(error.fault.value, "|", error)
    known = store.index.journal.solutions()
    print(len(stored) > 0, all(each in known for each in stored))
asyncio.run(main())
"""


def with_mounts(script: str, *arguments: str, mounts: list[str]) -> subprocess.CompletedProcess[str]:
    """Runs a script with other mounts."""
    command = [*mounts, sys.executable, "-c", script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=100)


def test_a_full_disk_is_one_sentence_and_keeps_acknowledged_rows(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir(mode=0o700)
    result = with_mounts(FULL, str(folder / "memory"), mounts=tiny(folder, 2_000_000))

    assert result.returncode == 0, result.stderr
    said, kept = result.stdout.strip().split("\n")
    assert said.startswith("disk full | The disk of ")
    assert kept == "True True"


def test_a_file_size_limit_is_one_sentence_and_keeps_acknowledged_rows(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource", reason="this system limits no files")
    result = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "memory")],
        capture_output=True, text=True, timeout=100,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)),
    )  # fmt: skip

    assert result.returncode == 0, result.stderr
    said, kept = result.stdout.strip().split("\n")
    assert said.startswith("disk full | ")
    assert "may not grow any further (a limit on the size of files)" in said
    assert kept == "True True"


READ_ONLY = """
import asyncio, sys
from pathlib import Path
from stet_ls.engine.errors import StoreError
from stet_ls.engine.memory.store.synced_index import SyncedIndex
from stet_ls.engine.memory.solution import Solution
from stet_ls.engine.memory.store.solution_store import SolutionStore
async def main():
    store = SolutionStore(await SyncedIndex.open(Path(sys.argv[1]), None), 10000)
    print([hit.solution.instruction for hit in await store.search("parse ISO date string")])
    try:
        await store.put(Solution("x", "y", "python"))
    except StoreError as error:
        print(error.fault.value, "|", error)
asyncio.run(main())
"""


async def test_a_read_only_folder_is_still_read(root: Path, open_store: Open) -> None:
    store = await open_store(with_embedder=False)
    await store.put(DATE)
    await store.search(DATE.instruction)
    result = with_mounts(READ_ONLY, str(root), mounts=read_only(root))

    assert result.returncode == 0, result.stderr
    found, refused = result.stdout.strip().split("\n")
    assert found == repr([DATE.instruction])
    assert refused.startswith(f"read only | {root} cannot be written")


UNPRIVILEGED = """
import os
import lancedb.index, pyarrow, numpy, stet_ls.engine.memory.store.solution_store
if os.getuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
"""
"""Becomes a user without rights once everything is loaded, which that user may not be able to read."""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder below which others may look; pytest's own are closed to them."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


async def test_a_folder_without_write_permission_is_still_read(open_folder: Path) -> None:
    """As a user without rights, whom the folder's mode stops; root would write all the same."""
    root = open_folder / "memory"
    store = SolutionStore(await SyncedIndex.open(root, None), 100)
    await store.put(DATE)
    await store.search(DATE.instruction)
    for path in (root, *root.rglob("*")):
        path.chmod(0o500 if path.is_dir() else 0o400)
        if os.getuid() == 0:
            os.chown(path, 65534, 65534)
    result = subprocess.run(
        [sys.executable, "-c", UNPRIVILEGED + READ_ONLY, str(root)], capture_output=True, text=True, timeout=100
    )
    for path in (root, *root.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)

    assert result.returncode == 0, result.stderr
    found, refused = result.stdout.strip().split("\n")
    assert found == repr([DATE.instruction])
    assert refused.startswith(f"read only | {root} cannot be written")


async def test_a_folder_that_others_may_read_is_not_used(root: Path, embedder: Embedder) -> None:
    root.mkdir(mode=0o755)

    with pytest.raises(StoreError, match=r"Memory unavailable: .* is accessible to other users") as raised:
        await SyncedIndex.open(root, embedder)
    assert raised.value.fault is StoreFault.UNAVAILABLE


@pytest.mark.parametrize("with_embedder", [True, False])
async def test_forget_leaves_no_byte(open_store: Open, with_embedder: bool) -> None:
    store = await open_store(with_embedder=with_embedder)
    secretive = Solution("Compute the zyzzyva quotient", "def zyzzyva():\n    return 'quokka'", "python")
    await store.put_many([DATE, secretive])
    await maintenance.embed_waiting(store)
    await store.search("zyzzyva quotient")
    await store.count([secretive.id], wins=1)
    await store.put(replace(secretive, outcome="proven"))

    assert await maintenance.forget(store, [secretive.id]) == 1
    for path in store.index.root.rglob("*"):
        content = path.read_bytes().lower() if path.is_file() else b""
        assert not any(word in content for word in (b"zyzzyva", b"quokka", secretive.id.encode())), path
    assert await store.get(DATE.id) == DATE


async def test_an_interrupted_forget_is_finished_by_the_next_one(store: SolutionStore, open_store: Open) -> None:
    await store.put_many([DATE, replace(REVERSE, code="def quokka():\n    return 1")])
    async with store.index.writing():
        (store.index.root / "purge").touch()
        store.index.journal.rewrite([DATE])

    await open_store()
    files = [path for path in store.index.root.rglob("*") if path.is_file()]
    assert not any(b"quokka" in path.read_bytes() for path in files)
    assert not (store.index.root / "purge").exists()


async def test_clear_takes_one_scope_or_all(store: SolutionStore) -> None:
    await store.put_many([replace(DATE, scope="a"), replace(REVERSE, scope="b")])
    assert await maintenance.clear(store, "a") == 1
    assert await maintenance.clear(store, None) == 1
    assert await store.index.table.count() == 0
