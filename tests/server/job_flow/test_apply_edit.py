"""Edits that land where they were meant, or not at all: the real server, a scripted model, editors of every kind."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from support.servers.scripted import Reply, ScriptedModel
from support.servers.session import (
    EGLOT,
    NEOVIM,
    NOTHING,
    VSCODE,
    boxes,
    command,
    editor,
    fenced,
    finish,
    introduction,
    lines,
    start,
)
from support.servers.wire import PATIENCE, RECORDED, Applying, ErrorAnswer, Json, RawClient

from stet_ls.validators.source import Source

OLD = """\
def add(a, b):
    total = a + b
    return total
"""
NEW = """\
def add(a, b):
    return a + b
"""
HEAD = "import sys\n\n\n"
TAIL = "\n\ndef other():\n    return sys.path\n"
BEFORE = HEAD + OLD + TAIL
AFTER = HEAD + NEW + TAIL
URI = "file:///w/a.py"
TARGET = lines(4)

TAKES_NO_EDITS = {"vim9-ale-3.3", "kate-22.12", NOTHING}

Environment = Mapping[str, str]


@pytest.fixture(autouse=True)
def model(scripted: ScriptedModel) -> ScriptedModel:
    """A model that shortens `add`."""
    scripted.default = fenced(NEW)
    return scripted


async def refactored(client: RawClient, text: str = BEFORE, uri: str = URI, target: Json = TARGET) -> Json:
    """The result of one refactoring from the open to the end."""
    client.open(uri, "python", text)
    return await finish(client, await start(client, "refactor", uri=uri, range=target))


class Held:
    """A model's reply that waits until the test lets it go."""

    def __init__(self, scripted: ScriptedModel, code: str = NEW) -> None:
        self._scripted = scripted
        self._event = threading.Event()
        scripted.replies([Reply(fenced(code), hold=self._event)])

    async def arrived(self, client: RawClient, count: int = 1) -> None:
        """Returns once the model was asked."""
        await asyncio.to_thread(self._scripted.wait_request, count, PATIENCE)

    def release(self) -> None:
        """Lets the reply go."""
        self._event.set()


async def held_job(client: RawClient, held: Held, text: str = BEFORE, uri: str = URI) -> str:
    """A job whose model was asked and has not answered yet."""
    client.open(uri, "python", text)
    job = await start(client, "refactor", uri=uri, range=TARGET)
    await held.arrived(client)
    return job


# Every client ---------------------------------------------------------------------------------------------------------


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


# Meanwhile ------------------------------------------------------------------------------------------------------------


async def test_typing_elsewhere_is_kept_and_the_edit_moves(scripted: ScriptedModel, environment: Environment) -> None:
    held = Held(scripted)
    async with editor(environment) as client:
        job = await held_job(client, held)
        client.replace(URI, "import sys\n", "import os\nimport sys\n")
        client.replace(URI, "return sys.path", "return sys.path, os.sep")
        held.release()
        result = await finish(client, job)

        assert (result["status"], result["applied"]) == ("done", True)
        expected = AFTER.replace("import sys\n", "import os\nimport sys\n")
        assert client.text(URI) == expected.replace("sys.path", "sys.path, os.sep")
        [sent] = client.received("workspace/applyEdit")
        assert sent["edit"]["documentChanges"][0]["textDocument"]["version"] == 3


async def test_typing_inside_is_never_overwritten(scripted: ScriptedModel, environment: Environment) -> None:
    held = Held(scripted)
    async with editor(environment) as client:
        job = await held_job(client, held)
        client.replace(URI, "    return total", "    return total + 1")
        held.release()
        result = await finish(client, job)

        assert (result["status"], result["applied"]) == ("refused", False)
        assert result["message"].startswith("Edit not applied: you changed a.py")
        assert boxes(client) == [result["message"]]
        assert client.received("window/showMessage")[0]["type"] == 2
        assert not client.received("workspace/applyEdit")


async def test_an_undone_change_does_not_block_the_edit(scripted: ScriptedModel, environment: Environment) -> None:
    held = Held(scripted)
    async with editor(environment) as client:
        job = await held_job(client, held)
        client.replace(URI, "    return total", "    return total + 1")
        client.undo(URI)
        held.release()
        result = await finish(client, job)

        assert result["applied"] is True
        assert client.text(URI) == AFTER


