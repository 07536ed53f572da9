"""What is forgotten, undone, replaced or evicted leaves no byte, with any number of rows and any process killed."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from support.processes import killed
from support.processes.killed import die_at

from stet_ls.engine.memory.solution import Solution
from stet_ls.engine.memory.store import journal, maintenance
from stet_ls.engine.memory.store.embedders import Embedder
from stet_ls.engine.memory.store.solution_store import SolutionStore
from stet_ls.engine.memory.store.synced_index import SyncedIndex

WORDS = "ѮѰѪѺ"
"""Letters that no other row has: Lance compresses larger tables by a dictionary of what is frequent in them."""
SECRETIVE = Solution(
    f"Compute the quotient of two whole numbers and round it down {WORDS}",
    f'def quotient(first, second):\n    """Divide and round down."""\n    return first // second  # {WORDS}',
    "python",
    outcome="kept",
)
TWIN = replace(
    SECRETIVE,
    instruction=SECRETIVE.instruction.removesuffix(f" {WORDS}"),
    code=SECRETIVE.code.removesuffix(f"  # {WORDS}"),
    outcome="edited",
)
WAYS = [("forget", 10), ("forget", 120), ("clear", 10), ("clear", 120), ("undo", 10), ("undo", 120), ("undo", 5_000),
        ("replace", 10), ("replace", 120), ("upkeep", 10), ("upkeep", 120)]  # fmt: skip
"""The largest once, for it takes seconds: an undo forgets too, and all of them end in one way of removing."""

LANCE = frozenset({".lance", ".arrow", ".bin", ".idx"})

Filled = Callable[[Path, int], Awaitable[SolutionStore]]


def forms(text: str) -> list[bytes]:
    """How a text may stand in a file: plain, escaped, wide, and as Lance's dictionary writes rare bytes."""
    plain = text.encode()
    escaped = text.encode("unicode_escape")
    return [plain, escaped, escaped.upper(), text.encode("utf-16-le"), b"".join(b"\xff%c" % byte for byte in plain)]


def holding(root: Path, *texts: str) -> set[str]:
    """The files below a folder that hold one of the texts, in any form."""
    wanted = [form for text in texts for form in forms(text)]
    files = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    return {path.relative_to(root).parts[0] for path, data in files.items() if any(each in data for each in wanted)}


def data_files(store: SolutionStore) -> list[Path]:
    """The files of rows and of indexes."""
    return [each for each in store.index.folder.rglob("*.*") if each.suffix in LANCE and each.is_file()]


def inodes(files: Iterable[Path]) -> set[int]:
    return {each.stat().st_ino for each in files}


def linked(files: Iterable[Path], folder: Path) -> list[Path]:
    """Second names of files: while these stand, no new file gets an inode of theirs."""
    folder.mkdir()
    links = [(file, folder / str(number)) for number, file in enumerate(files)]
    for file, link in links:
        link.hardlink_to(file)
    return [link for _, link in links]


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Filled:
    """Makes a store of so many rows, joined into few files; one is SECRETIVE, the vectors of all others are drawn."""
    made: dict[int, Path] = {}

    async def filled(root: Path, count: int) -> SolutionStore:
        if count not in made:
            made[count] = tmp_path_factory.mktemp("filled") / "memory"
            await _fill(SolutionStore(await SyncedIndex.open(made[count], embedder), 10_000), embedder, count)
        shutil.copytree(made[count], root)
        return SolutionStore(await SyncedIndex.open(root, embedder), 10_000)

    return filled


async def _fill(store: SolutionStore, embedder: Embedder, count: int) -> None:
    rows = [Solution(f"Compute task {n}", f"def task_{n}():\n    return {n} * {n}", "python") for n in range(count - 1)]
    drawn = np.random.default_rng(1).normal(size=(count, 2, embedder.dimension)).astype(np.float32)
    drawn /= np.linalg.norm(drawn, axis=2, keepdims=True)
    vectors = {row.id: (pair[0], pair[1]) for row, pair in zip(rows, drawn, strict=False)}
    async with store.index.writing():
        await store.index.write([journal.put(row) for row in rows], vectors)
    await store.put(SECRETIVE)
    await maintenance.maintain(store, now=True)


