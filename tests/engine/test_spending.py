"""The ledger on the disk, and the limits that are held before a call is made."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from support.engine import Bench, code_reply
from support.scripted import Reply, ScriptedModel

from stet_ls.engine.errors import LimitError
from stet_ls.engine.events import Stage
from stet_ls.engine.ledger import Entry, LedgerFile, days_ago, now, total, totals
from stet_ls.engine.models import Budget
from stet_ls.engine.paths import user_paths
from stet_ls.engine.settings import Settings, Spending
from stet_ls.engine.spending import Purse, Spent

CODE = "def f(a):$0\n    return a\n"
BETTER = code_reply("def f(a):\n    result = a\n    return result\n")
BROKEN = code_reply("def f(a:\n    return a\n")


def priced(model: ScriptedModel, **settings: object) -> Bench:
    """A bench whose endpoint costs one for a million tokens, sent or received."""
    return Bench(model, Settings(**settings), price_in=1.0, price_out=1.0)  # type: ignore[arg-type]


async def test_each_job_leaves_a_line(scripted: ScriptedModel, stet_home: Path) -> None:
    scripted.replies([Reply(BETTER, usage=(100, 20)), Reply("no code", usage=(7, 3))])
    async with priced(scripted) as bench:
        await bench.run("refactor", CODE)
        await bench.run("refactor", CODE, budget=Budget.QUICK)

    first, second = LedgerFile(user_paths().ledger).entries()
    assert (first.action, first.ended, first.calls, first.prompt_tokens, first.completion_tokens) == (
        "refactor", "offered", 1, 100, 20,
    )  # fmt: skip
    assert first.cost == pytest.approx(120e-6)
    assert (second.ended, second.prompt_tokens) == ("refused", 7)
    assert first.model == scripted.models[0]


async def test_a_cancelled_job_is_written_down_once_it_had_a_reply(scripted: ScriptedModel, stet_home: Path) -> None:
    scripted.replies([Reply(BROKEN, usage=(100, 20)), Reply(BETTER, first_delay=60)])
    async with priced(scripted) as bench:
        job = asyncio.create_task(bench.run("refactor", CODE))
        await asyncio.to_thread(scripted.wait_request, 2, 30)
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job

    (entry,) = LedgerFile(user_paths().ledger).entries()
    assert (entry.ended, entry.prompt_tokens) == ("cancelled", 100)


async def test_no_call_goes_over_the_days_tokens(scripted: ScriptedModel, stet_home: Path) -> None:
    scripted.default = Reply(BETTER, usage=(3000, 500))
    limits = {"spending": Spending(daily_tokens=4500)}
    async with priced(scripted, **limits) as bench:
        await bench.run("refactor", CODE)
        with pytest.raises(LimitError, match=r"Today's limit of 4,500 \(spending.daily_tokens\)"):
            await bench.run("refactor", CODE)
    async with priced(scripted, **limits) as bench:  # another process, the same day
        with pytest.raises(LimitError):
            await bench.run("refactor", CODE)

    assert len(scripted.requests) == 1


async def test_a_repair_that_would_cost_too_much_is_not_made(scripted: ScriptedModel, stet_home: Path) -> None:
    scripted.default = Reply(BROKEN, usage=(3000, 3000))
    async with priced(scripted, spending=Spending(job_cost=0.007)) as bench:
        answer = await bench.run("refactor", CODE)

    assert len(scripted.requests) == 1
    assert not answer.success
    assert any("spending.job_cost" in warning for warning in answer.warnings)


def test_jobs_that_run_side_by_side_share_the_day(tmp_path: Path) -> None:
    purse = Purse(Spending(daily_cost=1.0), LedgerFile(tmp_path))
    purse.reserve("a", Spent(), Spent(10, 0.6))

    with pytest.raises(LimitError, match=r"0\.4 is left"):
        purse.reserve("b", Spent(), Spent(10, 0.6))
    purse.settle("a", Spent(5, 0.1))
    purse.reserve("b", Spent(), Spent(10, 0.6))


def entry(**fields: object) -> Entry:
    return Entry(**{"at": now(), "job": "j", "action": "debug", "model": "m", "ended": "offered", **fields})  # type: ignore[arg-type]


def test_sums_by_day_model_and_action(tmp_path: Path) -> None:
    ledger = LedgerFile(tmp_path)
    for each in (entry(calls=2, cost=0.5), entry(calls=1, cost=None, action="test"), entry(at="2020-01-02T00:00:00Z")):
        ledger.add(each)

    sums = totals(ledger.entries(), "action")
    assert {name: (sum_.jobs, sum_.calls, sum_.cost, sum_.unpriced) for name, sum_ in sums.items()} == {
        "debug": (2, 2, 0.5, 0),
        "test": (1, 1, 0.0, 1),
    }
    assert next(iter(totals(ledger.entries(), "day"))) == "2020-01-02"
    assert total(ledger.entries(since=days_ago(30))).jobs == 2
    assert ledger.today().jobs == 2


def test_lines_that_are_none_are_passed_over(tmp_path: Path) -> None:
    ledger = LedgerFile(tmp_path)
    ledger.add(entry(calls=1))
    with next(tmp_path.iterdir()).open("a") as file:
        file.write('{"at": "half\n[]\n{"at": 3, "job": "x", "action": "a", "model": "m", "ended": "offered"}\n')
        file.write(json.dumps({"at": now(), "job": "x", "action": "a", "model": "m", "ended": "offered", "cost": "x"}))

    assert total(ledger.entries()).calls == 1
    assert len(list(ledger.entries())) == 1


def test_a_folder_that_cannot_be_written_fails_no_job(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")

    LedgerFile(tmp_path / "file" / "ledger").add(entry())

    assert "not in the ledger" in caplog.text


async def test_jobs_wait_for_their_turn_in_order_and_may_leave(scripted: ScriptedModel, stet_home: Path) -> None:
    scripted.default = Reply(BETTER, first_delay=60)
    async with priced(scripted, jobs_at_once=1) as bench:
        first = asyncio.create_task(bench.run("refactor", CODE))
        await asyncio.to_thread(scripted.wait_request, 1, 30)
        others = [asyncio.create_task(bench.run("refactor", CODE)) for _ in range(3)]
        while len(queued(bench)) < 3:
            await asyncio.sleep(0)
        assert queued(bench) == ["1 ahead", "2 ahead", "3 ahead"]
        assert len(scripted.requests) == 1

        others[0].cancel()
        scripted.default = Reply(BETTER)
        first.cancel()
        answers = await asyncio.gather(first, *others, return_exceptions=True)

    assert [type(answer) for answer in answers[:2]] == [asyncio.CancelledError] * 2
    assert all(not isinstance(answer, BaseException) and answer.success for answer in answers[2:])
    assert len(scripted.requests) == 3


def queued(bench: Bench) -> list[str]:
    return [event.detail for event in bench.events if isinstance(event, Stage) and event.name == "queued"]