async def test_an_edit_that_no_longer_parses_after_a_change_is_refused(
    scripted: ScriptedModel, environment: Environment
) -> None:
    """The target is untouched but inside a string by now, which the new docstring would end."""
    held = Held(scripted, 'def add(a, b):\n    """The sum of the two."""\n    return a + b\n')
    async with editor(environment) as client:
        job = await held_job(client, held)
        client.replace(URI, "import sys\n", 'import sys\nTEXT = """\n')
        client.replace(URI, "def other():", '"""\n\n\ndef other():')
        before = client.text(URI)
        held.release()
        result = await finish(client, job)

        assert result["status"] == "refused"
        assert "no longer parses" in result["message"]
        assert client.text(URI) == before


async def test_a_formatter_that_does_not_touch_the_target_does_not_block_the_edit(
    scripted: ScriptedModel, environment: Environment
) -> None:
    held = Held(scripted)
    async with editor(environment) as client:
        job = await held_job(client, held, BEFORE.replace("return sys.path", "return   sys.path"))
        client.change(URI, BEFORE)
        held.release()
        result = await finish(client, job)

        assert result["applied"] is True
        assert client.text(URI) == AFTER


async def test_a_formatter_that_rewrites_the_target_blocks_the_edit(
    scripted: ScriptedModel, environment: Environment
) -> None:
    held = Held(scripted)
    async with editor(environment) as client:
        job = await held_job(client, held)
        client.change(URI, BEFORE.replace("a + b", "(a + b)"))
        held.release()
        result = await finish(client, job)

        assert result["status"] == "refused"
        assert "(a + b)" in client.text(URI)


async def test_a_file_replaced_by_a_checkout_is_never_edited(scripted: ScriptedModel, environment: Environment) -> None:
    held = Held(scripted)
    async with editor(environment) as client:
        job = await held_job(client, held)
        client.change(URI, "# another branch\n")
        held.release()

        assert (await finish(client, job))["status"] == "refused"
        assert client.text(URI) == "# another branch\n"


async def test_closing_the_document_cancels_the_edit_even_if_it_is_reopened(
    scripted: ScriptedModel, environment: Environment
) -> None:
    held = Held(scripted)
    async with editor(environment) as client:
        job = await held_job(client, held)
        client.close(URI)
        client.open(URI, "python", BEFORE)
        result = await finish(client, job)

        assert (result["status"], result["applied"]) == ("cancelled", None)
        assert not client.received("workspace/applyEdit")


async def test_an_edit_is_applied_to_the_buffer_of_a_deleted_file(
    scripted: ScriptedModel, environment: Environment, tmp_path: Path
) -> None:
    held = Held(scripted)
    path = tmp_path / "a.py"
    path.write_text(BEFORE)
    async with editor(environment) as client:
        job = await held_job(client, held, uri=path.as_uri())
        path.unlink()
        held.release()

        assert (await finish(client, job))["applied"] is True
        assert client.text(path.as_uri()) == AFTER


@pytest.mark.parametrize("change", ["deleted", "rewritten"])
async def test_a_file_that_was_never_opened_must_still_be_the_same(
    change: str, scripted: ScriptedModel, environment: Environment, tmp_path: Path
) -> None:
    held = Held(scripted)
    path = tmp_path / "a.py"
    path.write_text(BEFORE)
    async with editor(environment) as client:
        job = await start(client, "refactor", uri=path.as_uri(), range=TARGET)
        await held.arrived(client)
        if change == "deleted":
            path.unlink()
        else:
            path.write_text("# pulled\n" + BEFORE)
        held.release()

        assert (await finish(client, job))["status"] == "refused"
        assert not client.received("workspace/applyEdit")


