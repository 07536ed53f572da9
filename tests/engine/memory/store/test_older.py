"""Stores that an older version wrote: what it called proven by tests may never have been executed by one."""

from __future__ import annotations

import json
import logging
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from support.corpora.remembered import DATE, REVERSE, Open

from stet_ls.engine.memory.solution import Solution

KEPT = replace(DATE, outcome="kept")
PROVEN = replace(REVERSE, outcome="proven", evidence=("tests: pass, 2 tests pass",), tests="def test_it(): ...")
PROVEN_AND_KEPT = replace(PROVEN, code="def backwards(items):\n    return list(reversed(items))", wins=2, losses=1)
PROVEN_AND_UNDONE = replace(PROVEN, code="def backwards(items):\n    return items.reverse()", wins=1, losses=1)


def write_old(root: Path, *solutions: Solution) -> None:
    """A journal as it was written before solutions named the edits that they stand on."""
    root.mkdir(mode=0o700)
    lines = []
    for solution in solutions:
        row = solution.to_json()
        assert "grounds" not in row
        body = json.dumps({"v": 1, "op": "put", "solution": row}, separators=(",", ":"))
        lines.append(f'{{"crc":"{zlib.crc32(body.encode()):08x}","e":{body}}}\n')
    (root / "journal.jsonl").write_text("".join(lines))


async def test_old_rows_without_proof_are_kept_or_forgotten(
    root: Path, open_store: Open, caplog: pytest.LogCaptureFixture
) -> None:
    write_old(root, KEPT, PROVEN, PROVEN_AND_KEPT, PROVEN_AND_UNDONE)
    caplog.set_level(logging.WARNING, "stet_ls")
    store = await open_store(with_embedder=False)

    demoted = replace(PROVEN_AND_KEPT, outcome="kept", wins=1, evidence=())
    assert store.index.journal.solutions() == {KEPT.id: KEPT, demoted.id: demoted}
    assert await store.get(demoted.id) == demoted
    assert not any(b"items.reverse()" in path.read_bytes() for path in root.rglob("*") if path.is_file())
    (message,) = [each.getMessage() for each in caplog.records]
    assert message.startswith("3 solutions were proven by tests that may not have executed them: 1 remain as kept")
    caplog.clear()
    await open_store(with_embedder=False)
    assert not caplog.records, "it is told once"


async def test_rows_proven_from_now_on_are_kept(open_store: Open) -> None:
    store = await open_store(with_embedder=False)
    proven = replace(PROVEN, grounds=("proven 1a2b3c",))
    await store.put(proven)

    assert await (await open_store(with_embedder=False)).get(proven.id) == proven
    assert proven.proven
    assert not PROVEN.proven
