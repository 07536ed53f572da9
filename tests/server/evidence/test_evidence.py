"""Evidence that can be opened: in words, as a report, as private files, and as a line above changed code."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.servers.client_documents import Applying
from support.servers.scripted import ScriptedModel
from support.servers.session import (
    NEOVIM,
    NOTHING,
    VSCODE,
    boxes,
    command,
    editor,
    fenced,
    finish,
    lines,
    start,
    turned_out,
)
from support.servers.wire import ErrorAnswer, Json, RawClient

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.evidence import Attachment, Check, Evidence, Ruling
from stet_ls.engine.api.metadata import Metadata
from stet_ls.engine.api.summary import Summary
from stet_ls.engine.errors import UsageError
from stet_ls.server.evidence.evidence_files import write
from stet_ls.server.evidence.evidence_text import first_lines, report, select_check, summarize

URI = "file:///w/a.py"
OLD = "def add(a: int, b: int) -> int:\n    total = a + b\n    return total\n"
NEW = "def add(a: int, b: int) -> int:\n    return a + b\n"
WRONG = "def add(a: int, b: int) -> int:\n    return a - b\n"
REST = "\n\ndef other():\n    return 1\n"

Environment = Mapping[str, str]

PARSES = Evidence(Check.SYNTAX, Ruling.PASS, "syntax ok", trusted=True)
AGREE = Evidence(Check.AGREEMENT, Ruling.PASS, "3 of 3 samples agree on 214 inputs")
OUTPUT = Attachment("failing_tests.txt", "plaintext", "E   assert 3 == 4\n")
FAILED = Evidence(Check.TESTS, Ruling.FAIL, "test_add fails", trusted=True, attachments=(OUTPUT,))


DONE = Summary("Refactored", "`add`")


def answer(*evidence: Evidence, summary: Summary = DONE, **known: Any) -> Answer:
    metadata = Metadata(calibration="default", **known)
    return Answer(
        not summary.problem, "refactor", "python", summary, confidence=0.7, evidence=evidence, metadata=metadata
    )


# Words ----------------------------------------------------------------------------------------------------------------


def test_the_message_begins_with_the_confidence_and_its_reason() -> None:
    reasons = ("3 of 3 samples agree on 214 inputs", "4 doctests pass")
    reason = "; ".join(reasons)
    assert summarize(answer(reasons=reasons)) == f"70 % sure: {reason} · Refactored `add`"
    said = answer(PARSES, AGREE, summary=replace(DONE, gains=("3 → 2 lines",)), reasons=reasons)
    reported = f"70 % sure: {reason} · Refactored `add` · 3 → 2 lines · syntax ok"
    assert summarize(said) == reported, "nothing is said twice"
    assert summarize(answer(summary=Summary("Explained", "`add`"))) == "Explained `add`"


def test_a_refusal_lists_the_checks_that_passed() -> None:
    no = answer(PARSES, FAILED, summary=Summary(problem="Refactor: no edit, test_add fails."), reasons=("x",))
    assert summarize(no) == "Refactor: no edit, test_add fails. Passed: syntax ok."


def test_a_report_lists_each_check_and_quotes_its_evidence(tmp_path: Path) -> None:
    wild = Evidence(Check.NAMES, Ruling.UNKNOWN, f"![x](http://h/) `f`\n# no heading {'and on it goes ' * 9}")
    of = answer(PARSES, wild, FAILED, reasons=("tests FAILED: test_add fails",), trace="0123456789ab")
    files = write(tmp_path, of.evidence)
    text = report(of, of.evidence, files)

    assert "Confidence 70 % (an estimate: not measured for this model yet)\n" in text
    assert text.count("test_add fails") == 1, "each fact once"
    assert text.index("- ✗ **tests**: test_add fails\n") < text.index("- ✓ syntax:"), "what refutes it comes first"
    assert "`stet trace show 0123456789ab`" in text
    assert all(len(line) <= 100 for line in text.splitlines() if "](file:" not in line)
    assert "E   assert 3 == 4" in text
    assert (tmp_path / "failing_tests.txt").as_uri() in text
    assert "![" not in text.replace("!\\[", "")
    assert "\n# no heading" not in text


def test_a_long_text_is_truncated_with_a_note() -> None:
    assert first_lines("a\nb\nc\n", 2) == "a\nb\n... 1 more lines"
    assert first_lines("a\nb\n", 2) == "a\nb\n"
    assert first_lines("abcdef", 2, 3) == "abc\n... some more lines"


def test_names_of_attachments_are_unique_and_not_paths(tmp_path: Path) -> None:
    wild = tuple(Attachment(name, "python", name) for name in ("../../x.py", ".._.._x.py", ".hidden", "a b.py"))
    files = write(tmp_path, [Evidence(Check.TESTS, Ruling.FAIL, "", attachments=wild)])

    assert {file.parent for file in files.values()} == {tmp_path}
    assert len(set(files.values())) == len(wild)
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in files.values())
    assert {file.read_text() for file in files.values()} == {each.name for each in wild}


def test_an_unknown_check_is_answered_with_the_available_ones() -> None:
    with pytest.raises(UsageError, match="it has syntax, tests"):
        select_check(answer(PARSES, FAILED), "speed")
    with pytest.raises(UsageError, match="has no evidence"):
        select_check(answer(), "")


# The server -----------------------------------------------------------------------------------------------------------


async def refactor(client: RawClient, **argument: Any) -> tuple[str, Json]:
    client.open(URI, "python", OLD + REST)
    job = await start(client, "refactor", uri=URI, range=lines(1), **argument)
    return job, await finish(client, job)


def file_of(row: Json) -> Path:
    return Path(row["uri"].removeprefix("file://"))


async def test_a_counterexample_opens_as_a_private_file_that_runs(
    scripted: ScriptedModel, environment: Environment
) -> None:
    scripted.default = fenced(WRONG)
    plugin = {"plugin": {"name": "any", "buttons": True}}
    async with editor(environment, VSCODE, initializationOptions=plugin) as client:
        client.answers["window/showMessageRequest"] = lambda params: {"title": "Show evidence"}
        job, result = await refactor(client, preview="never")

        assert result["status"] == "refused"
        [row] = [each for each in result["answer"]["evidence"] if each["check"] == "differential"]
        assert row["attachments"][0]["name"] == "counter_example_add.py"
        shown = await client.wait_notification("window/showDocument")
        content = await client.request("workspace/textDocumentContent", {"uri": shown["uri"]})
        assert "counter_example_add.py" in content["text"]
        [asked] = client.received("window/showMessageRequest")
        assert asked["message"] == result["message"]
        assert boxes(client) == [], "one sentence, with its button"

        reported = await command(client, "stet.evidence", job=job, check="differential")
        assert reported["markdown"].startswith("# Evidence")
        example = reported["attachments"][0]
        assert (example["check"], example["language"]) == ("differential", "python")
        file = file_of(example)
        assert file.read_text() == example["text"]
        assert file.stat().st_mode & 0o777 == 0o600
        assert file.is_relative_to(environment["STET_HOME"])
        assert file.parent.stat().st_mode & 0o777 == 0o700
        assert file.as_uri() in [params["uri"] for params in client.received("window/showDocument")]
        ran = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=60, check=False)
        assert ran.returncode == 1
        assert "1 of 1 calls differ" in ran.stdout

        client.open(file.as_uri(), "python", example["text"])
        at = {"textDocument": {"uri": file.as_uri()}, "range": lines(0), "context": {"diagnostics": []}}
        assert await client.request("textDocument/codeAction", at) == []
        with pytest.raises(ErrorAnswer, match="it has "):
            await command(client, "stet.evidence", check="speed")
    assert not file.exists(), "it goes with its job"


async def test_a_client_that_cannot_show_a_report_gets_markdown(
    scripted: ScriptedModel, environment: Environment
) -> None:
    scripted.default = fenced(WRONG)
    async with editor(environment, NOTHING) as client:
        with pytest.raises(ErrorAnswer, match="no job has evidence"):
            await command(client, "stet.evidence")
        _, result = await refactor(client)
        assert result["message"] in boxes(client)
        assert not client.received("window/showMessageRequest"), "it might be modal"
        shown = await command(client, "stet.evidence")

        assert "- ✗ **differential**: " in shown["markdown"]
        assert any(params["message"] == shown["markdown"] for params in client.received("window/logMessage"))
        assert await client.request("textDocument/codeLens", {"textDocument": {"uri": URI}}) == []


async def test_evidence_can_be_opened_before_the_answer(scripted: ScriptedModel, environment: Environment) -> None:
    scripted.default = fenced(NEW)
    async with editor(environment, NEOVIM) as client:
        titles = iter(["Show evidence", "Apply"])
        client.answers["window/showMessageRequest"] = lambda params: {"title": next(titles)}
        job, result = await refactor(client, preview="always")

        assert result["applied"] is True
        asked = client.received("window/showMessageRequest")[0]
        assert re.match(r"[\d-]+ % sure: same behavior on ", asked["message"])
        [shown] = client.received("window/showDocument")
        assert "- ✓ differential: " in file_of(shown).read_text()
        assert f"evidence-{job}" in shown["uri"]
        metadata = result["answer"]["metadata"]
        assert metadata["show_trace"] == f"stet trace show {metadata['trace']}"
        assert f"`{metadata['show_trace']}`" in file_of(shown).read_text()
        edit = "-    total = a + b\n-    return total\n+    return a + b\n"
        assert edit in file_of(shown).read_text(), "the change itself is next to what was checked"
        assert edit in (await command(client, "stet.evidence", job=job))["markdown"]
        assert edit not in (await command(client, "stet.evidence", job=job, check="differential"))["markdown"]


async def test_a_late_change_still_gets_its_lens(scripted: ScriptedModel, environment: Environment) -> None:
    """The client answers, and tells the change when the job has ended without it."""
    scripted.default = fenced(NEW)
    async with editor(environment, VSCODE) as client:
        client.applying = Applying.CLAIMS
        job, result = await refactor(client)
        assert result["applied"] is None
        assert await client.request("textDocument/codeLens", {"textDocument": {"uri": URI}}) == []

        [edit] = result["answer"]["edits"]
        at = [(place["line"], place["character"]) for place in (edit["range"]["start"], edit["range"]["end"])]
        client.change(URI, edit["new_text"], (at[0], at[1]))

        await client.wait_notification("workspace/codeLens/refresh")
        [lens] = await client.request("textDocument/codeLens", {"textDocument": {"uri": URI}})
        assert lens["command"]["arguments"] == [{"job": job}]


async def test_two_late_edits_both_get_their_lens(scripted: ScriptedModel, environment: Environment) -> None:
    """The client says yes to both of one document, and tells both changes when the jobs have ended without them."""
    shorter = "def other():\n    return 2 - 1\n"
    scripted.replies([fenced(NEW), fenced(shorter)])
    async with editor(environment, VSCODE) as client:
        client.applying = Applying.CLAIMS
        first, result = await refactor(client)
        second = await start(client, "refactor", uri=URI, range=lines(6), preview="never")
        assert (result["applied"], (await finish(client, second))["applied"]) == (None, None)
        client.applying = Applying.HONESTLY

        client.change(URI, NEW + "\n\n" + shorter)

        assert [(await turned_out(client, job))["applied"] for job in (first, second)] == [True, True]
        lenses = await client.request("textDocument/codeLens", {"textDocument": {"uri": URI}})
        where = {lens["command"]["arguments"][0]["job"]: lens["range"]["start"]["line"] for lens in lenses}
        assert where == {first: 0, second: 4}, "each above its own code"


async def test_a_resent_edit_is_applied_once(scripted: ScriptedModel, environment: Environment) -> None:
    """The first was lost by the client: what shows within its minute is the second's."""
    scripted.default = fenced(NEW)
    async with editor(environment, VSCODE) as client:
        client.applying = Applying.CLAIMS
        _, lost = await refactor(client)
        assert lost["applied"] is None

        client.applying = Applying.HONESTLY
        job = await start(client, "refactor", uri=URI, range=lines(1))
        assert (await finish(client, job))["applied"] is True

        await client.wait_notification("workspace/codeLens/refresh")
        for _ in range(10):  # each answer leaves the server time for what else follows from the change
            lenses = await client.request("textDocument/codeLens", {"textDocument": {"uri": URI}})
        assert [lens["command"]["arguments"] for lens in lenses] == [[{"job": job}]]


