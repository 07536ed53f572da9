"""What calls teach: how a model counts tokens, how fast it is, and that both are there after a restart."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.api.message import Message
from stet_ls.engine.model.profiles.profile_store import ProbeScores, ProfileStore, Share, StoredProfile
from stet_ls.engine.model.profiles.profiles import Profile, profile_for, with_measurements
from stet_ls.engine.model.profiles.token_calibration import TokenCalibration
from stet_ls.engine.settings.table_schemas import Provider
from stet_ls.engine.storage.paths import Paths

LONG = (Message("user", "word " * 2000),)


def correction_of(*pairs: tuple[int, int]) -> TokenCalibration:
    correction = TokenCalibration()
    for estimated, counted in pairs:
        correction.learn(estimated, counted)
    return correction


def test_three_token_counts_are_needed_and_their_median_is_used() -> None:
    assert correction_of((1000, 1300), (1000, 1300)).factor == 1.0
    assert correction_of((1000, 1300), (1000, 1400), (500, 600)).factor == 1.3


def test_single_outliers_are_ignored() -> None:
    honest = [(1000, 1200)] * 8
    assert correction_of(*honest, (1000, 1999), (1000, 700), (1000, 1999)).factor == 1.2


@pytest.mark.parametrize("pair", [(100, 300), (1000, 2), (1000, 0), (1000, 90_000), (1000, 500)])
def test_implausible_token_counts_are_ignored(pair: tuple[int, int]) -> None:
    """Short prompts, cut prompts, and counts out of this world."""
    assert correction_of(*[pair] * 10).ratios == ()


def test_a_truncated_prompt_is_detected_by_the_usual_count() -> None:
    assert not TokenCalibration().was_cut(1000, 700)
    assert correction_of(*[(1000, 1500)] * 5).was_cut(1000, 700)
    assert not correction_of(*[(1000, 750)] * 5).was_cut(1000, 500)
    assert not TokenCalibration().was_cut(150, 10)


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6))))
def test_the_token_factor_is_bounded(pairs: list[tuple[int, int]]) -> None:
    correction = correction_of(*pairs)
    assert 0.5 <= correction.factor <= 2.0
    assert len(correction.ratios) <= 15


async def test_measurements_survive_a_restart(scripted: ScriptedModel, pool: Callable, provider: Provider) -> None:
    scripted.default = Reply("word " * 20, usage=(2600, 20), delay=0.01)
    asker = pool(provider)
    for _ in range(3):
        await asker.ask(LONG)
    before = await asker.models.profile()
    await asker.models.close()
    after = await pool(provider).models.profile()
    assert after == before
    assert after.token_factor == 1.3
    assert after.tokens_per_second is not None
    assert after.reading is not None


async def test_a_slow_model_is_known_to_be_slow_at_the_first_call(
    scripted: ScriptedModel, pool: Callable, provider: Provider, paths: Paths
) -> None:
    """Its prompt may take three times as long as it usually does; a stranger has two seconds."""
    ProfileStore(paths.profiles).save(StoredProfile(scripted.base_url, "scripted-7b", writing=5.0, reading=500.0))
    scripted.reply("fine", first_delay=4.0)
    asker = pool(provider.model_copy(update={"timeout_first_token": 2.0}))
    assert (await asker.ask(LONG)).text == "fine"


async def test_a_damaged_profile_is_reported_once(
    scripted: ScriptedModel, pool: Callable, provider, paths: Paths
) -> None:
    path = ProfileStore(paths.profiles).path(scripted.base_url, "scripted-7b")
    path.parent.mkdir(parents=True)
    path.write_text("{")
    asker = pool(provider)
    first, second = await asker.ask(), await asker.ask()
    assert [str(path) in warning for warning in first.warnings] == [True]
    assert second.warnings == ()
    await asker.models.close()
    assert (await pool(provider).ask()).warnings == ()


async def test_an_endpoint_without_streaming_gets_the_time_to_write_a_reply(
    scripted: ScriptedModel, pool: Callable, provider: Provider
) -> None:
    scripted.replies([Reply("fine", mode="json"), Reply("fine", mode="json", first_delay=6.0)])
    asker = pool(provider.model_copy(update={"timeout_first_token": 3.0}))
    assert "does not stream" in (await asker.ask()).warnings[0]
    second = await asker.ask()
    assert (second.text, second.warnings) == ("fine", ())


MID = profile_for("some-7b")


def profile_of(**probe) -> Profile:
    return with_measurements(MID, StoredProfile("e", "some-7b", probe=ProbeScores("2026-01-01", **probe)))


def test_the_result_of_a_self_test_sets_the_profile() -> None:
    assert (MID.samples, MID.repairs, MID.search_replace, MID.json) == (2, 2, False, None)
    assert profile_of(context=4096).context == 4096
    assert profile_of(max_output=777).max_output == 777
    assert profile_of(solved=Share(4, 4)).samples == 2
    assert profile_of(solved=Share(0, 4)).samples == 1
    assert profile_of(solved=Share(2, 4)).samples == 2
    assert profile_of(well_formed=Share(2, 4)).repairs == 3
    assert profile_of(well_formed=Share(4, 4)).repairs == 2
    assert profile_of(search_replace=Share(2, 2)).search_replace
    assert not profile_of(search_replace=Share(1, 2)).search_replace
    assert not profile_of(search_replace=Share(1, 1)).search_replace, "once is no proof"
    assert [profile_of(json=kind).json for kind in ("", "no", "object", "schema")] == [None, False, True, True]
    assert profile_of(loops=1).temperature == 0.4
