"""Edits whose outcome is still open: they survive a change of settings, and are learned some time after being kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.engine import Bench, code_reply
from support.remembering import CODE, INSTRUCTION, generate
from support.servers.scripted import ScriptedModel

from stet_ls.engine.api.answer import EditOutcome
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.settings.schema import MemorySettings, Settings


async def test_a_pending_edit_survives_a_change_of_settings(
    bench: Bench, scripted: ScriptedModel, project: Path
) -> None:
    scripted.reply(code_reply(CODE))
    answer = await generate(bench, project, INSTRUCTION)
    async with Bench(scripted, Settings(deadline=40)) as changed:
        changed.engine.memory.inherit(bench.engine.memory)
        await changed.engine.learn_outcome(answer.metadata.trace, EditOutcome.KEPT, f"import datetime\n\n\n{CODE}\n")

        assert (await changed.engine.memory.stats())["solutions"] == 1


EDITED = CODE.replace("(text):", "(text, *more):")


@pytest.mark.parametrize(
    ("left", "outcome", "code"),
    [
        (f"import datetime\n\n\n{CODE}\n", "kept", CODE),
        (f"import datetime\n\n\n{EDITED}\n", "edited", EDITED),
        ("import datetime\n\n\ndef parse_date(text):\n    pass\n", None, ""),
        ("import datetime\n", None, ""),
        (None, None, ""),
    ],
    ids=["still there", "edited", "undone", "gone", "no file"],
)
async def test_an_edit_written_by_a_command_is_learned_if_it_is_still_there_later(
    bench: Bench, scripted: ScriptedModel, project: Path, left: str | None, outcome: str | None, code: str
) -> None:
    scripted.reply(code_reply(CODE))
    before = "import datetime\n\n\ndef parse_date(text):\n    $0pass\n"
    path = project / "src" / "dates.py"
    answer = await bench.run(
        "generate", before, instruction=INSTRUCTION, path=path, workspace=Workspace((project,)), budget=Budget.QUICK
    )
    await bench.engine.memory.applied(answer.metadata.trace)
    if left is not None:
        path.write_text(left)

    await bench.engine.memory.settle()
    assert (await bench.engine.memory.stats())["solutions"] == 0, "it did not stand for long enough yet"
    at_once = Settings(memory=MemorySettings(stands_seconds=0))
    async with Bench(scripted, at_once) as later:
        for _ in range(2):
            await later.engine.memory.settle()
        rows = await later.engine.memory.search(INSTRUCTION, languages=None, limit=3)

    assert [(row["outcome"], row["code"], row["wins"]) for row in rows] == ([(outcome, code, 0)] if outcome else [])
    waiting = later.engine.memory.memory.folder / "awaited.jsonl"
    assert waiting.read_text() == ""


async def test_pending_edits_are_forgotten_too(bench: Bench, scripted: ScriptedModel, project: Path) -> None:
    scripted.reply(code_reply(CODE))
    answer = await generate(bench, project, INSTRUCTION)
    await bench.engine.memory.applied(answer.metadata.trace)
    folder = bench.engine.memory.memory.folder
    assert b"fromisoformat" in (folder / "awaited.jsonl").read_bytes()
    await bench.engine.memory.memory.ask("clear", scope=None)

    assert not any(b"fromisoformat" in path.read_bytes() for path in folder.rglob("*") if path.is_file())
