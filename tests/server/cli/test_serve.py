"""How editors start the server: `stet --stdio` without a sub-command, and the options that they add."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from lsprotocol import types
from support.processes.stet import stet_argv
from support.servers.scripted import ScriptedModel
from support.servers.wire import TIMEOUT, RawClient

from stet_ls import __version__
from stet_ls.server.__main__ import main
from stet_ls.server.app import create_server


@pytest.mark.parametrize(
    "words", [["--stdio"], ["serve"], ["serve", "--stdio"], ["--log-level", "debug", "--stdio"]], ids=" ".join
)
async def test_every_command_that_starts_the_server_over_pipes_works(
    environment: Mapping[str, str], words: list[str]
) -> None:
    async with RawClient.stdio(stet_argv(*words), env=environment) as client:
        result = await client.initialize()

    assert result["serverInfo"] == {"name": "stet", "version": __version__}


async def test_the_log_is_written_to_the_given_file(
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


TOKEN = "open sesame 7Qx"

listing = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process rewrite its own arguments")


@listing
@pytest.mark.parametrize("words", [["--token", TOKEN], [f"--token={TOKEN}"], ["--token-file", "FILE"], []])
async def test_the_token_is_not_visible_in_the_process_list(
    environment: Mapping[str, str], tmp_path: Path, words: list[str]
) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    file.chmod(0o600)
    argv = stet_argv("serve", "--tcp", "127.0.0.1:0", *(str(file) if word == "FILE" else word for word in words))
    variables = {**environment, **({} if words else {"STET_TOKEN": TOKEN})}
    server = await asyncio.create_subprocess_exec(*argv, env=variables, stderr=asyncio.subprocess.PIPE)
    assert server.stderr is not None
    try:
        messages = []
        while b"listening on" not in (line := await asyncio.wait_for(server.stderr.readline(), TIMEOUT)):
            assert line, messages
            messages.append(line.decode())
        port = int(line.rsplit(b":", 1)[1])

        assert TOKEN.encode() not in Path(f"/proc/{server.pid}/cmdline").read_bytes()
        assert len(messages) == any(word.startswith("--token") and TOKEN in words[-1] for word in words)
        assert not messages or "use `--token-file` or `STET_TOKEN`" in messages[0]
        async with RawClient.tcp("127.0.0.1", port) as client:
            await client.initialize(initializationOptions={"token": TOKEN})
    finally:
        if server.returncode is None:
            server.kill()
        await server.wait()


@pytest.mark.parametrize(
    ("text", "said"), [(None, "cannot read {}"), ("\n", "{} is empty"), ("x" * 5000, "cannot read {}")]
)
def test_a_token_file_without_a_token_is_reported(
    text: str | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "token"
    if text is not None:
        file.write_text(text)

    assert main(["serve", "--tcp", "127.0.0.1:0", "--token-file", str(file)]) == 2
    assert f"--token-file: {said.format(file)}" in capsys.readouterr().err


def test_a_token_file_that_others_may_read_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(0o644)

    assert main(["serve", "--tcp", "192.0.2.1:0", "--token-file", str(file)]) == 2, "no address of this machine"
    assert "chmod 600" in capsys.readouterr().err


def test_initialize_is_answered_before_what_it_does_not_need_is_imported(environment: Mapping[str, str]) -> None:
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}'
    argv = [sys.executable, "-X", "importtime", *stet_argv("--stdio")[1:]]
    message = b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    done = subprocess.run(argv, env=environment, input=message, capture_output=True, timeout=TIMEOUT)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
    assert b'"serverInfo"' in done.stdout
    assert "stet_ls.server.app" in imported
    engine = {"stet_ls.engine.api.metadata", "stet_ls.engine.api.summary", "stet_ls.engine.run"}
    assert not imported & {"openai", "pydantic", "tree_sitter", *engine}
    assert not imported & {"ctypes", "difflib", "email", "importlib.metadata", "urllib.request"}


def test_garbage_is_collected_from_initialize_on() -> None:
    """The start does without: it makes a great many objects, and none of them is garbage."""
    server = create_server()
    gc.disable()
    try:
        server.protocol.fm.features[types.INITIALIZE](types.InitializeParams(types.ClientCapabilities()))
        assert gc.isenabled()
    finally:
        gc.enable()
