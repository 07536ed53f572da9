"""What happens while the model writes: typing, formatters, checkouts, closed documents, other jobs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from support.edits import AFTER, BEFORE, NEW, OLD, TARGET, URI, Environment, Held, held_job
from support.servers.client_documents import Applying
from support.servers.scripted import ScriptedModel
from support.servers.session import boxes, command, editor, finish, lines, start
from support.servers.wire import TIMEOUT, Json

pytestmark = pytest.mark.usefixtures("model")


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
        async with asyncio.timeout(TIMEOUT):
            while (await command(client, "stet.jobs"))["jobs"][1]["stage"] != "landing":
                await asyncio.sleep(0.02)
        second_lands.set()

        assert [(await finish(client, job))["applied"] for job in (first, second)] == [True, True]
        assert client.text(URI) == NEW + "\n\n" + shorter
