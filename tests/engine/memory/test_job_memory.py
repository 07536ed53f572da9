"""The memory in the life of jobs: kept edits are in the next prompt, rejected ones are not, and no job waits for it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.engine import Bench, code_reply
from support.remembering import AGAIN, CODE, FELL, INSTRUCTION, generate, learn, prompt_of
from support.servers.scripted import ScriptedModel

from stet_ls.engine.api.answer import EditOutcome
from stet_ls.engine.memory import job_memory
from stet_ls.engine.settings.schema import MemorySettings, Settings


async def test_a_rephrased_request_in_another_window_gets_the_kept_solution(
    bench: Bench, scripted: ScriptedModel, project: Path
) -> None:
    await learn(bench, scripted, project, EditOutcome.KEPT)
    (project / "src" / "dates.py").write_text(f"import datetime\n\n\n{CODE}\n")

    async with Bench(scripted) as window:
        await window.engine.memory.memory.ask("stats")
        scripted.reply(code_reply("def other():\n    return 1"))
        answer = await generate(window, project, AGAIN, "src/other.py")

    assert "from `src/dates.py`, kept 1 time:" in prompt_of(scripted)
    assert CODE in prompt_of(scripted)
    assert answer.metadata.memory_hits == 1
    assert answer.message.endswith("· remembered: from `src/dates.py`, kept 1 time")


async def test_a_source_that_changed_is_marked(bench: Bench, scripted: ScriptedModel, project: Path) -> None:
    await learn(bench, scripted, project, EditOutcome.KEPT)
    (project / "src" / "dates.py").write_text("def something_else():\n    pass\n")
    scripted.reply(code_reply("def other():\n    return 1"))
    answer = await generate(bench, project, AGAIN, "src/other.py")

    assert "(changed since)" in answer.message


async def test_another_project_does_not_see_the_solution(
    bench: Bench, scripted: ScriptedModel, project: Path, tmp_path: Path
) -> None:
    await learn(bench, scripted, project, EditOutcome.KEPT)
    scripted.reply(code_reply("def other():\n    return 1"))
    other = tmp_path / "other"
    other.mkdir()
    answer = await generate(bench, other, AGAIN, "a.py")

    assert answer.metadata.memory_hits == 0
    assert CODE not in prompt_of(scripted)


@pytest.mark.parametrize("outcome", FELL)
async def test_an_edit_that_was_not_kept_is_not_remembered(
    bench: Bench, scripted: ScriptedModel, project: Path, outcome: EditOutcome
) -> None:
    await learn(bench, scripted, project, outcome)

    assert (await bench.engine.memory.stats())["solutions"] == 0


async def test_the_text_as_changed_by_the_user_is_learned(bench: Bench, scripted: ScriptedModel, project: Path) -> None:
    edited = "def parse_date(text):\n    return datetime.date.fromisoformat(text.strip())"
    await learn(bench, scripted, project, EditOutcome.EDITED, f"import datetime\n\n\n{edited}\n\n\nx = 1\n")
    (row,) = await bench.engine.memory.search(INSTRUCTION, languages=None, limit=3)

    assert (row["code"], row["outcome"]) == (edited, "edited")


async def test_rows_used_in_an_undone_edit_lose_and_leave_the_prompts(
    bench: Bench, scripted: ScriptedModel, project: Path
) -> None:
    await learn(bench, scripted, project, EditOutcome.KEPT)
    for number in range(2):
        scripted.reply(code_reply(f"def other{number}():\n    return 1"))
        answer = await generate(bench, project, AGAIN, f"src/o{number}.py")
        assert answer.metadata.memory_hits == (1 if number == 0 else 0)
        await bench.engine.learn_outcome(answer.metadata.trace, EditOutcome.UNDONE, "")
    (row,) = await bench.engine.memory.search(INSTRUCTION, languages=None, limit=3)

    assert (row["uses"], row["losses"]) == (1, 1)


async def test_a_secret_of_the_project_is_not_remembered(bench: Bench, scripted: ScriptedModel, project: Path) -> None:
    (project / ".env").write_text("SHOP_PASSWORD=correct-horse-battery-9\n")
    scripted.reply(code_reply('def connect():\n    return login("correct-horse-battery-9")'))
    answer = await generate(bench, project, "connect to the shop with its password")
    await bench.engine.learn_outcome(answer.metadata.trace, EditOutcome.KEPT, "")

    assert (await bench.engine.memory.stats())["solutions"] == 0


async def test_a_disabled_memory_starts_and_learns_nothing(
    scripted: ScriptedModel, stet_home: Path, project: Path
) -> None:
    async with Bench(scripted, Settings(memory=MemorySettings(enabled=False))) as bench:
        await learn(bench, scripted, project, EditOutcome.KEPT)
        answer_state = bench.engine.memory.health()

    assert answer_state["status"] == "off"
    assert not (stet_home / "data" / "memory").exists()


async def test_a_memory_that_hangs_is_skipped_and_counted(
    bench: Bench, scripted: ScriptedModel, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await learn(bench, scripted, project, EditOutcome.KEPT)
    worker: Any = bench.engine.memory.memory
    pid = (await worker._worker.lease()).pid
    monkeypatch.setattr(job_memory, "BUDGET", 0.5)
    os.kill(pid, signal.SIGSTOP)
    try:
        scripted.reply(code_reply("def other():\n    return 1"))
        answer = await generate(bench, project, AGAIN, "src/other.py")
    finally:
        os.kill(pid, signal.SIGCONT)

    assert answer.success
    assert answer.metadata.memory_hits == 0
    assert bench.engine.memory.health()["skipped"] == 1


async def test_a_memory_process_that_died_is_skipped_and_restarted(
    bench: Bench, scripted: ScriptedModel, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await learn(bench, scripted, project, EditOutcome.KEPT)
    worker: Any = bench.engine.memory.memory
    os.kill((await worker._worker.lease()).pid, signal.SIGKILL)
    async with asyncio.timeout(60):
        while worker.ready:
            await asyncio.sleep(0.01)
    scripted.reply(code_reply("def other():\n    return 1"))
    answer = await generate(bench, project, AGAIN, "src/other.py")
    assert answer.success

    assert len(await bench.engine.memory.search(INSTRUCTION, languages=None, limit=3)) == 1


async def test_an_edit_without_an_instruction_or_unit_is_not_learned(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.reply(code_reply("x = 1\ny = 2"))
    answer = await bench.run("generate", "$0\n", instruction="two constants")
    await bench.engine.learn_outcome(answer.metadata.trace, EditOutcome.KEPT, "")

    assert bench.engine.memory.health()["learned"] == 0


def test_the_server_process_imports_neither_the_table_nor_numpy() -> None:
    code = "import stet_ls.engine.run, sys; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert not {"lancedb", "pyarrow", "numpy", "onnxruntime", "tokenizers"} & set(modules)
    assert job_memory.BUDGET == 0.150
