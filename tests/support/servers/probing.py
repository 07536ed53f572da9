"""Requests to the server of `support.servers.probe_server`, and what they come to."""

from __future__ import annotations

from typing import Any

import pytest
from support.servers.wire import Call, ErrorAnswer, RawClient


def command(name: str, *arguments: Any) -> dict[str, Any]:
    """The params of a command of the probe server."""
    return {"command": f"probe.{name}", "arguments": list(arguments)}


async def started(client: RawClient, name: str) -> Call:
    """A command that has begun and is waiting."""
    call = client.call("workspace/executeCommand", command(name))
    await client.wait_for(lambda m: m.get("method") == "probe/state")
    return call


async def error_of(client: RawClient, method: str, params: Any = None) -> ErrorAnswer:
    """The error that a request is answered with."""
    with pytest.raises(ErrorAnswer) as caught:
        await client.request(method, params)
    return caught.value
