"""A client that never answers: no job waits for it forever, no question is lost, and a late answer counts.

In one process, so that the time limit of a question can be short.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from support.servers.inprocess import connected
from support.servers.scripted import ScriptedModel
from support.servers.session import NEOVIM, VSCODE, boxes, command, fenced, finish, introduction, lines, start
from support.servers.wire import TIMEOUT, ErrorAnswer, Json, RawClient

from stet_ls.server.app import create_server
from stet_ls.server.consent import permissions
from stet_ls.server.evidence import report_viewer
from stet_ls.server.job_flow import confirmation

URI = "file:///w/a.py"
OLD = "def add(a, b):\n    total = a + b\n    return total\n"
NEW = "def add(a, b):\n    return a + b\n"


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch, environment: Mapping[str, str], scripted: ScriptedModel) -> None:
    """A server that waits for a moment only, and a model that shortens `add`."""
    for module in (confirmation, permissions, report_viewer):
        monkeypatch.setattr(module, "TIMEOUT", 0.2)
    for name in ("STET_BASE_URL", "STET_MODEL", "STET_API_KEY"):
        monkeypatch.setenv(name, environment[name])
    scripted.default = fenced(NEW)


@contextlib.asynccontextmanager
async def editor(tmp_path: Path, name: str = NEOVIM, **params: Any) -> AsyncIterator[RawClient]:
    async with connected(create_server(log_file=tmp_path / "stet.log")) as client:
        await client.initialize(**{**introduction(name), **params})
        yield client


class Silence:
    """Answers nothing until a test sets its answer."""

    def __init__(self) -> None:
        self._answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def __call__(self, params: Json) -> asyncio.Future[Any]:
        return self._answer

    def end(self, answer: Any) -> None:
        """What is answered at last."""
        self._answer.set_result(answer)


async def unanswered(client: RawClient) -> tuple[str, Json]:
    """A job that ended without an answer to its question."""
    client.open(URI, "python", OLD)
    job = await start(client, "refactor", uri=URI, range=lines(1), preview="always")
    result = await finish(client, job)
    assert (result["status"], result["applied"], result.get("asks")) == ("refused", False, True)
    assert "no response after" in result["message"]
    assert result["message"] in boxes(client)
    assert client.text(URI) == OLD
    return job, result


async def settled(client: RawClient, job: str) -> Json:
    """The job's result once no edit waits for confirmation any more and it is known what came of that."""
    async with asyncio.timeout(TIMEOUT):
        while "asks" in (result := await finish(client, job)) or "no response after" in result["message"]:
            await asyncio.sleep(0.05)
    return result


@pytest.mark.parametrize("name", [NEOVIM, VSCODE])
async def test_a_report_that_is_not_opened_is_shown_as_a_message(
    name: str, scripted: ScriptedModel, tmp_path: Path
) -> None:
    scripted.default = "# add\n\nIt returns the sum of its two arguments.\n"
    async with editor(tmp_path, name) as client:
        client.answers["window/showDocument"] = Silence()
        client.open(URI, "python", OLD)
        result = await finish(client, await start(client, "explain", uri=URI, range=lines(1)))

        assert result["status"] == "done"
        assert "in the log" in result["message"]
        assert any("It returns the sum" in box for box in boxes(client))
        assert len(client.received("window/showDocument")) == 1, "who is silent is not asked twice"


@pytest.mark.parametrize("plugin", [False, True])
async def test_a_late_confirmation_still_applies_the_edit(plugin: bool, tmp_path: Path) -> None:
    options = {"plugin": {"name": "any", "offers": plugin}}
    async with editor(tmp_path, initializationOptions=options) as client:
        silence = Silence()
        method = "stet/offer" if plugin else "window/showMessageRequest"
        client.answers[method] = silence
        job, _ = await unanswered(client)
        client.change(URI, "import os\n" + OLD)
        silence.end("Apply" if plugin else {"title": "Apply"})

        result = await settled(client, job)
        assert (result["status"], result["applied"]) == ("done", True), result["message"]
        assert client.text(URI) == "import os\n" + NEW
        assert len(client.received(method)) == 1


async def test_a_late_refusal_changes_nothing(tmp_path: Path) -> None:
    async with editor(tmp_path) as client:
        client.answers["window/showMessageRequest"] = silence = Silence()
        job, _ = await unanswered(client)
        silence.end({"title": "Discard"})

        result = await settled(client, job)
        assert (result["status"], result["applied"]) == ("refused", False)
        assert "Edit discarded." in result["message"]
        assert client.text(URI) == OLD


def touched(client: RawClient) -> None:
    client.replace(URI, "total = a + b", "total = b + a")


@pytest.mark.parametrize(("before", "status"), [(lambda client: None, "done"), (touched, "refused")])
async def test_a_command_applies_an_edit_whose_question_expired(
    before: Callable[[RawClient], None], status: str, tmp_path: Path
) -> None:
    async with editor(tmp_path) as client:
        client.answers["window/showMessageRequest"] = Silence()
        with pytest.raises(ErrorAnswer, match="no edit waits for confirmation"):
            await command(client, "stet.apply")
        job, _ = await unanswered(client)
        before(client)
        text = client.text(URI)

        result = await command(client, "stet.apply", job=job)

        assert (result["status"], "asks" in result) == (status, False)
        assert client.text(URI) == (NEW if status == "done" else text), result["message"]
        with pytest.raises(ErrorAnswer, match=f"no edit waits for confirmation of {job}"):
            await command(client, "stet.apply", job=job)


async def test_a_command_applies_an_edit_whose_question_is_open(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(confirmation, "TIMEOUT", TIMEOUT)
    async with editor(tmp_path) as client:
        client.answers["window/showMessageRequest"] = Silence()
        client.open(URI, "python", OLD)
        job = await start(client, "refactor", uri=URI, range=lines(1), preview="always")
        await client.wait_notification("window/showMessageRequest")

        assert (await command(client, "stet.apply"))["applied"] is True
        assert (await finish(client, job))["status"] == "done"
        assert client.text(URI) == NEW


TABLE = '[[actions]]\nname = "tidy"\ntitle = "Tidy"\ninstruction = "Tidy {name}."\nlanguages = ["python"]\n'


async def test_an_unanswered_question_before_the_job_delays_one_job_and_stays_open(tmp_path: Path) -> None:
    """A late answer counts for the jobs that come then."""
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / ".stet.toml").write_text(TABLE)
    async with editor(tmp_path, rootUri=(tmp_path / "p").as_uri()) as client:
        client.answers["window/showMessageRequest"] = silence = Silence()
        client.open(URI, "python", OLD)

        async def tidied() -> Json:
            job = await command(client, "stet.custom", action="tidy", uri=URI, range=lines(1))
            return await finish(client, job["job"])

        refused = [(await tidied())["status"] for _ in range(2)]
        assert refused == ["refused", "refused"]
        assert len([box for box in boxes(client) if "No response to" in box]) == 1
        asked = [each["message"] for each in client.received("window/showMessageRequest")]
        client.answers["window/showMessageRequest"] = lambda params: {"title": "Apply"}  # no check ran it
        silence.end({"title": "Trust these actions"})
        async with asyncio.timeout(TIMEOUT):
            while (await tidied())["status"] == "refused":  # the answer is still on its way
                await asyncio.sleep(0.05)
        assert client.text(URI) == NEW
        assert len(asked) == 1
        later = client.received("window/showMessageRequest")[1:]
        assert [any(each["title"] == "Apply" for each in params["actions"]) for params in later] == [True]
