"""An answer says in which box its code ran: the weakest of them, and none where nothing ran."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from support.engine import Bench, code_reply
from support.servers.scripted import ScriptedModel

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.errors import PolicyError
from stet_ls.engine.sandbox.isolation import IsolationLevel, IsolationReport, weakest
from stet_ls.engine.sandbox.isolation_record import RecordingBox
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.sandbox.spec import RunSpec
from stet_ls.engine.settings.schema import Checks, SandboxSettings, Settings
from stet_ls.server.evidence.evidence_text import report, sandbox_text

OLD = "def double(x: int) -> int:\n    return x $0+ x\n"
NEW = "def double(x: int) -> int:\n    return 2 * x\n"


async def answer_in(scripted: ScriptedModel, settings: Settings) -> Answer:
    scripted.replies([code_reply(NEW)] * 3)
    async with Bench(scripted, settings) as bench:
        return await bench.run("refactor", OLD)


@pytest.mark.parametrize("backend", ["", "landlock"])
async def test_the_sandbox_is_named_in_the_answer_and_its_record(
    scripted: ScriptedModel, stet_home: Path, probes: Path, backend: str
) -> None:
    sandbox = Sandbox(IsolationLevel.STRONG, probes, backend=backend)
    best = await sandbox.best()
    if best is None or not best.report.level.reaches(IsolationLevel.STRONG):
        pytest.skip(f"code cannot run here: {best and best.report.why_not_stronger}")
    answer = await answer_in(scripted, Settings(sandbox=SandboxSettings(backend=backend)))
    assert answer.to_json()["isolation"] == best.report.to_json()
    assert best.report.level is IsolationLevel.FULL or "(strong), because " in sandbox_text(answer)
    assert sandbox_text(answer).startswith(f"Code ran in {best.report}")
    assert sandbox_text(answer) in " ".join(report(answer, answer.evidence, {}).replace("\\", "").split())
    (record,) = (stet_home / "data" / "traces").glob("*.json*")
    assert json.loads(record.read_text())["answer"]["isolation"]["level"] == best.report.level


async def test_an_answer_without_a_run_names_no_sandbox(scripted: ScriptedModel, stet_home: Path) -> None:
    answer = await answer_in(scripted, Settings(checks=Checks(validation=False)))
    assert answer.isolation is None
    assert "- No code ran" in report(answer, answer.evidence, {}).splitlines()


def test_the_weakest_of_several_sandboxes_is_reported() -> None:
    full, strong, partial = (IsolationReport(name, "", IsolationLevel(name)) for name in ("full", "strong", "partial"))
    assert weakest(None, full, partial, strong) is partial
    assert weakest(full, full) is full
    assert weakest(None) is None


@pytest.fixture
async def recorded(probes: Path) -> tuple[RecordingBox, list[IsolationReport]]:
    sandbox = Sandbox(IsolationLevel.STRONG, probes)
    best = await sandbox.best()
    if best is None or not best.report.level.reaches(IsolationLevel.STRONG):
        pytest.skip("code may not run here")
    seen: list[IsolationReport] = []
    return RecordingBox(sandbox, seen.append), seen


async def test_a_stopped_run_counts_as_run(recorded: tuple[RecordingBox, list[IsolationReport]]) -> None:
    box, seen = recorded
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1.0):
            await box.run(RunSpec(("sleep", "60")))
    assert len(seen) == 1


async def test_a_missing_program_does_not_count_as_run(recorded: tuple[RecordingBox, list[IsolationReport]]) -> None:
    box, seen = recorded
    await box.run(RunSpec(("no-such-program-anywhere",)))
    assert seen == []


async def test_a_refused_run_does_not_count_as_run(tmp_path: Path) -> None:
    seen: list[IsolationReport] = []
    with pytest.raises(PolicyError):
        await RecordingBox(Sandbox(IsolationLevel.FULL, tmp_path / "box", backend="nothing"), seen.append).run(
            RunSpec(("true",))
        )
    assert seen == []
