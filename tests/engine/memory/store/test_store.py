"""What is remembered, what is found, and in which order."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.corpora.remembered import DATE, REVERSE, Open

from stet_ls.engine.errors import StoreError, StoreFault
from stet_ls.engine.memory.solution import MOST_GROUNDS, Solution
from stet_ls.engine.memory.store import maintenance
from stet_ls.engine.memory.store.solution_store import SolutionStore, StoreResult


async def found(store: SolutionStore, query: str, **how: object) -> list[str]:
    return [hit.solution.instruction for hit in await store.search(query, **how)]  # type: ignore[arg-type]


async def test_a_rephrased_request_finds_the_solution_and_another_does_not(store: SolutionStore) -> None:
    await store.put(DATE)
    await store.put(REVERSE)

    assert await found(store, "read a date in ISO form from text") == [DATE.instruction]
    assert await found(store, "draw a window with three buttons") == []


async def test_a_solution_is_found_after_the_store_is_reopened(store: SolutionStore, open_store: Open) -> None:
    stored = await store.put(DATE)
    again = await open_store()

    assert await again.get(stored.id) == DATE
    assert await again.get(stored.id[:8]) == DATE
    with pytest.raises(StoreError, match="Unknown solution 'nonsense'"):
        await again.get("nonsense")


async def test_language_and_scope_are_filters(store: SolutionStore) -> None:
    await store.put(replace(DATE, scope="a"))
    await store.put(replace(DATE, scope="b", language="go"))

    assert len(await found(store, DATE.instruction)) == 2
    assert len(await found(store, DATE.instruction, scope="a")) == 1
    assert await found(store, DATE.instruction, scope="c") == []
    assert await found(store, DATE.instruction, scope="a", languages=["go"]) == []


async def test_storing_the_same_solution_again_counts_a_win(store: SolutionStore) -> None:
    first = await store.put(DATE)
    second = await store.put(replace(DATE, code=DATE.code + "  \n", instruction="parse an ISO  date from a string"))

    assert (second.id, second.how) == (first.id, "known")
    assert (await store.get(first.id)).wins == 1
    assert await store.index.table.count() == 1


async def test_the_better_proven_of_two_similar_solutions_is_kept(store: SolutionStore) -> None:
    await store.put(DATE)
    proven = replace(DATE, instruction="Parse an ISO date from a string.", outcome="proven")
    assert (await store.put(proven)).how == "replaced"
    assert (await store.put(replace(DATE, instruction="Parse an ISO date from a  string!"))).how == "known"

    (hit,) = await store.search(DATE.instruction)
    assert (hit.solution.outcome, hit.solution.wins) == ("proven", 2)


async def test_an_offered_solution_replaces_none_until_the_user_keeps_it(store: SolutionStore) -> None:
    await store.put(DATE)
    offer = replace(DATE, instruction="Parse an ISO date from a string.", outcome="proven", grounds=("proven ab12",))
    assert await store.put(offer) == StoreResult(DATE.id, "known")
    assert await store.get(DATE.id) == DATE

    assert (await store.put(replace(offer, grounds=("proven ab12", "kept ab12")))).how == "replaced"
    (hit,) = await store.search(DATE.instruction)
    assert (hit.solution.outcome, hit.solution.times_kept) == ("proven", 2)


async def test_the_edits_listed_for_a_solution_are_bounded_and_all_counted(store: SolutionStore) -> None:
    for number in range(MOST_GROUNDS + 5):
        await store.put(replace(DATE, grounds=(f"kept {number:04x}",)))
    kept = await store.get(DATE.id)

    assert (len(kept.grounds), kept.times_kept) == (MOST_GROUNDS, MOST_GROUNDS + 5)
    for each in kept.grounds[1:]:
        await store.retract(each.split()[1])
    assert (await store.get(DATE.id)).grounds == ("kept",), "it was kept by edits that are not named any more"


async def test_outcomes_order_equally_similar_solutions(store: SolutionStore) -> None:
    loser = replace(DATE, code="def parse_date(text):\n    return datetime.strptime(text, '%d')  # other", scope="x")
    winner = replace(DATE, scope="y")
    for each in (loser, winner):
        await store.put(each)
    await store.count([loser.id], losses=3)
    await store.count([winner.id], wins=3)

    hits = await store.search(DATE.instruction)
    assert [hit.solution.scope for hit in hits] == ["y", "x"]
    assert (hits[1].solution.losses, hits[0].solution.wins) == (3, 3)


@pytest.mark.parametrize("field", ["instruction", "code", "tests", "evidence"])
async def test_a_secret_is_in_no_file(store: SolutionStore, field: str) -> None:
    secret = "ghp_" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2"
    value = f'token = "{secret}"'
    solution = replace(DATE, **{field: (value,) if field == "evidence" else value})  # type: ignore[arg-type]
    with pytest.raises(StoreError, match=rf"its {field} contains a possible secret") as raised:
        await store.put(solution)

    assert raised.value.fault is StoreFault.REFUSED
    assert secret not in str(raised.value)
    assert await store.put_many([solution]) == 0
    assert not any(secret.encode() in path.read_bytes() for path in store.index.root.rglob("*") if path.is_file())


async def test_without_an_embedder_words_are_compared(open_store: Open) -> None:
    store = await open_store(with_embedder=False)
    await store.put(DATE)
    await store.put(REVERSE)

    (hit,) = await store.search("parsing of ISO dates from strings", min_score=0.7)
    assert (hit.solution, hit.by) == (DATE, "words")
    for hostile in ('"', "AND (", "x:y*", "", "日本語", "a" * 5000, "'; DROP TABLE"):
        assert await store.search(hostile) == []


async def test_a_new_embedder_processes_all_rows_in_the_background(open_store: Open) -> None:
    words = await open_store(with_embedder=False)
    await words.put(DATE)
    await words.put(REVERSE)
    store = await open_store()

    assert store.index.waiting == 2
    assert [hit.by for hit in await store.search(DATE.instruction)] == ["words"]
    assert await maintenance.embed_waiting(store) == 2
    assert store.index.waiting == 0
    assert [hit.by for hit in await store.search(DATE.instruction)] == ["vectors"]


async def test_the_size_limit_removes_losing_solutions_first(open_store: Open) -> None:
    store = await open_store(with_embedder=False, most=20)
    rows = [Solution(f"Task number {n}", f"def f{n}():\n    return {n}", "python") for n in range(30)]
    await store.put_many(rows)
    await store.count([rows[29].id], losses=2)
    await store.count([row.id for row in rows[:15]], uses=1)

    assert await maintenance.evict(store) == 11
    assert set(store.index.journal.solutions()) >= {row.id for row in rows[:15]}
    assert rows[29].id not in store.index.journal.solutions()


async def test_a_clock_that_jumps_changes_no_result(store: SolutionStore) -> None:
    await store.put(replace(DATE, created_at="2999-01-01T00:00:00+00:00"))
    await store.put(replace(REVERSE, created_at="not a date"))

    assert await found(store, DATE.instruction) == [DATE.instruction]
    assert await found(store, REVERSE.instruction) == [REVERSE.instruction]


async def test_lone_surrogates_are_removed_from_remembered_text(store: SolutionStore) -> None:
    solution = Solution.from_json({**DATE.to_json(), "instruction": "Parse \udcff dates"})
    stored = await store.put(solution)

    assert (await store.get(stored.id)).instruction == "Parse ? dates"


async def test_solutions_much_less_similar_than_the_best_are_left_out(store: SolutionStore) -> None:
    near = replace(
        DATE, instruction="Format a date as an ISO string", code="def show(day):\n    return day.isoformat()"
    )
    for each in (DATE, near, REVERSE):
        await store.put(each)

    every = await store.search(DATE.instruction, min_score=-1.0, limit=10)
    alone = {each.instruction: (await _score(store, each)) for each in (DATE, near, REVERSE)}
    assert (
        alone[DATE.instruction] - alone[near.instruction] <= 0.15 < alone[DATE.instruction] - alone[REVERSE.instruction]
    )
    assert [hit.solution.instruction for hit in every] == [DATE.instruction, near.instruction]


async def _score(store: SolutionStore, wanted: Solution) -> float:
    """How alike a solution is to the words of DATE, whatever else there is."""
    vector = (await store.encode([DATE.instruction]))[0]
    return (await store.index.nearest(vector, 10, None, None))[wanted.id]
