"""The ledger on the disk, and the limits that are held before a call is made."""

from __future__ import annotations

import asyncio
import json
import resource
import signal
from pathlib import Path

import pytest
from support.engine import Bench, code_reply, request_for
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.events import Progress
from stet_ls.engine.errors import LimitError
from stet_ls.engine.job.ledger import LedgerEntry, LedgerFile, days_ago, now, total, totals
from stet_ls.engine.job.spending_limits import Spend, SpendingLimiter
from stet_ls.engine.prompt.tokens import estimate
from stet_ls.engine.run import Engine
from stet_ls.engine.settings.schema import Settings, Spending
from stet_ls.engine.settings.table_schemas import Provider
from stet_ls.engine.storage.paths import user_paths

CODE = "def f(a):$0\n    return a\n"
BETTER = code_reply("def f(a):\n    result = a\n    return result\n")
BROKEN = code_reply("def f(a:\n    return a\n")


def priced(model: ScriptedModel, **settings: object) -> Bench:
    """A bench whose endpoint costs one for a million tokens, sent or received."""
    return Bench(model, Settings(**settings), price_in=1.0, price_out=1.0)  # type: ignore[arg-type]


async def test_each_job_writes_a_line_to_the_ledger(scripted: ScriptedModel, stet_home: Path) -> None:
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


async def test_a_cancelled_job_is_recorded_if_it_had_a_reply(scripted: ScriptedModel, stet_home: Path) -> None:
    scripted.replies([Reply(BROKEN, usage=(100, 20)), Reply(BETTER, first_delay=60)])
    async with priced(scripted) as bench:
        job = asyncio.create_task(bench.run("refactor", CODE))
        await asyncio.to_thread(scripted.wait_request, 2, 30)
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job

    (entry,) = LedgerFile(user_paths().ledger).entries()
    assert (entry.ended, entry.prompt_tokens) == ("cancelled", 100)


async def test_no_call_exceeds_the_daily_token_limit(scripted: ScriptedModel, stet_home: Path) -> None:
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


async def test_a_repair_above_the_cost_limit_is_not_requested(scripted: ScriptedModel, stet_home: Path) -> None:
    scripted.default = Reply(BROKEN, usage=(3000, 3000))
    async with priced(scripted, spending=Spending(job_cost=0.007)) as bench:
        answer = await bench.run("refactor", CODE)

    assert len(scripted.requests) == 1
    assert not answer.success
    assert any("spending.job_cost" in warning for warning in answer.warnings)


def test_concurrent_jobs_share_the_daily_limit(tmp_path: Path) -> None:
    spending = SpendingLimiter(Spending(daily_cost=1.0), LedgerFile(tmp_path))
    spending.reserve("a", Spend(), Spend(10, 0.6))

    with pytest.raises(LimitError, match=r"0\.4 is left"):
        spending.reserve("b", Spend(), Spend(10, 0.6))
    spending.settle("a", Spend(5, 0.1))
    spending.reserve("b", Spend(), Spend(10, 0.6))


def entry(**fields: object) -> LedgerEntry:
    return LedgerEntry(**{"at": now(), "job": "j", "action": "debug", "model": "m", "ended": "offered", **fields})  # type: ignore[arg-type]


def test_spending_is_summed_by_day_model_and_action(tmp_path: Path) -> None:
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


def test_the_last_jobs_are_read_from_the_end_of_the_files(tmp_path: Path) -> None:
    ledger = LedgerFile(tmp_path)
    for month, count in ((now()[:7], 3), ("2020-01", 700), ("2019-12", 1)):
        for number in range(count):
            ledger.add(LedgerEntry(f"{month}-01T00:00:00Z", f"{month} {number}", "refactor", "m" * 150, "offered"))
    long_ago = days_ago(365 * 30)
    assert [each.job for each in ledger.latest(5, since=long_ago)] == [
        "2020-01 698", "2020-01 699", *(f"{now()[:7]} {number}" for number in range(3)),
    ]  # fmt: skip
    assert len(ledger.latest(600, since=long_ago)) == 600, "more than one block"
    assert len(ledger.latest(1_000, since=long_ago)) == 704, "all there are"
    assert len(ledger.latest(1_000, since=days_ago(60))) == 3