async def test_a_file_that_was_never_opened_is_edited_by_the_client(environment: Environment, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(BEFORE)
    async with editor(environment) as client:
        result = await finish(client, await start(client, "refactor", uri=path.as_uri(), range=TARGET))

        assert result["applied"] is True
        [sent] = client.received("workspace/applyEdit")
        assert sent["edit"]["documentChanges"][0]["textDocument"]["version"] is None
        assert client.text(path.as_uri()) == AFTER
        assert path.read_text() == BEFORE


async def test_two_concurrent_jobs_on_two_units_are_both_applied(
    scripted: ScriptedModel, environment: Environment
) -> None:
    other = "def double(x):\n    result = x * 2\n    return result\n"
    shorter = "def double(x):\n    return x * 2\n"
    one, two = Held(scripted), Held(scripted, shorter)
    async with editor(environment) as client:
        client.open(URI, "python", OLD + "\n\n" + other)
        first = await start(client, "refactor", uri=URI, range=lines(1))
        await one.arrived(client)
        second = await start(client, "refactor", uri=URI, range=lines(6))
        await two.arrived(client, 2)
        two.release()
        assert (await finish(client, second))["applied"] is True
        one.release()
        assert (await finish(client, first))["applied"] is True

        assert client.text(URI) == NEW + "\n\n" + shorter


async def test_a_client_that_ignores_versions_gets_edits_one_after_the_other(
    scripted: ScriptedModel, environment: Environment
) -> None:
    """As Neovim with a document's first version: the second edit would land on the lines of before the first."""
    other = "def double(x):\n    result = x * 2\n    return result\n"
    shorter = "def double(x):\n    return x * 2\n"
    one, two = Held(scripted), Held(scripted, shorter)
    async with editor(environment) as client:
        client.applying = Applying.BLINDLY
        blindly, second_lands = client.answers["workspace/applyEdit"], asyncio.Event()

        async def when_both_are_ready(params: Json) -> Json:
            await second_lands.wait()
            return blindly(params)  # type: ignore[no-any-return]

        client.answers["workspace/applyEdit"] = when_both_are_ready
        client.open(URI, "python", OLD + "\n\n" + other)
        first = await start(client, "refactor", uri=URI, range=lines(1))
        await one.arrived(client)
        second = await start(client, "refactor", uri=URI, range=lines(6))
        await two.arrived(client, 2)
        one.release()
        await client.wait_notification("workspace/applyEdit")
        two.release()
        async with asyncio.timeout(PATIENCE):
            while (await command(client, "stet.jobs"))["jobs"][1]["stage"] != "landing":
                await asyncio.sleep(0.02)
        second_lands.set()

        assert [(await finish(client, job))["applied"] for job in (first, second)] == [True, True]
        assert client.text(URI) == NEW + "\n\n" + shorter


# Texts ----------------------------------------------------------------------------------------------------------------

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


# Liars ----------------------------------------------------------------------------------------------------------------


async def test_a_client_that_reports_success_without_a_change_is_detected(environment: Environment) -> None:
    async with editor(environment) as client:
        client.applying = Applying.CLAIMS
        result = await refactored(client)

        assert (result["status"], result["applied"]) == ("done", None)
        assert "did not appear" in result["message"]
        assert boxes(client) == [result["message"]]


async def test_a_visible_change_counts_as_applied_despite_the_response(environment: Environment) -> None:
    async with editor(environment) as client:
        client.applying = Applying.DENIES
        result = await refactored(client)

        assert (result["status"], result["applied"]) == ("done", True)


async def test_the_change_may_arrive_after_the_response(environment: Environment) -> None:
    async with editor(environment) as client:
        client.answers_before_change = True
        result = await refactored(client)

        assert result["applied"] is True


@pytest.mark.parametrize(
    ("applying", "reason"), [(Applying.REFUSES, "refused"), (Applying.FAILS, "User cancelled server edit")]
)
async def test_an_edit_that_the_client_rejects_is_not_applied(
    applying: Applying, reason: str, environment: Environment
) -> None:
    async with editor(environment, EGLOT) as client:
        client.applying = applying
        result = await refactored(client)

        assert (result["status"], result["applied"]) == ("refused", False)
        assert reason in result["message"]
        assert boxes(client) == [result["message"]]
        assert client.text(URI) == BEFORE


async def test_a_client_with_a_newer_version_gets_the_edit_again(environment: Environment) -> None:
    """Eglot lets a command overtake the didChange before it, refuses the old version, and sends the change then."""
    async with editor(environment, EGLOT) as client:
        honest = client.answers["workspace/applyEdit"]
        asked: list[Any] = []

        def ahead(params: Json) -> Json:
            asked.append(params["edit"]["documentChanges"][0]["textDocument"]["version"])
            if len(asked) > 1:
                return honest(params)  # type: ignore[no-any-return]
            client.replace(URI, "import sys\n", "import os\nimport sys\n")
            raise ErrorAnswer(-32603, "Edits on `a.py' require version 1, you have 2")

        client.answers["workspace/applyEdit"] = ahead
        result = await refactored(client)

        assert (result["status"], result["applied"]) == ("done", True)
        assert asked == [1, 2]
        assert client.text(URI) == AFTER.replace("import sys\n", "import os\nimport sys\n")


async def test_typing_between_sending_and_applying_is_never_lost(environment: Environment) -> None:
    """The versions differ, so an honest client refuses; Stet moves the edit and asks once more."""
    async with editor(environment) as client:
        honest = client.answers["workspace/applyEdit"]
        asked: list[Json] = []

        def typing(params: Json) -> Json:
            asked.append(params)
            if len(asked) == 1:
                client.replace(URI, "return sys.path", "return sys.path[:]")
            return honest(params)  # type: ignore[no-any-return]

        client.answers["workspace/applyEdit"] = typing
        result = await refactored(client)

        assert (result["status"], result["applied"]) == ("done", True)
        assert len(asked) == 2
        assert client.text(URI) == AFTER.replace("sys.path", "sys.path[:]")


# Asking first ---------------------------------------------------------------------------------------------------------


async def test_preview_always_annotates_the_edit_if_the_client_confirms_itself(environment: Environment) -> None:
    async with editor(environment, VSCODE) as client:
        client.open(URI, "python", BEFORE)
        result = await finish(client, await start(client, "refactor", uri=URI, range=TARGET, preview="always"))

        [sent] = client.received("workspace/applyEdit")
        [annotation] = sent["edit"]["changeAnnotations"].values()
        assert annotation["needsConfirmation"] is True
        assert annotation["label"].startswith("Stet: Refactored `add`")
        assert annotation["label"].endswith(" · select to apply"), "the box next to it is empty"
        assert re.match(r"[\d-]+ % sure: .* Apply it\?$", annotation["description"])
        assert "Refactored" not in annotation["description"], "clients show both"
        assert all("annotationId" in edit for edit in sent["edit"]["documentChanges"][0]["edits"])
        assert not client.received("window/showMessageRequest")
        [shown] = client.received("window/showDocument")
        content = await client.request("workspace/textDocumentContent", {"uri": shown["uri"]})
        assert "- ✓ differential: " in content["text"], "the evidence is open next to the preview"
        assert result["applied"] is True


@pytest.mark.parametrize(("choice", "status"), [("Apply", "done"), ("Discard", "refused"), (None, "refused")])
async def test_preview_always_asks_with_a_message_otherwise(
    choice: str | None, status: str, environment: Environment
) -> None:
    async with editor(environment, NEOVIM) as client:
        client.answers["window/showMessageRequest"] = lambda params: choice and {"title": choice}
        client.open(URI, "python", BEFORE)
        result = await finish(client, await start(client, "refactor", uri=URI, range=TARGET, preview="always"))

        [asked] = client.received("window/showMessageRequest")
        assert [action["title"] for action in asked["actions"]] == ["Apply", "Show diff", "Show evidence", "Discard"]
        assert result["status"] == status
        assert client.text(URI) == (AFTER if status == "done" else BEFORE)


async def test_the_diff_is_shown_before_the_question_is_asked_again(environment: Environment) -> None:
    async with editor(environment, NEOVIM) as client:
        titles = iter(["Show diff", "Apply"])
        client.answers["window/showMessageRequest"] = lambda params: {"title": next(titles)}
        client.open(URI, "python", BEFORE)
        result = await finish(client, await start(client, "refactor", uri=URI, range=TARGET, preview="always"))

        assert result["applied"] is True
        [shown] = client.received("window/showDocument")
        diff = Path(shown["uri"].removeprefix("file://")).read_text()
        assert "-    total = a + b" in diff
        assert "+    return a + b" in diff


def refuse(params: Json) -> None:
    raise ErrorAnswer(-32603, "no window today")


@pytest.mark.parametrize(
    ("choice", "status"),
    [
        (lambda params: "Apply", "done"),
        (lambda params: "Discard", "refused"),
        (lambda params: None, "refused"),
        (lambda params: {"title": "Apply"}, "refused"),
        (refuse, "refused"),
    ],
    ids=["yes", "no", "closed", "of another form", "failed"],
)
async def test_a_plugin_shows_the_edit_with_its_evidence_and_asks(
    choice: Callable[[Json], Any], status: str, environment: Environment
) -> None:
    options = {"plugin": {"name": "any", "offers": True}}
    async with editor(environment, NEOVIM, initializationOptions=options) as client:
        client.answers["stet/offer"] = choice
        client.open(URI, "python", BEFORE)
        job = await start(client, "refactor", uri=URI, range=TARGET, preview="always")
        result = await finish(client, job)

        [asked] = client.received("stet/offer")
        assert (asked["job"], asked["question"], asked["choices"]) == (job, "Apply it?", ["Apply", "Discard"])
        assert "- ✓ syntax: " in asked["markdown"]
        assert "-    total = a + b\n-    return total\n+    return a + b\n" in asked["markdown"]
        assert asked["markdown"].index("+    return a + b") < asked["markdown"].index("inputs_add.py")
        assert not client.received("window/showMessageRequest")
        assert result["status"] == status
        assert client.text(URI) == (AFTER if status == "done" else BEFORE)


async def test_typing_while_the_question_is_open_moves_the_edit(environment: Environment) -> None:
    async with editor(environment, NEOVIM) as client:

        def type_and_agree(params: Json) -> Json:
            client.replace(URI, "import sys\n", "import os\nimport sys\n")
            return {"title": "Apply"}

        client.answers["window/showMessageRequest"] = type_and_agree
        client.open(URI, "python", BEFORE)
        result = await finish(client, await start(client, "refactor", uri=URI, range=TARGET, preview="always"))

        assert result["applied"] is True
        assert client.text(URI) == AFTER.replace("import sys\n", "import os\nimport sys\n")


# Files ----------------------------------------------------------------------------------------------------------------

TESTS = "from a import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"


async def test_a_new_test_file_is_created_with_its_text(
    scripted: ScriptedModel, environment: Environment, tmp_path: Path
) -> None:
    scripted.default = fenced(TESTS)
    path = tmp_path / "a.py"
    path.write_text(BEFORE)
    async with editor(environment, VSCODE, rootUri=tmp_path.as_uri()) as client:
        client.open(path.as_uri(), "python", BEFORE)
        result = await finish(client, await start(client, "test", uri=path.as_uri(), range=TARGET))

        assert (result["status"], result["applied"]) == ("done", True), result["message"]
        [created] = client.created
        assert "def test_add" in client.text(created)
        assert result["answer"]["new_files"][0]["path"] == created.removeprefix("file://")


async def test_a_new_test_file_that_was_not_run_is_asked_about(
    scripted: ScriptedModel, environment: Environment, tmp_path: Path
) -> None:
    scripted.default = fenced(TESTS)
    path = tmp_path / "a.py"
    path.write_text(BEFORE)
    async with editor(environment, NEOVIM, rootUri=tmp_path.as_uri()) as client:
        client.open(path.as_uri(), "python", BEFORE)
        job = await start(client, "test", uri=path.as_uri(), range=TARGET, budget="quick")
        result = await finish(client, job)

        [asked] = client.received("window/showMessageRequest")
        assert asked["message"].endswith("Apply it? Tests not run: the budget `quick` runs none.")
        assert (result["status"], result["applied"]) == ("refused", False)
        assert not client.created


async def test_a_client_that_cannot_create_files_is_shown_the_tests(
    scripted: ScriptedModel, environment: Environment, tmp_path: Path
) -> None:
    scripted.default = fenced(TESTS)
    path = tmp_path / "a.py"
    path.write_text(BEFORE)
    async with editor(environment, EGLOT) as client:
        client.open(path.as_uri(), "python", BEFORE)
        result = await finish(client, await start(client, "test", uri=path.as_uri(), range=TARGET))

        assert (result["status"], result["applied"]) == ("done", False), result["message"]
        assert "does not create files" in result["message"]
        assert any("+def test_add" in params["message"] for params in client.received("window/logMessage"))


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
