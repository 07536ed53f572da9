"""The journal: what was acknowledged is read back, whatever happened to the file's end or middle."""

from __future__ import annotations

import json
import stat
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from stet_ls.engine.errors import StoreError, StoreFault
from stet_ls.engine.memory.solution import Solution
from stet_ls.engine.memory.store import journal
from stet_ls.engine.memory.store.journal import Journal

ONE = Solution("Add two numbers", "def add(a, b):\n    return a + b", "python", evidence=("tests: 3 pass",))
TWO = Solution("Größe in Öre", "def öre():\n    return '\u2028'", "python")


@pytest.fixture
def file(tmp_path: Path) -> Journal:
    found = Journal(tmp_path / "journal.jsonl")
    found.rewrite([])
    return found


def test_written_events_are_read_back(file: Journal) -> None:
    file.append([journal.put(ONE), journal.put(TWO), journal.count(ONE.counted(wins=2))])
    file.append([journal.forget(TWO.id)])

    (only,) = file.solutions().values()
    assert replace(only, last_used_at="") == replace(ONE, wins=2)


def test_reading_an_event_twice_changes_nothing(file: Journal) -> None:
    file.append([journal.put(ONE), journal.count(ONE.counted(uses=1))])
    file.append(file.read().events)

    assert [each.uses for each in file.solutions().values()] == [1]


def test_a_line_truncated_by_a_crash_is_skipped_and_the_next_one_is_whole(file: Journal) -> None:
    file.append([journal.put(ONE)])
    whole = file.path.read_bytes()
    file.append([journal.put(TWO)])
    for cut in range(len(whole) + 1, file.path.stat().st_size):
        file.path.write_bytes(whole + b'{"crc":"0' * (cut % 2) + b"x")
        file.append([journal.put(TWO)])
        assert set(file.solutions()) == {ONE.id, TWO.id}


def test_a_damaged_line_is_counted_and_the_others_are_read(file: Journal) -> None:
    file.append([journal.put(ONE), journal.put(TWO)])
    file.path.write_bytes(file.path.read_bytes().replace(b"two numbers", b"two numbels"))

    tail = file.read()
    assert tail.broken == 1
    assert set(file.solutions()) == {TWO.id}


def test_a_journal_of_a_newer_version_is_refused_in_one_sentence(file: Journal) -> None:
    body = json.dumps({"v": journal.VERSION + 1, "op": "fold"}, separators=(",", ":"))
    with file.path.open("a") as stream:
        stream.write(f'{{"crc":"{zlib.crc32(body.encode()):08x}","e":{body}}}\n')

    with pytest.raises(StoreError, match="newer version of Stet") as raised:
        file.read()
    assert raised.value.fault is StoreFault.NEWER


def test_the_journal_is_private_and_a_new_file_has_a_new_generation(file: Journal) -> None:
    before = file.stamp
    file.rewrite([ONE])

    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert file.stamp[0] != before[0]
