"""Edits that land where they were meant, or not at all: the real server, a scripted model, editors of every kind."""

from __future__ import annotations

import pytest
from support.edits import AFTER, BEFORE, HEAD, NEW, OLD, TAIL, TARGET, URI, Environment, Held, held_job, refactored
from support.servers.scripted import ScriptedModel
from support.servers.session import NOTHING, VSCODE, boxes, command, editor, fenced, finish, introduction, lines, start
from support.servers.wire import RECORDED, ErrorAnswer

from stet_ls.validators.source import Source

pytestmark = pytest.mark.usefixtures("model")

TAKES_NO_EDITS = {"vim9-ale-3.3", "kate-22.12", NOTHING}


@pytest.mark.parametrize("name", [*RECORDED, NOTHING])
async def test_each_client_gets_the_edit_in_a_form_that_it_supports(name: str, environment: Environment) -> None:
    async with editor(environment, name) as client:
        result = await refactored(client)

        assert result["status"] == "done", result
        assert result["answer"]["code"].strip() == NEW.strip()
        assert any(item["check"] == "syntax" and item["verdict"] == "pass" for item in result["answer"]["evidence"])
        if name in TAKES_NO_EDITS:
            assert result["applied"] is False
            assert client.text(URI) == BEFORE
            assert not client.received("workspace/applyEdit")
            assert result["answer"]["edits"]
            assert client.received("window/showDocument") or client.received("window/logMessage")
            assert any("does not accept edits" in box for box in boxes(client)), "no one reads the log for that"
        else:
            assert result["applied"] is True
            assert client.text(URI) == AFTER
            [sent] = client.received("workspace/applyEdit")
            declared = introduction(name)["capabilities"]["workspace"].get("workspaceEdit", {})
            if declared.get("documentChanges") or declared.get("resourceOperations"):
                assert sent["edit"]["documentChanges"][0]["textDocument"] == {"uri": URI, "version": 1}
            else:
                assert list(sent["edit"]["changes"]) == [URI], "it knows no versions"
            progress = introduction(name)["capabilities"].get("window", {}).get("workDoneProgress")
            assert boxes(client) == ([] if progress else [result["message"]]), "who sees no progress is told the end"


async def test_a_client_without_versions_gets_plain_changes(environment: Environment) -> None:
    async with editor(environment, NOTHING, capabilities={"workspace": {"applyEdit": True}}) as client:
        result = await refactored(client)

        assert result["applied"] is True
        [sent] = client.received("workspace/applyEdit")
        assert list(sent["edit"]) == ["changes"]
        assert client.text(URI) == AFTER


async def test_the_edit_is_a_single_minimal_change(environment: Environment) -> None:
    async with editor(environment) as client:
        await refactored(client)

        [sent] = client.received("workspace/applyEdit")
        edits = sent["edit"]["documentChanges"][0]["edits"]
        assert all(edit["range"]["start"]["line"] >= 4 for edit in edits)
        assert all(edit["range"]["end"]["line"] <= 6 for edit in edits)


TEXTS = {
    "crlf": BEFORE.replace("\n", "\r\n"),
    "mixed": HEAD.replace("\n", "\r\n") + OLD + TAIL,
    "tabs": BEFORE.replace("    ", "\t"),
    "form feeds": HEAD + "\f\n" + OLD + "\f" + TAIL,
    "separators": "NOTE = 'a\u2028b\x85c\x0bd'\n" + HEAD + OLD + TAIL,
    "non-bmp": "NOTE = '𝔘𝔫𝔦𝔠𝔬𝔡𝔢 🙂'\n" + HEAD + OLD + "# 🙂🙂\n" + TAIL,
    "no line end at the end": HEAD + OLD.rstrip("\n"),
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_an_edit_changes_only_the_target_in_any_text(encoding: str, environment: Environment) -> None:
    async with editor(environment, encodings=[encoding]) as client:
        assert client.encoding == encoding
        for kind, text in TEXTS.items():
            uri = f"file:///w/{kind.replace(' ', '_')}.py"
            target = next(n for n in range(Source(text).line_count) if "total = a + b" in Source(text).line_text(n))
            result = await refactored(client, text, uri, lines(target))

            assert (result["status"], result["applied"]) == ("done", True), (kind, result["message"])
            end, indent = "\r\n" if kind == "crlf" else "\n", "\t" if kind == "tabs" else "    "
            old, new = (each.rstrip("\n").replace("\n", end).replace("    ", indent) for each in (OLD, NEW))
            assert client.text(uri) == text.replace(old, new), kind


async def test_an_untitled_document_has_no_path_and_works(environment: Environment) -> None:
    async with editor(environment, VSCODE) as client:
        result = await refactored(client, uri="untitled:Untitled-1")

        assert result["applied"] is True
        assert client.text("untitled:Untitled-1") == AFTER
        assert result["answer"]["edits"][0]["path"] is None


async def test_an_empty_file_can_be_filled(scripted: ScriptedModel, environment: Environment) -> None:
    scripted.default = fenced("def one():\n    return 1")
    async with editor(environment) as client:
        client.answers["window/showMessageRequest"] = lambda params: {"title": "Apply"}  # no check ran it
        client.open(URI, "python", "", version=0)
        start_ = {"line": 0, "character": 0}
        job = await start(client, "generate", uri=URI, position=start_, instruction="a function one")
        result = await finish(client, job)

        assert result["applied"] is True, result
        assert client.text(URI).strip() == "def one():\n    return 1"


async def test_a_document_of_fifty_thousand_lines_is_edited(environment: Environment) -> None:
    filler = "".join(f"VALUE_{n} = {n}\n" for n in range(25_000))
    async with editor(environment) as client:
        client.answers["window/showMessageRequest"] = lambda params: {"title": "Apply"}  # no check ran it
        result = await refactored(client, filler + OLD + filler, target=lines(25_001))

        assert result["applied"] is True, result["message"]
        assert client.text(URI) == filler + NEW + filler


async def test_a_restarted_server_has_no_jobs_of_a_killed_one_and_applies_an_edit_once(
    scripted: ScriptedModel, environment: Environment
) -> None:
    held = Held(scripted)
    async with editor(environment) as client:
        job = await held_job(client, held)
        await client.kill()
    held.release()
    async with editor(environment) as client:
        client.open(URI, "python", BEFORE)
        with pytest.raises(ErrorAnswer, match="unknown job") as raised:
            await command(client, "stet.result", job=job)
        assert raised.value.code == -32602
        assert not client.received("workspace/applyEdit")
        again = await finish(client, await start(client, "refactor", uri=URI, range=TARGET))
        assert again["applied"] is True
        assert client.text(URI) == AFTER


async def test_an_addition_removes_nothing(scripted: ScriptedModel, environment: Environment) -> None:
    words = "def words(text):\n    return len(text.split())\n"
    scripted.default = fenced(words)
    async with editor(environment) as client:
        client.answers["window/showMessageRequest"] = lambda params: {"title": "Apply"}  # no check ran it
        client.open(URI, "python", BEFORE)
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": BEFORE.count("\n"), "character": 0}}
        asked = {"uri": URI, "range": whole, "instruction": "add a function words", "budget": "quick"}
        result = await finish(client, await start(client, "generate", **asked))

        assert (result["status"], client.text(URI)) == ("done", f"{BEFORE}\n\n{words}")