async def _forget(store: SolutionStore) -> None:
    assert await maintenance.forget(store, [SECRETIVE.id]) == 1


async def _clear(store: SolutionStore) -> None:
    assert await maintenance.clear(store, None) > 0


async def _undo(store: SolutionStore) -> None:
    assert (await store.put(replace(SECRETIVE, grounds=("kept 1a2b3c",)))).how == "known"
    assert await store.retract("1a2b3c") == 0, "it was kept before"
    assert await maintenance.forget(store, [SECRETIVE.id]) == 1
    await store.put(replace(SECRETIVE, grounds=("proven 1a2b3c",), outcome="proven"))
    assert await store.retract("1a2b3c") == 1


async def _replace(store: SolutionStore) -> None:
    assert (await store.put(TWIN)).how == "replaced"


async def _evict(store: SolutionStore) -> None:
    await store.count([SECRETIVE.id], losses=3)
    store.most = 5
    await maintenance.maintain(store, now=True)


LEAVES: dict[str, Callable[[SolutionStore], Awaitable[None]]] = {
    "forget": _forget,
    "clear": _clear,
    "undo": _undo,
    "replace": _replace,
    "upkeep": _evict,
}


@pytest.mark.parametrize(("way", "count"), WAYS)
async def test_no_byte_of_a_forgotten_solution_is_left(
    root: Path, tmp_path: Path, embedder: Embedder, filled: Filled, way: str, count: int
) -> None:
    store = await filled(root, count)
    await store.count([SECRETIVE.id], uses=1)
    await store.index.table.by_words("quotient", None, 3)
    before = linked(data_files(store), tmp_path / "linked")
    assert before
    assert holding(root, WORDS) == {"journal.jsonl", "tables"}, "the search finds what is there"
    await LEAVES[way](store)

    assert holding(root, WORDS, SECRETIVE.id) == set()
    assert not inodes(before) & inodes(data_files(store)), (
        "whatever Lance compresses: what held a removed row is gone whole"
    )
    again = SolutionStore(await SyncedIndex.open(root, embedder), 10_000)
    left = {"clear": 0, "replace": count, "upkeep": 4}.get(way, count - 1)
    assert await again.index.table.count() == len(again.index.journal.solutions()) == left
    assert again.index.waiting == 0, "the vectors of the others are kept"


class Died(BaseException):
    """What is done in the place where a process dies."""


def die() -> None:
    raise Died