def test_malformed_lines_are_skipped(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    ledger = LedgerFile(tmp_path)
    ledger.add(entry(calls=1))
    with next(tmp_path.iterdir()).open("a") as file:
        file.write('{"at": "half\n[]\n{"at": 3, "job": "x", "action": "a", "model": "m", "ended": "offered"}\n')
        file.write(json.dumps({"at": now(), "job": "x", "action": "a", "model": "m", "ended": "offered", "cost": "x"}))

    assert total(ledger.entries()).calls == 1
    assert len(list(ledger.entries())) == 1
    assert [each.getMessage().partition(": ignored ")[2] for each in caplog.records] == ["4 damaged lines"]


@pytest.mark.parametrize("cut", [1, 40, -1])
def test_a_line_truncated_by_a_full_disk_does_not_lose_others(tmp_path: Path, cut: int) -> None:
    ledger = LedgerFile(tmp_path)
    ledger.add(entry(calls=1))
    ledger.add(entry(calls=20))
    (file,) = tmp_path.iterdir()
    first, second = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(first + second[:cut])
    ledger.add(entry(calls=300))

    assert [each.calls for each in ledger.entries()] == [1, *([20] if cut == -1 else []), 300]


def test_a_line_truncated_by_a_file_limit_is_reported_and_does_not_lose_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ledger = LedgerFile(tmp_path)
    ledger.add(entry(calls=1, model="line\u2028separator"))
    (file,) = tmp_path.iterdir()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size + 30, limits[1]))
    try:
        ledger.add(entry(calls=20))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ignored)
    assert "not recorded in the ledger" in caplog.text
    ledger.add(entry(calls=300))

    assert [each.calls for each in ledger.entries()] == [1, 300]


def test_an_unwritable_folder_does_not_fail_a_job(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")

    LedgerFile(tmp_path / "file" / "ledger").add(entry())

    assert "not recorded in the ledger" in caplog.text


@pytest.mark.parametrize("after", [0, 3], ids=["before any text", "in the middle"])
async def test_estimated_tokens_are_recorded(after: int, scripted: ScriptedModel, stet_home: Path) -> None:
    scripted.default = Reply("a b c d e f", stall_after=after)
    async with priced(scripted, spending=Spending(daily_tokens=100_000)) as bench:
        job = asyncio.create_task(bench.run("refactor", CODE))
        await asyncio.to_thread(scripted.wait_request, 1, 30)
        while after and not any(isinstance(event, Progress) for event in bench.events):
            await asyncio.sleep(0)
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job

    (entry,) = LedgerFile(user_paths().ledger).entries()
    assert (entry.calls, entry.prompt_tokens) == (0, 0), "no reply told of any"
    assert entry.uncounted > estimate(CODE)
    assert entry.cost == pytest.approx(entry.uncounted * 1e-6)
    assert LedgerFile(user_paths().ledger).today().tokens == entry.uncounted, "they count for the day's limit"


async def test_an_incomplete_call_counts_before_the_next_one(scripted: ScriptedModel, stet_home: Path) -> None:
    """The endpoint read the prompt, stalled, and told no usage: the second request may go over the limit."""
    scripted.default = Reply(BETTER, stall_after=0, head_first=True)
    async with priced(scripted) as bench:
        prompt = (await bench.engine.show_prompt(request_for("refactor", CODE))).tokens
    limit = Spending(daily_tokens=round(prompt * 1.2) + 1000)  # a reply of 1,000 tokens, once
    with ScriptedModel() as second:
        second.default = Reply(BETTER)
        providers = tuple(
            Provider(name=name, base_url=model.base_url, model=model.models[0], timeout_first_token=3.0)
            for name, model in (("first", scripted), ("second", second))
        )
        engine = Engine(Settings(providers=providers, spending=limit), user_paths())
        try:
            with pytest.raises(LimitError, match=r"spending\.daily_tokens"):
                await engine.run(request_for("refactor", CODE))
        finally:
            await engine.close()

        assert len(scripted.requests) == 1
        assert second.requests == []
    assert LedgerFile(user_paths().ledger).today().tokens > estimate(CODE)
