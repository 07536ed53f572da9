"""How editors start the server: `stet --stdio` without a sub-command, and the options that they add."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.scripted import ScriptedModel
from support.stet import stet_argv
from support.wire import RawClient

from stet_ls import __version__


@pytest.mark.parametrize(
    "words", [["--stdio"], ["serve"], ["serve", "--stdio"], ["--log-level", "debug", "--stdio"]], ids=" ".join
)
async def test_every_way_to_start_it_over_pipes(environment: Mapping[str, str], words: list[str]) -> None:
    async with RawClient.stdio(stet_argv(*words), env=environment) as client:
        result = await client.initialize()

    assert result["serverInfo"] == {"name": "stet", "version": __version__}


async def test_the_log_goes_where_it_is_told(
    environment: Mapping[str, str], scripted: ScriptedModel, tmp_path: Path
) -> None:
    log = tmp_path / "logs" / "here.log"
    scripted.reply("It is a number.")
    argv = stet_argv("--stdio", "--log-file", str(log), "--log-level", "info", "--clientProcessId", str(os.getpid()))
    async with RawClient.stdio(argv, env=environment) as client:
        await client.initialize()
        client.open("file:///a.py", "python", "x = 1\n")
        job = await client.request("workspace/executeCommand", {"command": "stet.explain", "arguments": [{}]})
        done = {"command": "stet.result", "arguments": [{**job, "wait": True}]}
        result = await client.request("workspace/executeCommand", done)

    assert result["status"] == "done"
    assert "action=explain" in log.read_text()
