"""The engine's whole way, against a scripted model over a socket."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.engine import Bench, applied, code_reply
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.actions.rewriting import rewrite
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.events import JudgeFinished, Stage
from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.api.metadata import TokenCounts
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.errors import EndpointError, LimitError, UsageError
from stet_ls.engine.job import deadline
from stet_ls.engine.job.overtime import OvertimeError, ended_after
from stet_ls.engine.settings.schema import Checks, Settings

SIGN = """\
import os


def sign(x):
    $0if x > 0:
        return 1
    return -1


def other():
    return sign(2)
"""
SHORT = "def sign(x):\n    return 1 if x > 0 else -1"


@pytest.fixture
async def bench(scripted: ScriptedModel, stet_home: Path) -> AsyncIterator[Bench]:
    async with Bench(scripted) as bench:
        yield bench


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


async def test_a_syntax_error_is_repaired_with_the_parsers_message(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.replies([Reply(code_reply("def sign(x):\n    return 1 if x > else -1")), Reply(code_reply(SHORT))])
    answer = await bench.run("refactor", SIGN)
    assert answer.success
    assert answer.metadata.calls == 2
    first, second = (request.body["messages"] for request in scripted.requests)
    assert second[: len(first)] == first, "a repair appends; the prefix stays for the cache"
    assert "syntax" in second[-1]["content"]


async def test_an_edit_that_never_parses_is_never_offered(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.default = Reply(code_reply("def sign(x:\n    return"))
    answer = await bench.run("refactor", SIGN)
    assert not answer.success
    assert answer.edits == ()
    assert len(scripted.requests) == 3
    assert answer.message.startswith("Refactor: no edit")
    assert (
        "No further repair: limit for this model reached (2 repairs). "
        "Raise the setting `checks.fix_attempts` to allow more."
    ) in answer.warnings


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


async def test_an_unchanged_reply_is_retried_at_a_higher_temperature_and_then_refused(
    bench: Bench, scripted: ScriptedModel
) -> None:
    scripted.default = Reply(code_reply("def sign(x):\n    if x > 0:\n        return 1\n    return -1"))
    answer = await bench.run("refactor", SIGN)
    assert not answer.success
    assert "unchanged" in answer.message
    warmth = [request.body["temperature"] for request in scripted.requests]
    assert warmth[1] > warmth[0]


async def test_a_comment_replaced_by_code_is_part_of_the_change(bench: Bench, scripted: ScriptedModel) -> None:
    text = "x = 1\n\n\n# stet: a function that doubles a number$0\n"
    scripted.reply(code_reply("def double(number):\n    return 2 * number"))
    answer = await bench.run("generate", text)
    assert answer.message.startswith("Generated `double` · ")
    assert applied(answer) == "x = 1\n\n\ndef double(number):\n    return 2 * number\n"
    assert answer.guard is not None
    assert all(answer.guard.contains(edit.span) for edit in answer.edits)


DOCUMENTED = 'def sign(x):\n    """Its sign."""\n    if x > 0:\n        return 1\n    $0return -1\n'


async def test_a_docstring_omitted_by_the_reply_is_kept(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.reply(code_reply(SHORT))
    answer = await bench.run("refactor", DOCUMENTED)
    assert (answer.success, answer.refuted) == (True, False)
    assert applied(answer).startswith('def sign(x):\n    """Its sign."""\n    return')


async def test_a_docstring_is_removed_if_the_instruction_says_so(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.default = Reply(code_reply(SHORT))
    answer = await bench.run("refactor", DOCUMENTED, instruction="drop the docstring")
    assert '"""' not in answer.code


