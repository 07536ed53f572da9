"""What was learnt of a model outlives the process, a crash in mid-write, a damaged file and another server."""

from __future__ import annotations

import json
import multiprocessing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stet_ls.engine.model.profiles.profile_store import VERSION, ProbeScores, ProfileStore, Share, StoredProfile

PROBE = ProbeScores("2026-01-02T03:04:05+00:00", Share(3, 4), Share(2, 4), json="schema", streams=True, context=4096)
RECORD = StoredProfile("http://here/v1", "qwen2.5-coder:7b", 12.5, 300.0, (1.1, 0.95), PROBE)


@pytest.fixture
def store(tmp_path: Path) -> ProfileStore:
    return ProfileStore(tmp_path / "profiles")


def test_a_stored_profile_is_read_back(store: ProfileStore) -> None:
    store.save(RECORD)
    assert store.load(RECORD.endpoint, RECORD.model) == (RECORD, "")
    assert [path.name for path, _, _ in store.all()] == [store.path(RECORD.endpoint, RECORD.model).name]


def test_another_model_or_endpoint_has_its_own_record(store: ProfileStore) -> None:
    store.save(RECORD)
    for endpoint, model in (("http://there/v1", RECORD.model), (RECORD.endpoint, "qwen2.5-coder/7b")):
        assert store.load(endpoint, model) == (StoredProfile(endpoint, model), "")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"version": 1}',
        '{"version": "x", "record": {}}',
        '{"version": 1, "record": {"endpoint": "http://here/v1", "model": "m", "writing": -3}}',
        '{"version": 1, "record": {"endpoint": "http://here/v1", "model": "m", "ratios": ["x"]}}',
        "[" * 100_000,
        "\xff\xfe",
    ],
)
def test_a_damaged_file_is_reported_and_replaced(text: str, store: ProfileStore) -> None:
    path = store.path(RECORD.endpoint, RECORD.model)
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="latin-1")
    found, problem = store.load(RECORD.endpoint, RECORD.model)
    assert found == StoredProfile(RECORD.endpoint, RECORD.model)
    assert str(path) in problem
    assert "damaged" in problem
    store.save(RECORD)
    assert store.load(RECORD.endpoint, RECORD.model) == (RECORD, "")


@given(data=st.binary(max_size=60))
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_file_content_raises(data: bytes, store: ProfileStore) -> None:
    path = store.path(RECORD.endpoint, RECORD.model)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    assert store.load(RECORD.endpoint, RECORD.model)[0] == StoredProfile(RECORD.endpoint, RECORD.model)


def test_a_file_of_a_later_version_is_neither_read_nor_lost(store: ProfileStore) -> None:
    path = store.path(RECORD.endpoint, RECORD.model)
    path.parent.mkdir(parents=True)
    later = json.dumps({"version": VERSION + 1, "record": "something else"})
    path.write_text(later)
    found, problem = store.load(RECORD.endpoint, RECORD.model)
    assert found == StoredProfile(RECORD.endpoint, RECORD.model)
    assert "newer version" in problem
    store.save(RECORD)
    assert path.read_text() == later


def test_an_older_probe_does_not_replace_a_newer_one(store: ProfileStore) -> None:
    newer = replace(PROBE, at="2026-05-05T00:00:00+00:00", well_formed=Share(4, 4))
    store.save(replace(RECORD, probe=newer))
    store.save(replace(RECORD, probe=None, writing=7.0))
    found, _ = store.load(RECORD.endpoint, RECORD.model)
    assert (found.probe, found.writing) == (newer, 7.0)


def test_an_unwritable_folder_is_not_an_error(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "profiles").write_text("a file where the folder should be")
    store = ProfileStore(tmp_path / "profiles")
    store.save(RECORD)
    assert "cannot save the profile of " in caplog.text
    assert store.load(RECORD.endpoint, RECORD.model)[0] == StoredProfile(RECORD.endpoint, RECORD.model)
    assert list(store.all()) == []


def _write_many(folder: Path, number: int) -> None:
    store = ProfileStore(folder)
    for count in range(1, 40):
        store.save(replace(RECORD, writing=float(number * 1000 + count), probe=None))


def test_concurrent_servers_leave_a_whole_file_and_no_temporary_files(store: ProfileStore, tmp_path: Path) -> None:
    store.save(RECORD)
    context = multiprocessing.get_context("spawn")
    servers = [context.Process(target=_write_many, args=(tmp_path / "profiles", number)) for number in (1, 2, 3)]
    for server in servers:
        server.start()
    while any(server.is_alive() for server in servers):
        found, problem = store.load(RECORD.endpoint, RECORD.model)
        assert problem == ""
        assert found.probe == PROBE
    assert [server.exitcode for server in servers] == [0, 0, 0]
    assert sorted(path.suffix for path in (tmp_path / "profiles").iterdir()) == ["", ".json"]
