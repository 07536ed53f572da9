"""The engine's whole way, against a scripted model over a socket."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from support.engine import Bench, code_reply
from support.projects.sign import SHORT, SIGN
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.actions.rewriting import rewrite
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.events import JudgeFinished, Stage
from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.api.metadata import TokenCounts
from stet_ls.engine.errors import LimitError, UsageError
from stet_ls.engine.job import deadline
from stet_ls.engine.job.overtime import OvertimeError, ended_after
from stet_ls.engine.settings.schema import Checks, Settings


async def test_the_answer_includes_its_evidence_and_cost(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.reply(code_reply(SHORT), usage=(70, 20))
    answer = await bench.run("refactor", SIGN)
    assert {e.check: e.verdict for e in answer.evidence} == {
        Check.NOOP: Ruling.PASS,
        Check.SYNTAX: Ruling.PASS,
        Check.DANGER: Ruling.PASS,
        Check.DEFINITIONS: Ruling.PASS,
        Check.NAMES: Ruling.PASS,
        Check.SIGNATURE: Ruling.PASS,
        Check.LINT: Ruling.PASS,
        Check.TYPES: Ruling.SKIPPED,
        Check.DOCTEST: Ruling.SKIPPED,
        Check.TESTS: Ruling.SKIPPED,
        Check.DIFFERENTIAL: Ruling.PASS,
    }
    assert answer.message.startswith("Refactored `sign` · complexity 2 → 1, nesting 1 → 0, 4 → 2 lines · syntax ok")
    assert answer.metadata.tokens == TokenCounts(prompt=70, completion=20, cached=0)
    assert answer.metadata.calls == 1
    assert 0 < answer.confidence < 1
    stages = [event.name for event in bench.events if isinstance(event, Stage)]
    assert stages == ["context", "model", "judge", "finish"]
    assert sum(isinstance(event, JudgeFinished) for event in bench.events) == 11


async def test_quick_makes_one_call(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.default = Reply("no code here")
    answer = await bench.run("refactor", SIGN, budget=Budget.QUICK)
    assert (answer.success, len(scripted.requests)) == (False, 1)


async def test_auto_fix_can_be_switched_off(scripted: ScriptedModel, stet_home: Path) -> None:
    scripted.default = Reply("no code here")
    async with Bench(scripted, Settings(checks=Checks(auto_fix=False))) as bench:
        assert not (await bench.run("refactor", SIGN)).success
    assert len(scripted.requests) == 1


async def test_disabled_validation_is_reported_in_the_answer(scripted: ScriptedModel, stet_home: Path) -> None:
    scripted.reply(code_reply(SHORT))
    async with Bench(scripted, Settings(checks=Checks(validation=False))) as bench:
        answer = await bench.run("debug", SIGN)
    seen = "not reproduced: no executed test or example fails"
    assert answer.message == f"Fixed `sign` · {seen} · syntax not checked · tests not run"
    assert answer.confidence == 0.2


async def test_explain_answers_in_markdown(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.reply("It tells whether x is positive.")
    answer = await bench.run("explain", SIGN)
    assert answer.edits == ()
    assert "# `sign`" in answer.markdown
    assert "signature: `def sign(x)`" in answer.markdown
    assert "It tells whether x is positive." in answer.markdown


async def test_analyze_separates_metrics_from_the_opinion_of_the_model(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.reply("- `import os`: never used.")
    answer = await bench.run("analyze", SIGN.replace("$0", ""))
    measured, opinion = answer.markdown.split("## The model's opinion")
    assert "F401" in measured
    assert "never used" in opinion


async def test_analyze_still_measures_when_the_model_fails(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.default = Reply.failure(401)
    answer = await bench.run("analyze", SIGN.replace("$0", ""))
    assert answer.success
    assert "F401" in answer.markdown
    assert answer.warnings


async def test_a_target_too_large_for_the_model_is_refused_with_its_size(bench: Bench, scripted: ScriptedModel) -> None:
    large = "def large():\n" + "".join(f"    value_{n} = compute_something({n}, 'text')\n" for n in range(2000))
    with pytest.raises(UsageError, match=r"large.*\d,\d{3} tokens.*smaller"):
        await bench.run("refactor", large.replace("value_0", "$0value_0"))
    assert scripted.requests == []
    answer = await bench.run("analyze", large)
    assert answer.success, "what tools measure needs no model"
    assert "smaller" in answer.markdown


async def test_an_unknown_action_gets_a_hint(bench: Bench) -> None:
    with pytest.raises(UsageError, match="refactor"):
        await bench.run("refctor", SIGN)


async def test_cancelling_a_job_closes_the_connection(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.default = Reply(code_reply(SHORT), stall_after=1)
    job = asyncio.create_task(bench.run("refactor", SIGN))
    await asyncio.to_thread(scripted.wait_request)
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    await asyncio.to_thread(scripted.wait_disconnect)


async def test_show_prompt_sends_no_request(bench: Bench, scripted: ScriptedModel) -> None:
    from support.engine import request_for

    prompt = await bench.engine.show_prompt(request_for("refactor", SIGN))
    assert "def sign(x)" in "".join(message.content for message in prompt.messages)
    assert scripted.requests == []


async def test_a_file_of_two_megabytes_is_handled_within_the_deadline(bench: Bench, scripted: ScriptedModel) -> None:
    """What is read of it is what changed: two minutes went into reading all of it again and again."""
    body = "result = value + {0}\n    if result > 1:\n        return result * 2\n    return {0}\n"
    function = f"def name_{{0}}(value):\n    {body}"
    text = "\n\n".join(function.format(n) for n in range(19_000))
    assert len(text) > 2_000_000
    marked = text.replace("value + 9000\n", "value $0+ 9000\n", 1)
    scripted.reply(code_reply(function.format(9000).replace("result * 2", "2 * result")))
    answer = await bench.run("refactor", marked, budget=Budget.QUICK)
    assert answer.success, answer.message
    assert answer.metadata.seconds < 2 * Settings().deadline
    reported = {evidence.check: evidence.detail for evidence in answer.evidence}
    assert reported[Check.DIFFERENTIAL] == "not compared: the file is larger than 500 KB"


async def test_a_hanging_stage_ends_with_the_deadline(
    bench: Bench, scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread in a file system that does not answer cannot be stopped; its job ends all the same."""
    released = threading.Event()
    monkeypatch.setattr(deadline.Deadline, "end", 0.3)
    monkeypatch.setattr(rewrite, "build_job_prompt", lambda *_: released.wait(30))
    with pytest.raises(LimitError, match="stopped at the stage `context`; see the setting deadline"):
        await bench.run("refactor", SIGN)
    released.set()
    monkeypatch.undo()
    scripted.reply(code_reply(SHORT))
    assert (await bench.run("refactor", SIGN)).success


async def test_waiting_for_the_user_does_not_count_toward_the_deadline() -> None:
    waiting = True
    async with ended_after(lambda: 0.1, waits=lambda: waiting):
        await asyncio.sleep(0.6)
    waiting = False
    with pytest.raises(OvertimeError):
        async with ended_after(lambda: 0.1, waits=lambda: waiting):
            await asyncio.sleep(30)
