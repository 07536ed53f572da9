"""Hits are read from the journal: without a look into the table, and never otherwise than the table has them."""

from __future__ import annotations

import shutil
from pathlib import Path

from support.corpora.remembered import Open

from stet_ls.engine.memory.solution import Solution
from stet_ls.engine.memory.store import maintenance
from stet_ls.engine.memory.store.journal import Journal, forget, put
from stet_ls.engine.memory.store.journal_lookup import JournalLookup
from stet_ls.engine.memory.store.solution_store import SolutionStore

SUM = Solution("Add up all numbers of a list", "def total(xs):\n    return sum(xs)\n", "python")
MOST = Solution("Find the longest word of a sentence", "def most(s):\n    return max(s.split(), key=len)\n", "python")


async def found(store: SolutionStore, solution: Solution) -> list[Solution]:
    return [hit.solution for hit in await store.search(solution.instruction)]


async def test_a_search_does_not_query_the_table(store: SolutionStore) -> None:
    await store.put(SUM)
    await store.put(MOST)
    shutil.rmtree(store.index.folder)

    assert [each.code for each in await found(store, SUM)] == [SUM.code]
    assert store.damaged == 0


async def test_outcomes_counted_since_are_part_of_the_hit(store: SolutionStore) -> None:
    await store.put(SUM)
    await store.count([SUM.id], uses=2, wins=1)
    [hit] = await found(store, SUM)
    assert (hit.uses, hit.wins, hit.code) == (2, 1, SUM.code)


async def test_a_journal_rewritten_by_another_process_is_read_again(store: SolutionStore, open_store: Open) -> None:
    await store.put(SUM)
    await store.put(MOST)
    assert await found(store, MOST)
    other = await open_store()
    await maintenance.forget(other, [SUM.id])
    await maintenance.compact(other)

    assert not await found(store, SUM)
    assert [each.code for each in await found(store, MOST)] == [MOST.code]


async def test_an_incomplete_line_is_read_once_it_is_complete(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.append([put(SUM)])
    lookup = JournalLookup(journal)
    before = len(journal.path.read_bytes())
    journal.append([forget(SUM.id), put(MOST)])
    whole = journal.path.read_bytes()
    for cut in (before + 20, whole.rindex(b"\n", 0, -1) + 20):
        journal.path.write_bytes(whole[:cut])
        await lookup.solutions([SUM.id])
    journal.path.write_bytes(whole)
    assert await lookup.solutions([SUM.id, MOST.id]) == {MOST.id: MOST}


async def test_a_damaged_journal_line_is_replaced_by_the_row_of_the_table(store: SolutionStore) -> None:
    await store.put(SUM)
    path = store.index.journal.path
    path.write_bytes(path.read_bytes().replace(b"return sum", b"return max"))  # the size is as it was

    assert [each.code for each in await found(store, SUM)] == [SUM.code]


async def test_a_damaged_row_in_memory_is_not_answered_from_the_journal(store: SolutionStore) -> None:
    """Its hash is over the vectors too: what is read back from the table decides."""
    await store.put(SUM)
    matrix = store.index._matrix
    assert matrix is not None
    assert matrix.holds(SUM)
    matrix._hashes[0] = "0" * 32
    assert not matrix.holds(SUM)
    assert [each.code for each in await found(store, SUM)] == [SUM.code]