STEPS = ("Journal.append", "LanceTable.remove", "Journal.rewrite", "LanceTable.rewrite")
"""What a process does to forget, in this order."""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
async def test_a_forget_interrupted_by_a_kill_is_finished_by_the_next_start(
    root: Path, embedder: Embedder, filled: Filled, step: str, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is a process that is killed; the others are left by an error that nothing catches, which writes as little."""
    store = await filled(root, 120)
    if (step, when) == ("LanceTable.remove", "after"):
        script = Path(killed.__file__)
        arguments = [sys.executable, str(script), str(root), SECRETIVE.id, step, when]
        assert subprocess.run(arguments, timeout=100, check=False).returncode == -signal.SIGKILL
    else:
        with monkeypatch.context() as dying:
            die_at(step, when, die, dying.setattr)
            with pytest.raises(Died):
                await maintenance.forget(store, [SECRETIVE.id])

    again = SolutionStore(await SyncedIndex.open(root, embedder), 10_000)
    begun = (step, when) != ("Journal.append", "before")
    assert holding(root, WORDS, SECRETIVE.id) == (set() if begun else {"journal.jsonl", "tables"})
    left = 119 if begun else 120
    assert await again.index.table.count() == len(again.index.journal.solutions()) == left
    assert again.index.waiting == 0, "the vectors of the others are kept"
    assert not (root / "purge").exists()


async def test_the_part_added_by_an_undone_edit_is_removed_from_a_kept_solution(
    root: Path, embedder: Embedder, filled: Filled
) -> None:
    store = await filled(root, 10)
    tests, evidence = f"def test_{WORDS}(): ...", (f"tests: pass, {WORDS}",)
    await store.put(replace(TWIN, grounds=("kept 3c2b1a",)))
    await store.put(replace(TWIN, tests=tests, evidence=evidence, outcome="proven", grounds=("proven 1a2b3c",)))
    assert await maintenance.forget(store, [SECRETIVE.id]) == 0, "its twin replaced it"
    assert holding(root, WORDS, "1a2b3c") == {"journal.jsonl", "tables"}
    assert await store.retract("1a2b3c") == 0

    left = await store.get(TWIN.id)
    assert (left.tests, left.evidence, left.outcome) == ("", (), "kept")
    assert holding(root, WORDS, "1a2b3c") == set()


async def test_clear_removes_incomplete_lines(root: Path, embedder: Embedder, filled: Filled) -> None:
    store = await filled(root, 10)
    await maintenance.clear(store, None)
    with store.index.journal.path.open("a") as file:
        file.write(f'{{"crc":"0","e":{{"v":1,"op":"put","solution":{{"code":"{WORDS}')  # by a crash
    assert await maintenance.clear(store, "another scope") == 0
    assert await maintenance.clear(store, None) == 0

    assert holding(root, WORDS) == set()


async def test_a_damaged_journal_does_not_restore_forgotten_solutions(
    root: Path, embedder: Embedder, filled: Filled
) -> None:
    """The table still holds the row, for the disk was full when it was to follow."""
    store = await filled(root, 10)
    file = store.index.journal
    (root / "purge").touch()
    file.append([journal.forget(SECRETIVE.id)])
    (store.index.folder / "applied.json").unlink()
    file.path.write_bytes(file.path.read_bytes().replace(b"Compute task 3", b"Compute tusk 3"))

    again = SolutionStore(await SyncedIndex.open(root, embedder), 10_000)
    assert set(again.index.journal.solutions()) == set(store.index.journal.solutions())
    assert len(again.index.journal.solutions()) == 9, "what was damaged came back"
    assert holding(root, WORDS, SECRETIVE.id) == set()


async def test_partial_files_of_a_crash_are_removed(root: Path, embedder: Embedder, filled: Filled) -> None:
    store = await filled(root, 10)
    left = (".journal.jsonl.new", ".awaited.jsonl.x1", f"tables/{embedder.name}/.applied.json.x2", "tables/.x.broken")
    for name in left:
        (root / name).write_text(WORDS) if not name.endswith("broken") else (root / name).mkdir()
    (root / left[-1] / "data").write_text(WORDS)
    assert await maintenance.forget(store, [SECRETIVE.id]) == 1

    assert holding(root, WORDS) == set()
    assert (await maintenance.doctor(store))["sound"]


async def test_leftovers_of_an_older_version_are_removed_when_the_store_opens(
    root: Path, embedder: Embedder, filled: Filled
) -> None:
    """It removed the row and dropped older versions of the table, and noted no more than how far it had read."""
    store = await filled(root, 120)
    store.index.journal.rewrite([each for each in store.index.journal.solutions().values() if each != SECRETIVE])
    await store.index.table.remove([SECRETIVE.id])
    await store.index.table.optimize(timedelta(0))
    stamp = {"stamp": store.index.journal.stamp, "of": "journal"}
    (store.index.folder / "applied.json").write_text(json.dumps(stamp))
    assert holding(root, WORDS) == {"tables"}

    await SyncedIndex.open(root, embedder)
    assert holding(root, WORDS, SECRETIVE.id) == set()
