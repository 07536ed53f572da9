"""A job's record gives the same answer once more; a changed one says what differs, a broken one says where."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path

import pytest
from support.corpora.planted import NAMED, PASSWORDS, TOKENS
from support.engine import Bench, code_reply
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.api.budget import Budget
from stet_ls.engine.errors import EndpointError, LimitError, NoModelError, UsageError
from stet_ls.engine.job.ledger import JobEnd
from stet_ls.engine.replay import Replayed, replay
from stet_ls.engine.settings.schema import ModelSettings, Settings, Spending, TraceSettings
from stet_ls.engine.storage.paths import user_paths
from stet_ls.engine.trace.record import Record, parse, read
from stet_ls.engine.trace.record_store import RecordStore

SIGN = "import os\n\n\ndef sign(x):\n    $0if x > 0:\n        return 1\n    return -1\n"
SHORT = "def sign(x):\n    return 1 if x > 0 else -1"
SLOW = "def sign(x):\n    return sorted([1 if x > 0 else -1] * 500)[0]"
"""Slower by far: what is about as fast may be measured otherwise the next time."""


async def recorded(bench: Bench) -> Record:
    """The record of the last job."""
    await bench.engine.close()
    store = RecordStore(user_paths().traces, 200)
    return read(store.find(""))


async def again(record: Record) -> Replayed:
    """What the record's text, read again, comes to."""
    return await replay(parse(record.to_json(), "r.json"), "r.json", Settings(), user_paths())


@pytest.mark.parametrize("action", ["debug", "refactor", "optimize", "generate", "test", "explain", "analyze"])
async def test_a_replay_gives_the_same_answer(bench: Bench, scripted: ScriptedModel, action: str) -> None:
    scripted.default = Reply(code_reply(SLOW if action == "optimize" else SHORT))
    answer = await bench.run(action, SIGN, instruction="shorter")
    record = await recorded(bench)
    assert record.id == answer.metadata.trace
    result = await again(record)
    assert result.diff == ""
    assert result.asked == result.recorded == len(scripted.requests)


@pytest.mark.parametrize(("check", "differs"), [("timing", False), ("lint", True)])
async def test_measured_values_are_not_a_difference(
    bench: Bench, scripted: ScriptedModel, check: str, differs: bool
) -> None:
    scripted.default = Reply(code_reply(SHORT))
    await bench.run("refactor", SIGN, budget=Budget.QUICK)
    record = await recorded(bench)
    assert record.answer is not None
    record.answer["evidence"] = [*record.answer["evidence"], {"check": check, "verdict": "unknown"}]
    assert bool((await again(record)).diff) is differs


async def test_a_record_of_an_earlier_version_is_replayed(bench: Bench, scripted: ScriptedModel) -> None:
    """Its answer has a sentence in other words, no parts of it, and tiers by number."""
    scripted.default = Reply(code_reply(SHORT))
    await bench.run("refactor", SIGN, budget=Budget.QUICK)
    record = await recorded(bench)
    assert record.answer is not None
    assert record.answer.pop("summary")["did"] == "Refactored"
    record.answer["message"] = "Refactored `sign` · same behavior on 220 inputs (220 valid)"
    record.answer["metadata"]["evidence_tier"] = "E4"
    record.answer["evidence"] = [{**each, "detail": "in other words"} for each in record.answer["evidence"]]
    assert (await again(record)).diff == ""

    record.answer["code"] = "return 0"
    assert "return 0" in (await again(record)).diff


@pytest.mark.parametrize(("part", "other"), [("did", "Fixed"), ("gains", ["complexity 9 → 4"]), ("caution", "refuted")])
async def test_another_summary_is_a_difference(bench: Bench, scripted: ScriptedModel, part: str, other: object) -> None:
    scripted.default = Reply(code_reply(SHORT))
    await bench.run("refactor", SIGN, budget=Budget.QUICK)
    record = await recorded(bench)
    assert record.answer is not None
    record.answer["summary"][part] = other
    assert (await again(record)).diff


