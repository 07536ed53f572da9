"""What a job may spend: calls by its budget, seconds by its deadline and the model's measured speed."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from stet_ls.engine.api.budget import CALLS, Budget
from stet_ls.engine.api.events import ignore
from stet_ls.engine.api.request import Request
from stet_ls.engine.job.deadline import FIRST_CALL_LIMIT, Deadline
from stet_ls.engine.job.job import Job
from stet_ls.engine.job.ledger import LedgerFile
from stet_ls.engine.job.spending_limits import SpendingLimiter
from stet_ls.engine.model.pool import ModelPool
from stet_ls.engine.model.profiles.profiles import Profile
from stet_ls.engine.settings.schema import Settings, Spending
from stet_ls.engine.storage.paths import user_paths
from stet_ls.validators.source import Source


def no_limits() -> SpendingLimiter:
    return SpendingLimiter(Spending(), LedgerFile(user_paths().ledger))


def job_of(
    speed: float | None, *, budget: Budget = Budget.STANDARD, calls: int = 1, call: float = 20, ago: float = 0
) -> Job:
    """A job that began `ago` seconds ago and made `calls` calls of `call` seconds each."""
    settings = Settings(deadline=30)
    request = Request("refactor", "python", Source(""), budget=budget)
    job = Job(
        request, settings, ModelPool(settings, user_paths()), Profile("mid", 8192, 1, 2, speed), no_limits(), ignore
    )
    job.usage.calls = calls
    job.usage.stages["model"] = calls * call
    job.deadline.started = time.monotonic() - ago
    return job


def first_call(profile: Profile, prompt_tokens: int, reply_tokens: int) -> float:
    return Deadline(30, Budget.STANDARD, profile).of_call(prompt_tokens, reply_tokens, is_first=True)


@pytest.mark.parametrize(
    ("speed", "ago", "again"),
    [
        (100, 5, True),
        (100, 15, False),  # 15 of 30 seconds are left, a call takes 20
        (10, 15, True),  # a slow model has 90
        (10, 75, False),
        (None, 15, True),  # not measured yet: taken for slow
    ],
)
def test_a_further_call_is_made_only_if_it_fits(stet_home: Path, speed: float | None, ago: float, again: bool) -> None:
    assert job_of(speed, ago=ago).may_ask_again() is again


@pytest.mark.parametrize("budget", list(Budget))
def test_the_budget_counts_calls(stet_home: Path, budget: Budget) -> None:
    assert job_of(100, budget=budget, calls=CALLS[budget] - 1, call=0).may_ask_again()
    assert not job_of(100, budget=budget, calls=CALLS[budget], call=0).may_ask_again()


def test_calls_and_time_are_reserved_for_later_steps(stet_home: Path) -> None:
    job = job_of(100, budget=Budget.TASK, calls=10, call=0)
    assert job.may_ask_again()
    job.reserved = 5
    assert job.call_limit_reason() == "the budget task allows 15 calls, 5 of them kept for later steps"
    slow = job_of(10, budget=Budget.TASK, calls=3, call=20, ago=55)  # 120 seconds, and 65 of them are left
    slow.reserved = 2
    assert slow.may_ask_again()
    slow.reserved = 3
    assert not slow.may_ask_again()


def test_the_first_call_of_a_slow_model_is_always_made(stet_home: Path) -> None:
    assert first_call(Profile("mid", 8192, 1, 2, 2), 500, 1000) == pytest.approx(FIRST_CALL_LIMIT, abs=1)
    assert first_call(Profile("mid", 8192, 1, 2, None), 500, 1000) == pytest.approx(FIRST_CALL_LIMIT, abs=1)
    assert first_call(Profile("mid", 8192, 1, 2, 100), 500, 1000) == pytest.approx(30, abs=1)


def test_a_first_call_gets_twice_the_time_that_its_model_should_need(stet_home: Path) -> None:
    slow = Profile("mid", 8192, 1, 2, 10, reading=20.0, token_factor=2.0)
    assert first_call(slow, 500, 800) == pytest.approx(2 * (500 * 2 / 20 + 800 / 10), abs=1)
    assert first_call(slow, 50, 100) == pytest.approx(90, abs=1), "a slow job's own limit is the least"


def test_a_small_model_gets_a_small_prompt(stet_home: Path) -> None:
    settings = Settings()
    request = Request("refactor", "python", Source(""))
    models = ModelPool(settings, user_paths())
    budgets = {
        tier: Job(request, settings, models, Profile(tier, 32768, 1, 1), no_limits(), ignore).prompt_budget()
        for tier in ("tiny", "mid", "strong")
    }
    assert budgets == {"tiny": 2500, "mid": 12000, "strong": 12000}
    assert (
        Job(request, settings, models, Profile("mid", 4096, 1, 1), no_limits(), ignore).prompt_budget()
        == 4096 - 4096 // 3
    )


def test_a_model_with_a_higher_token_count_gets_less_text(stet_home: Path) -> None:
    job = job_of(None)
    job.profile = replace(Profile("mid", 32768, 1, 1), token_factor=1.5)
    assert job.prompt_budget() == 8000


@pytest.mark.parametrize(
    ("speed", "room"),
    [
        (100, 900),  # fast enough for all that is wanted
        (None, 900),  # not measured yet
        (9, 486),  # 60 % of 90 seconds
        (2, 300),  # the least
    ],
)
def test_a_slow_model_gets_a_lower_output_limit(stet_home: Path, speed: float | None, room: int) -> None:
    assert job_of(speed).deadline.reply_room(900, least=300) == room