async def test_a_refuted_edit_is_offered_as_refuted(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.default = Reply(code_reply("def sign(x):\n    return signum(x)"))
    answer = await bench.run("refactor", SIGN)
    assert answer.refuted
    assert "names FAILED" in answer.message
    assert answer.confidence <= 0.1


@pytest.mark.parametrize("reply", ["", "Sure!", "I cannot help with that.", "<html><body>gateway</body></html>"])
async def test_a_reply_without_code_is_a_refusal(bench: Bench, scripted: ScriptedModel, reply: str) -> None:
    scripted.default = Reply(reply)
    try:
        answer = await bench.run("refactor", SIGN)
    except EndpointError:
        return  # nothing at all came: the endpoint's fault
    assert not answer.success
    assert answer.edits == ()
    assert answer.message


async def test_a_reply_in_words_is_quoted(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.default = Reply("I cannot: the\nfile is \x1b[31m" + "long " * 40)
    answer = await bench.run("refactor", SIGN)
    assert 'The reply contains no code. It begins: "I cannot: the file is [31mlong long ' in answer.message
    assert answer.message.rstrip(".").endswith('…"')


async def test_an_incomplete_reply_is_distinguished_from_one_without_code(
    bench: Bench, scripted: ScriptedModel
) -> None:
    scripted.default = Reply(code_reply(SHORT), chunks=["PLAN: ", "compare ", "once.\n"], drop_after=2)
    answer = await bench.run("refactor", SIGN)
    assert "The reply stopped before any code: the endpoint " in answer.message
    assert "It begins" not in answer.message


async def test_a_reply_that_ended_within_the_code_names_the_endpoint(bench: Bench, scripted: ScriptedModel) -> None:
    """The model is not to blame, and another instruction would not help."""
    scripted.default = Reply(code_reply(SHORT), drop_after=8)
    answer = await bench.run("refactor", SIGN)
    assert "The reply stopped within the code: the endpoint " in answer.message


async def test_generate_without_an_instruction_says_how_to_give_one(bench: Bench, scripted: ScriptedModel) -> None:
    with pytest.raises(UsageError, match="# stet: "):
        await bench.run("generate", "x = 1\n$0\ny = 2\n")
    huge = "".join(f"def part_{number}(x):\n    return x + {number}\n" for number in range(2000))
    with pytest.raises(UsageError, match="# stet: "):
        await bench.run("generate", huge)
    assert scripted.requests == []


async def test_a_comment_is_replaced_by_what_it_asked_for(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.reply(code_reply("def double(x):\n    return 2 * x"))
    after = await bench.text_after("generate", "import os\n\n# stet: a function that doubles$0\n")
    assert "stet:" not in after
    assert "def double(x):\n    return 2 * x\n" in after
    assert "a function that doubles" in scripted.requests[0].prompt


async def test_crlf_and_tabs_are_kept(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.reply(
        code_reply("function f(x) {\n    if (x) {\n        return 2;\n    }\n    return 3;\n}", "javascript")
    )
    before = "// a\r\nfunction f(x) {\r\n\t$0return 1;\r\n}\r\nf(1);\r\n"
    after = await bench.text_after("refactor", before, language="javascript")
    body = "function f(x) {\r\n\tif (x) {\r\n\t\treturn 2;\r\n\t}\r\n\treturn 3;\r\n}"
    assert after == f"// a\r\n{body}\r\nf(1);\r\n"


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


async def test_tests_go_where_the_project_keeps_them(bench: Bench, scripted: ScriptedModel, tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    source = tmp_path / "signs.py"
    source.write_text(SIGN.replace("$0", ""))
    scripted.reply(
        "TESTS:\n```python\nfrom your_module import sign\n\n\ndef test_positive():\n    assert sign(3) == 1\n```\n"
    )
    answer = await bench.run("test", SIGN, path=source, workspace=Workspace(roots=(tmp_path,)))
    assert answer.success, answer.message
    (new,) = answer.new_files
    assert new.path == tmp_path / "tests" / "test_signs.py"
    assert new.text.startswith("from signs import sign\n")
    assert "def test_positive" in new.text


async def test_tests_are_added_to_an_existing_file(bench: Bench, scripted: ScriptedModel, tmp_path: Path) -> None:
    source, present = tmp_path / "signs.py", tmp_path / "test_signs.py"
    source.write_text(SIGN.replace("$0", ""))
    present.write_text("from signs import sign\n\n\ndef test_positive():\n    assert sign(3) == 1\n")
    scripted.reply(
        "TESTS:\n```python\nfrom signs import sign\n\n\ndef test_positive():\n    assert sign(-9) == -1\n```\n"
    )
    answer = await bench.run("test", SIGN, path=source, workspace=Workspace(roots=(tmp_path,)))
    assert answer.success, answer.message
    assert answer.new_files == ()
    after = applied(answer)
    assert after.startswith(present.read_text())
    assert "def test_positive_2():\n    assert sign(-9) == -1" in after
    assert after.count("from signs import sign") == 1


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


async def test_broken_code_can_be_edited(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.reply(code_reply("def ok(x):\n    return x + 1"))
    answer = await bench.run("debug", "def broken(:\n    pass\n\n\ndef ok(x):\n    $0return x\n")
    assert answer.success, answer.message


@pytest.mark.parametrize("text", ["", "$0", "\n\n$0"])
async def test_an_empty_document_can_be_filled(bench: Bench, scripted: ScriptedModel, text: str) -> None:
    scripted.reply(code_reply("def one():\n    return 1"))
    after = await bench.text_after("generate", text, instruction="a function that returns 1")
    assert "def one():\n    return 1\n" in after


CLASSES = "class Basket:\n    def total(self):\n        return 0\n\n\nclass Shelf:\n    pass\n"
WORDS = "def words(text):\n    return len(text.split())"


@pytest.mark.parametrize(
    "marked",
    [
        CLASSES,
        f"$0{CLASSES}$0",
        CLASSES.replace("return", "re$0turn"),
        CLASSES.replace("total(self)", "to$0tal$0(self)"),
    ],
    ids=["whole file", "all selected", "cursor in a method", "a word selected"],
)
async def test_an_addition_removes_nothing(bench: Bench, scripted: ScriptedModel, marked: str) -> None:
    scripted.reply(code_reply(WORDS))
    after = await bench.text_after("generate", marked, instruction="add a function words")
    rest = after.replace(WORDS, "")
    assert after.count(WORDS) == 1
    assert [line for line in rest.splitlines() if line] == [line for line in CLASSES.splitlines() if line]


@pytest.mark.parametrize("action", ["generate", "refactor", "debug", "optimize"])
async def test_a_reply_that_omits_existing_code_is_refuted_and_repaired(
    bench: Bench, scripted: ScriptedModel, action: str
) -> None:
    """The instruction does not mention `Shelf`: the model learns of it, and its next reply is offered."""
    less = CLASSES.partition("\n\n\nclass Shelf")[0].replace("0", "1")
    scripted.replies([Reply(code_reply(less)), Reply(code_reply(f"{less}\n\n\nclass Shelf:\n    pass"))])
    answer = await bench.run(action, CLASSES, instruction="rewrite it so that total gives 1")
    if action == "generate":  # it merges: the class that is not in the reply stays
        assert "class Shelf" in applied(answer)
        assert len(scripted.requests) == 1
        return
    assert "definitions: `Shelf` is gone" in scripted.requests[1].prompt
    if action == "optimize":  # both replies change behavior: the measured speed says which of them is reported
        return
    definitions = next(item for item in answer.evidence if item.check is Check.DEFINITIONS)
    assert definitions.verdict is Ruling.PASS


@pytest.mark.parametrize("action", ["generate", "refactor", "debug"])
async def test_code_that_the_instruction_removes_may_be_removed(
    bench: Bench, scripted: ScriptedModel, action: str
) -> None:
    less = CLASSES.partition("\n\n\nclass Shelf")[0]
    scripted.reply(code_reply(less))
    answer = await bench.run(action, CLASSES, instruction="remove the class Shelf")
    assert applied(answer) == less + "\n"
    definitions = next(item for item in answer.evidence if item.check is Check.DEFINITIONS)
    assert definitions.verdict is Ruling.PASS


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
    told = {evidence.check: evidence.detail for evidence in answer.evidence}
    assert told[Check.DIFFERENTIAL] == "not compared: the file is larger than 500 KB"


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