async def test_a_replay_goes_through_repairs(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.replies([Reply("Sure!"), Reply(code_reply("def sign(x:")), Reply(code_reply(SHORT))])
    answer = await bench.run("refactor", SIGN, budget=Budget.THOROUGH)
    assert answer.success
    record = await recorded(bench)
    assert [len(call.messages) + call.same for call in record.calls] == sorted(
        len(call.messages) + call.same for call in record.calls
    )
    result = await again(record)
    assert (result.diff, result.asked) == ("", 3)


async def test_a_refused_job_is_replayed(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.default = Reply("I cannot help with that.")
    assert not (await bench.run("refactor", SIGN)).success
    record = await recorded(bench)
    assert record.ended is JobEnd.REFUSED
    assert (await again(record)).diff == ""


async def test_a_failed_job_is_replayed(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.default = Reply.failure(401, "no such key")
    with pytest.raises(EndpointError):
        await bench.run("refactor", SIGN)
    record = await recorded(bench)
    assert record.ended is JobEnd.FAILED
    assert record.error is not None
    assert record.error.kind == "EndpointError"
    result = await again(record)
    assert (result.diff, result.ended) == ("", JobEnd.FAILED)


async def test_a_job_without_an_endpoint_leaves_a_record(stet_home: Path) -> None:
    with ScriptedModel() as model:
        bench = Bench(model)
    with pytest.raises(NoModelError):
        await bench.run("refactor", SIGN)
    record = await recorded(bench)
    assert record.error is not None
    assert record.error.kind == "NoModelError"
    assert record.calls[0].requests[0].fault == "unreachable"
    assert (await again(record)).diff == ""


async def test_a_cancelled_job_leaves_a_record(bench: Bench, scripted: ScriptedModel) -> None:
    release = threading.Event()
    scripted.default = Reply(code_reply(SHORT), hold=release)
    job = asyncio.create_task(bench.run("refactor", SIGN))
    await asyncio.to_thread(scripted.wait_request, 1)
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    release.set()
    record = await recorded(bench)
    assert record.ended is JobEnd.CANCELLED
    result = await again(record)
    assert (result.diff, result.ended) == ("", JobEnd.CANCELLED)


async def test_a_cancelled_replay_is_cancelled(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.default = Reply(code_reply(SHORT))
    await bench.run("refactor", SIGN)
    record = await recorded(bench)
    task = asyncio.create_task(again(record))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_another_reply_is_a_difference(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.default = Reply(code_reply(SHORT))
    await bench.run("refactor", SIGN)
    text = (await recorded(bench)).to_json().replace("1 if x > 0 else -1\\n```", "2 if x > 0 else -1\\n```")
    result = await again(parse(text, "r.json"))
    assert "-" in result.diff
    assert "return 2 if x > 0" in result.diff


@pytest.mark.parametrize("kind", sorted(TOKENS)[::6])
async def test_a_secret_in_the_code_is_replayed_without_it(
    kind: str, bench: Bench, scripted: ScriptedModel, stet_home: Path
) -> None:
    import random

    secret = TOKENS[kind](random.Random(3))
    text = f'KEY = "{secret}"; N = 1\n\n\ndef call():\n    $0key = "{secret}"\n    return send(key, N)\n'
    scripted.default = Reply(code_reply('def call():\n    return send("STET_SECRET_1", N)'))
    answer = await bench.run("refactor", text, instruction=f"say {secret} once")
    assert answer.success, answer.message
    record = await recorded(bench)
    assert secret not in record.to_json()
    assert secret.rpartition("/")[2] not in record.to_json()
    assert record.request.hidden
    assert (await again(record)).diff == ""


@pytest.mark.parametrize("form", NAMED["python"][:6])
async def test_a_secret_recognized_by_its_position_is_not_recorded(
    form: str, bench: Bench, scripted: ScriptedModel
) -> None:
    import random

    secret = PASSWORDS["words"](random.Random(5))
    text = f"{form.format(v=secret)}\n\ndef call(x):\n    $0if x > 0:\n        return 1\n    return 0\n"
    scripted.default = Reply(code_reply("def call(x):\n    return 1 if x > 0 else 0"))
    assert (await bench.run("refactor", text)).success
    record = await recorded(bench)
    assert secret not in record.to_json()
    assert (await again(record)).diff == ""


async def test_a_secret_invented_by_the_model_is_not_recorded(bench: Bench, scripted: ScriptedModel) -> None:
    import random

    secret = TOKENS["github classic"](random.Random(9))
    scripted.default = Reply(code_reply(f'def sign(x, key="{secret}"):\n    return 1'))
    await bench.run("refactor", SIGN)
    record = await recorded(bench)
    assert secret not in record.to_json()
    assert (await again(record)).diff == ""


async def test_secret_files_are_not_in_a_record(bench: Bench, scripted: ScriptedModel, tmp_path: Path) -> None:
    from stet_ls.engine.api.request import Buffer, Workspace

    workspace = Workspace(
        (tmp_path,),
        (Buffer(tmp_path / ".env", 1, "APP_PASSPHRASE=moon-harbour-91\n"), Buffer(tmp_path / "b.py", 1, "B = 1\n")),
    )
    scripted.default = Reply(code_reply(SHORT))
    await bench.run(
        "refactor", SIGN, workspace=workspace, instruction="moon-harbour-91", context={".env": "moon-harbour-91"}
    )
    record = await recorded(bench)
    assert "moon-harbour-91" not in record.to_json()
    assert [Path(buffer.path).name for buffer in record.request.buffers] == ["b.py"]
    assert record.request.left_out


async def test_recording_can_be_switched_off(scripted: ScriptedModel, stet_home: Path) -> None:
    scripted.default = Reply(code_reply(SHORT))
    async with Bench(scripted, Settings(trace=TraceSettings(enabled=False))) as bench:
        await bench.run("refactor", SIGN)
    assert not user_paths().traces.exists()


async def test_only_the_latest_records_are_kept_and_they_are_private(scripted: ScriptedModel, stet_home: Path) -> None:
    scripted.default = Reply(code_reply(SHORT))
    async with Bench(scripted, Settings(trace=TraceSettings(keep=3))) as bench:
        ids = []
        for _ in range(5):
            ids.append((await bench.run("refactor", SIGN)).metadata.trace)
            await bench.engine.record_outcome(ids[-1], "applied")
    store = RecordStore(user_paths().traces, 3)
    files = store.files()
    assert [store.outcome(file) for file in files] == ["applied"] * 3
    assert len(list(user_paths().traces.iterdir())) == 6, "what became of a job goes with its record"
    reported = [file.name.partition("-")[2].removesuffix(".json") for file in files]
    assert reported == ids[:1:-1], "the newest first, also of those that ended within a second"
    assert user_paths().traces.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


async def test_an_unavailable_record_folder_does_not_fail_a_job(
    bench: Bench, scripted: ScriptedModel, caplog: pytest.LogCaptureFixture
) -> None:
    user_paths().data.mkdir(parents=True, exist_ok=True)
    user_paths().traces.write_text("a file is in the way")
    scripted.default = Reply(code_reply(SHORT))
    assert (await bench.run("refactor", SIGN)).success
    await bench.engine.close()
    assert "no record of job" in caplog.text


async def test_a_job_does_not_wait_for_its_record(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.default = Reply(code_reply(SHORT))
    await bench.run("refactor", SIGN)
    # Nothing between the answer and here gave the loop a turn, so the writer's thread cannot have been waited for.
    assert not list(user_paths().traces.glob("*.json")) or bench.engine._traces._writing
    await bench.engine.close()
    assert len(list(user_paths().traces.glob("*.json"))) == 1


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda data: data.update(stet_trace=99), "stet_trace: the format version is 99"),
        (lambda data: data.pop("stet_trace"), "stet_trace: no version"),
        (lambda data: data["request"].pop("text"), "request.text"),
        (lambda data: data["request"].update(selection=[5, 99999]), "request.selection"),
        (lambda data: data["request"].update(budget="huge"), "request.budget"),
        (lambda data: data["calls"][0]["reply"].update(finish="maybe"), "calls.0.reply.finish"),
        (lambda data: data.update(more=1), "more"),
        (lambda data: data["profile"].update(color="red"), "profile.color"),
        (lambda data: data["settings"].update(deadline=-1), "settings.deadline"),
        (lambda data: data.update(whole=False), "whole"),
    ],
)
async def test_a_wrong_field_is_named(bench: Bench, scripted: ScriptedModel, edit, said: str) -> None:
    scripted.default = Reply(code_reply(SHORT))
    await bench.run("refactor", SIGN)
    data = json.loads((await recorded(bench)).to_json())
    edit(data)
    with pytest.raises(UsageError, match=r"broken\.json") as raised:
        await replay(parse(json.dumps(data), "broken.json"), "broken.json", Settings(), user_paths())
    assert said in str(raised.value)


@pytest.mark.parametrize("cut", [0, 1, 50, -20])
async def test_a_truncated_record_is_reported(bench: Bench, scripted: ScriptedModel, tmp_path: Path, cut: int) -> None:
    scripted.default = Reply(code_reply(SHORT))
    await bench.run("refactor", SIGN)
    text = (await recorded(bench)).to_json()
    (tmp_path / "cut.json").write_text(text[:cut])
    with pytest.raises(UsageError, match=r"cut\.json"):
        read(tmp_path / "cut.json")


async def test_a_field_of_earlier_records_is_read_and_not_written(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.default = Reply(code_reply(SHORT))
    await bench.run("refactor", SIGN, budget=Budget.QUICK)
    data = json.loads((await recorded(bench)).to_json())
    assert "tab_size" not in data["request"]

    data["request"]["tab_size"] = 8
    assert (await again(parse(json.dumps(data), "r.json"))).diff == ""


async def test_a_record_from_before_example_calls_is_replayed_without_them(
    bench: Bench, scripted: ScriptedModel
) -> None:
    """A call that it does not hold would get the reply to another one."""
    from stet_ls.engine.trace.playback import settings_of

    scripted.default = Reply(code_reply(SHORT))
    await bench.run("refactor", SIGN)
    record = await recorded(bench)
    for checks, asks in (({"example_calls": True}, True), ({"validation": True}, False)):
        other = record.model_copy(update={"settings": {**record.settings, "checks": checks}})
        assert settings_of(other, Settings(), "r.json").checks.example_calls is asks


async def test_replaying_a_record_cannot_loosen_settings(bench: Bench, scripted: ScriptedModel) -> None:
    """Someone else's record starts no program and asks no endpoint of theirs."""
    from stet_ls.engine.trace.playback import settings_of

    scripted.default = Reply(code_reply(SHORT))
    await bench.run("refactor", SIGN)
    record = await recorded(bench)
    evil = {
        "checkers": [{"language": "python", "argv": ["touch", "/tmp/evil"]}],
        "providers": [{"name": "x", "base_url": "http://evil.example/v1"}],
        "checks": {"trusted_workspaces": ["/"], "disabled_tools": ["ruff"], "auto_fix": False},
        "sandbox": {"minimum_level": "none"},
        "model": {"embedded": "off", "temperature": 0.5},
    }
    own = Settings(model=ModelSettings(temperature=0.1))
    settings = settings_of(record.model_copy(update={"settings": evil}), own, "r.json")
    assert settings.model.temperature == 0.5
    assert settings.checks.auto_fix is False
    assert (settings.checkers, settings.providers, settings.checks.trusted_workspaces) == ((), (), ())
    assert (settings.sandbox.minimum_level, settings.model.embedded) == ("strong", "auto")
    assert settings.checks.disabled_tools == ()


async def test_a_job_stopped_by_a_limit_is_replayed(scripted: ScriptedModel, stet_home: Path) -> None:
    async with Bench(scripted, Settings(spending=Spending(daily_tokens=10))) as bench:
        with pytest.raises(LimitError):
            await bench.run("refactor", SIGN)
        record = await recorded(bench)
    assert record.calls == ()
    assert (await again(record)).diff == ""


async def test_a_lone_surrogate_is_kept(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.default = Reply(code_reply(SHORT))
    await bench.run("refactor", f"{SIGN}\n\nX = 1  # \ud83d\n")
    record = await recorded(bench)
    assert (await again(record)).diff == ""


@pytest.mark.parametrize("eol", ["\r\n", "\r", "\n"])
async def test_line_ends_and_wide_characters_are_kept(bench: Bench, scripted: ScriptedModel, eol: str) -> None:
    import random

    secret = TOKENS["stripe live"](random.Random(8))
    text = (
        f'KEY = "{secret}"; WORD = "\U0001f600é"\n\n\ndef sign(x):\n    $0if x > 0:\n        return 1\n    return -1\n'
    )
    scripted.default = Reply(code_reply(SHORT))
    answer = await bench.run("refactor", text.replace("\n", eol))
    assert answer.success
    record = await recorded(bench)
    assert secret not in record.to_json()
    assert (await again(record)).diff == ""


async def test_positions_after_a_short_secret_are_adjusted(bench: Bench, scripted: ScriptedModel) -> None:
    """A word in its place is longer than it, so columns on its line are others; the edit is still about the same."""
    text = 'password = "hu7r2"; f = lambda x: (x if $0x > 0 else 0)\n'
    scripted.default = Reply(code_reply('password = "STET_SECRET_1"; f = lambda x: max(x, 0)'))
    answer = await bench.run("refactor", text)
    record = await recorded(bench)
    assert answer.success, answer.message
    assert (await again(record)).diff == ""
