"""What is shown between two verdicts, and what a judge that takes its time must not hold up."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from support.findings import PUBLISH, URI, editing, empty, messages, pushed, saying
from support.servers.session import EGLOT, SERVER, introduction
from support.servers.wire import TIMEOUT, RawClient

from stet_ls.server.diagnostics.serial_executor import SerialExecutor
from stet_ls.server.lsp.watchdog import is_alive

GO = "file:///w/a.go"
GO_BROKEN = "package a\n\nfunc f( {\n}\n"
GO_WHOLE = "package a\n\nfunc f() {\n}\n"
MISUSED = "x = 1\nprint(end='', x)\n"


async def test_a_lane_runs_one_task_at_a_time_even_after_cancellation() -> None:
    with ThreadPoolExecutor(4) as pool:
        lane, release, done = SerialExecutor(pool), threading.Event(), []

        def first() -> None:
            release.wait(TIMEOUT)
            done.append("first")

        abandoned = asyncio.create_task(lane.run(first))
        await asyncio.sleep(0)
        abandoned.cancel()
        second = asyncio.create_task(lane.run(done.append, "second"))
        await asyncio.wait({abandoned})
        assert abandoned.cancelled()
        release.set()
        await second
        assert done == ["first", "second"]


async def test_a_lane_survives_a_failing_task() -> None:
    with ThreadPoolExecutor(1) as pool:
        lane = SerialExecutor(pool)
        with pytest.raises(ValueError, match="invalid literal"):
            await lane.run(int, "x")
        assert await lane.run(int, "7") == 7


@pytest.mark.usefixtures("stet_home")
async def test_errors_of_the_better_checker_are_kept_while_typing_elsewhere() -> None:
    """The grammar sees nothing wrong here: between two rests the finding must not go out and on again."""
    async with editing(EGLOT) as client:
        client.open(URI, "python", MISUSED)
        await pushed(client, saying("Positional argument"))
        mark = client.mark()
        client.change(URI, "import os\n\n", ((0, 0), (0, 0)))
        first = await pushed(client, lambda params: params["version"] == 2, since=mark)
        assert messages(first) == ["Positional argument cannot follow keyword argument"]
        assert first["diagnostics"][0]["range"]["start"]["line"] == 3


@pytest.mark.usefixtures("stet_home")
async def test_an_error_is_removed_with_the_first_change_of_its_text() -> None:
    async with editing(EGLOT) as client:
        client.open(URI, "python", MISUSED)
        params = await pushed(client, saying("Positional argument"))
        at = params["diagnostics"][0]["range"]["start"]
        mark = client.mark()
        client.change(URI, "y=", ((at["line"], at["character"]), (at["line"], at["character"])))
        client.change(URI, "z", ((at["line"], at["character"] + 2), (at["line"], at["character"] + 3)))
        await pushed(client, empty, since=mark)


# A tool that hangs --------------------------------------------------------------------------------------------------


@asynccontextmanager
async def hanging(tmp_path: Path, environment: Mapping[str, str]) -> AsyncIterator[RawClient]:
    """A server whose gofmt says when it starts, hangs until there is a file `go`, and finds an error the first time."""
    tool = tmp_path / "bin" / "gofmt"
    tool.parent.mkdir()
    wait = f"while ! test -e {tmp_path}/go; do sleep 0.05; done"
    command = f"test $(wc -l < {tmp_path}/log) = 1 || exit 0; echo '<standard input>:1:1: a late word' >&2; exit 2"
    tool.write_text(f"#!/bin/sh\necho started $$ >> {tmp_path}/log\n{wait}\n{command}\n")
    tool.chmod(0o755)
    path = os.pathsep.join([str(tool.parent), environment["PATH"]])
    async with RawClient.stdio(SERVER, env={**environment, "PATH": path}) as client:
        await client.initialize(**introduction(EGLOT))
        yield client


async def started(tmp_path: Path, count: int = 1) -> None:
    """Returns once the tool was started that often."""
    async with asyncio.timeout(TIMEOUT):
        log = tmp_path / "log"
        while not log.exists() or log.read_text().count("started") < count:
            await asyncio.sleep(0.02)


async def test_a_late_verdict_is_dropped(tmp_path: Path, environment: Mapping[str, str]) -> None:
    async with hanging(tmp_path, environment) as client:
        client.open(GO, "go", GO_BROKEN)
        await started(tmp_path)
        client.change(GO, "")  # the grammar's word on this one is final: nothing is wrong with it
        await pushed(client, lambda params: params["version"] == 2 and empty(params), uri=GO)
        mark = client.mark()
        (tmp_path / "go").touch()
        client.change(GO, "package a\n")
        await started(tmp_path, 2)
        await pushed(client, lambda params: params["version"] == 3, uri=GO, since=mark)
        assert all(empty(each["params"]) for each in client.messages[mark:] if each.get("method") == PUBLISH)


async def test_a_hanging_check_does_not_block_other_documents(tmp_path: Path, environment: Mapping[str, str]) -> None:
    async with hanging(tmp_path, environment) as client:
        client.open(GO, "go", GO_BROKEN)
        await pushed(client, lambda params: not empty(params), uri=GO)
        await started(tmp_path)
        # neither the same document's next version nor another document
        client.change(GO, GO_WHOLE)
        await pushed(client, lambda params: params["version"] == 2 and empty(params), uri=GO)
        client.open(URI, "python", MISUSED)
        await pushed(client, saying("Positional argument"))
        assert await client.request("workspace/executeCommand", {"command": "stet.jobs"})


async def test_a_document_closed_during_the_check_gets_no_diagnostics(
    tmp_path: Path, environment: Mapping[str, str]
) -> None:
    async with hanging(tmp_path, environment) as client:
        client.open(GO, "go", GO_BROKEN)
        await pushed(client, lambda params: not empty(params), uri=GO)
        await started(tmp_path)
        mark = client.mark()
        client.close(GO)
        await pushed(client, empty, uri=GO, since=mark)
        client.open(GO, "go", GO_WHOLE)
        await pushed(client, lambda params: params.get("version") == 1, uri=GO, since=mark)
        client.open(URI, "python", MISUSED)
        await pushed(client, saying("Positional argument"))
        late = [each["params"] for each in client.messages[mark:] if each.get("method") == PUBLISH]
        assert all(empty(params) for params in late if params["uri"] == GO)


async def test_a_shutdown_does_not_wait_for_a_check(tmp_path: Path, environment: Mapping[str, str]) -> None:
    async with hanging(tmp_path, environment) as client:
        begun = time.monotonic()
        client.open(GO, "go", GO_BROKEN)
        await started(tmp_path)
        await client.request("shutdown")
        tool = int((tmp_path / "log").read_text().split()[1])
        assert is_alive(tool) or time.monotonic() - begun > 2, "after 2 s it is ended: then nothing is shown here"
        assert await client.stop() == 0