async def test_a_lens_is_shown_above_changed_code_until_it_changes_again(
    scripted: ScriptedModel, environment: Environment
) -> None:
    scripted.default = fenced(NEW)
    async with editor(environment, VSCODE) as client:
        job, result = await refactor(client)
        assert re.match(r"[\d-]+ % sure: same behavior on \d+ inputs", result["message"])

        async def lenses() -> list[Json]:
            found: list[Json] = await client.request("textDocument/codeLens", {"textDocument": {"uri": URI}})
            return found

        await client.wait_notification("workspace/codeLens/refresh")
        [lens] = await lenses()
        assert lens["range"]["start"] == {"line": 0, "character": 0}
        assert lens["command"]["command"] == "stet.evidence"
        assert lens["command"]["arguments"] == [{"job": job}]
        assert lens["data"] == "edit", "there is something to keep or to undo"
        assert re.fullmatch(r"stet: same behavior on \d+ inputs.* · show", lens["command"]["title"])

        client.replace(URI, "    return 1\n", "    return 2\n")
        client.change(URI, "import os\n", ((0, 0), (0, 0)))
        [moved] = await lenses()
        assert moved["range"]["start"]["line"] == 1
        mark = client.mark()
        client.replace(URI, "return a + b", "return b + a")
        assert await lenses() == []
        await client.wait_for(lambda message: message.get("method") == "workspace/codeLens/refresh", since=mark)


@pytest.mark.parametrize("way", ["cleared", "switched off"])
async def test_a_lens_can_be_cleared_and_switched_off(
    way: str, scripted: ScriptedModel, environment: Environment
) -> None:
    scripted.default = fenced(NEW)
    wanted = {"editor": {"code_lens": way == "cleared"}}
    async with editor(environment, VSCODE) as client:
        client.answers["workspace/configuration"] = lambda params: [wanted]
        await refactor(client)
        at = {"textDocument": {"uri": URI}}
        assert len(await client.request("textDocument/codeLens", at)) == (1 if way == "cleared" else 0)
        await command(client, "stet.clear", uri=URI)
        assert await client.request("textDocument/codeLens", at) == []
