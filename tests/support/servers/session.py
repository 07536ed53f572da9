"""A real server over stdio with a scripted model behind it, and the few things that every test does with the two."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from support.servers.fork_server import forked_argv
from support.servers.wire import TIMEOUT, Json, RawClient, recorded

SERVER = (sys.executable, "-m", "stet_ls.server", "serve", "--stdio")

NOTHING = "nothing"
"""The client that offers nothing at all."""

VSCODE = "vscode-1.139-code-server-languageclient-11"
NEOVIM = "neovim-0.11.4"
EGLOT = "emacs28-eglot-1.9"


def introduction(name: str) -> Json:
    """The `initialize` params of a recorded client, or of the one that offers nothing; the process is this one."""
    params = {} if name == NOTHING else recorded(name)
    return {key: value for key, value in params.items() if key != "processId"}


@asynccontextmanager
async def editor(
    environment: Mapping[str, str],
    name: str = NEOVIM,
    *,
    encodings: list[str] | None = None,
    argv: Sequence[str] = (),
    **params: Any,
) -> AsyncIterator[RawClient]:
    """A connected client with the capabilities of that editor; leaving checks that every request got one answer.

    `argv` starts the server; by default it is forked, which saves its start.
    """
    async with RawClient.stdio(list(argv) or forked_argv("serve", "--stdio"), env=environment) as client:
        params_sent = {**introduction(name), **params}
        if encodings is not None:
            params_sent["capabilities"] = {
                **params_sent.get("capabilities", {}),
                "general": {"positionEncodings": encodings},
            }
        await client.initialize(**params_sent)
        yield client


async def start(client: RawClient, action: str, **argument: Any) -> str:
    """Starts a job and returns its id."""
    return str((await command(client, f"stet.{action}", **argument))["job"])


async def finish(client: RawClient, job: str) -> Json:
    """The result of a job, once it has ended."""
    return await command(client, "stet.result", job=job, wait=True)


async def turned_out(client: RawClient, job: str) -> Json:
    """The result of an ended job, once it tells whether the edit is in its document: that may take longer."""
    async with asyncio.timeout(TIMEOUT):
        while (result := await finish(client, job))["applied"] is None:
            await asyncio.sleep(0.05)
    return result


async def command(client: RawClient, name: str, /, **argument: Any) -> Json:
    """The result of a command; without any argument none is sent."""
    params: Json = {"command": name}
    if argument:
        params["arguments"] = [argument]
    answer = await client.request("workspace/executeCommand", params)
    assert isinstance(answer, dict)
    return answer


async def health(client: RawClient) -> Json:
    """What the server says of its parts, once each of them has told: it waits two seconds for them, and 0.8 for one."""
    late = ("no response within", "no list of models within")
    async with asyncio.timeout(TIMEOUT):
        while True:
            health = await command(client, "stet.health")
            if not any(words in str(health) for words in late):
                return health
            await asyncio.sleep(0.05)


async def ended(client: RawClient, *, since: int = 0) -> Json:
    """The end of a progress; it comes after the job's if the client was slow to agree to it."""
    message = await client.wait_for(
        lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "end", since=since
    )
    progress: Json = message["params"]["value"]
    return progress


def begins_first(client: RawClient) -> None:
    """Holds the editor's settings back until a job's progress has begun, so that no line of it comes too early.

    A server waits three seconds for them (`client_configuration.CONFIGURATION_SECONDS`).
    """

    async def settings(params: Json) -> list[None]:
        await client.wait_for(lambda m: (m.get("params") or {}).get("value", {}).get("kind") == "begin")
        return [None] * len(params["items"])

    client.answers["workspace/configuration"] = settings


def boxes(client: RawClient) -> list[str]:
    """The texts of all message boxes so far."""
    return [params["message"] for params in client.received("window/showMessage")]


def fenced(code: str, language: str = "python") -> str:
    """A model's reply that replaces the target by `code`."""
    return f"PLAN: make it shorter\n```{language}\n{code}\n```\n"


def lines(first: int, last: int | None = None) -> Json:
    """A range of whole lines, the last one included up to its first column."""
    end = first if last is None else last
    return {"start": {"line": first, "character": 0}, "end": {"line": end, "character": 0}}
