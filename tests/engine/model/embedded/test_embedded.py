"""The embedded model: why it may not serve, and (marked `model`) that it really does, is shared, and goes."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from stet_ls.engine.api.events import Event, Notice, Stage
from stet_ls.engine.api.message import Message
from stet_ls.engine.errors import NoModelError, WeightsError
from stet_ls.engine.model.chat import Sampling
from stet_ls.engine.model.embedded.embedded_model import Embedded, default_threads
from stet_ls.engine.model.embedded.weights import WEIGHTS, installed
from stet_ls.engine.model.pool import ModelPool
from stet_ls.engine.settings.schema import ModelSettings, Settings
from stet_ls.engine.settings.table_schemas import Provider
from stet_ls.engine.storage.paths import Paths, user_paths

TINY = Settings(model=ModelSettings(embedded="tiny", idle_seconds=60))
USERS_WEIGHTS = installed(user_paths(), "tiny")
"""Looked up before a test moves STET_HOME."""


@pytest.fixture
def paths(stet_home: Path) -> Paths:
    """The paths of a new user."""
    return user_paths()


async def test_the_embedded_model_can_be_switched_off(paths: Paths) -> None:
    embedded = Embedded(Settings(model=ModelSettings(embedded="off")), paths)
    assert embedded.available() == "The embedded model is disabled (setting `model.embedded`)."
    with pytest.raises(NoModelError, match="disabled"):
        await embedded.endpoint()


@pytest.mark.parametrize(("name", "size"), [("tiny", "491 MB"), ("small", "1117 MB")])
async def test_missing_weights_are_reported_with_the_command_and_the_size(paths: Paths, name: str, size: str) -> None:
    pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    embedded = Embedded(Settings.model_validate({"model": {"embedded": name}}), paths)
    reason = embedded.available()
    assert reason is not None
    assert f"stet model pull {name}" in reason
    assert size in reason
    with pytest.raises(WeightsError):
        await embedded.endpoint()
    assert not paths.runtime.exists(), "nothing was started or written"


async def test_damaged_weights_are_reported_and_no_process_is_left(paths: Paths) -> None:
    """The size is right and the content is not: its SHA-256 tells, before anything is started."""
    pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    weights = WEIGHTS["tiny"]
    paths.models.mkdir(parents=True)
    with (paths.models / weights.stored_as).open("wb") as file:
        file.truncate(weights.size)
    embedded = Embedded(TINY, paths)
    assert embedded.available() is None
    with pytest.raises(WeightsError, match=r"SHA-256 differs. Run `stet model pull tiny` to replace it"):
        await embedded.endpoint()
    await embedded.close()
    assert not paths.runtime.exists(), "nothing was started"


def test_the_server_process_does_not_import_the_inference_library() -> None:
    script = "import sys, stet_ls.engine.model.embedded.embedded_model; sys.exit('xllamacpp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


@pytest.fixture
def home_with_model(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """A new user who shares the weights of the one who runs the tests."""
    pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    if USERS_WEIGHTS is None:
        pytest.skip("the tiny model is not here: run `stet model pull tiny`")
    monkeypatch.setenv("STET_MODELS_DIR", str(USERS_WEIGHTS.parent))
    return paths


@pytest.fixture
async def embedded(home_with_model: Paths) -> AsyncIterator[Embedded]:
    embedded = Embedded(TINY, home_with_model)
    yield embedded
    await embedded.close()


def client_of(provider: Provider) -> httpx2.AsyncClient:
    assert provider.api_key is not None
    key = provider.api_key.get_secret_value()
    return httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=300, trust_env=False)


def body_of(prompt: str, **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": prompt}], "temperature": 0, **more}


def pid_of(paths: Paths) -> int:
    state = next((paths.runtime / "workers").glob("embedded-*.json"))
    pid: int = json.loads(state.read_text())["pid"]
    return pid


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def eventually(holds: Callable[[], bool], seconds: float = 30.0) -> None:
    """A process ends without telling us; the only way to know is to look."""
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.02)


@pytest.mark.model
@pytest.mark.timeout(600)
async def test_the_embedded_server_requires_the_key(embedded: Embedded, home_with_model: Paths) -> None:
    events: list[Event] = []
    provider = await embedded.endpoint(events.append)
    assert events == [Notice("Starting the embedded model."), Stage("model")]
    assert provider.base_url.startswith("http://127.0.0.1:")
    assert provider.model == "qwen2.5-coder-0.5b-instruct"
    async with client_of(provider) as client:
        reply = await client.post(f"{provider.base_url}/chat/completions", json=body_of("Say yes.", max_tokens=4))
        assert reply.json()["choices"][0]["message"]["content"]
        assert (await client.get(f"{provider.base_url}/models")).json()["data"][0]["id"] == provider.model
        del client.headers["Authorization"]
        for path in ("chat/completions", "completions", "models"):
            refused = await client.post(f"{provider.base_url}/{path}", json=body_of("Say yes."))
            assert refused.status_code == 401
    log = (home_with_model.logs / "embedded.log").read_text()
    assert "Say yes" not in log
    assert provider.api_key is not None
    assert provider.api_key.get_secret_value() not in log


@pytest.mark.model
@pytest.mark.timeout(600)
async def test_all_servers_of_a_user_share_one_model_process_and_the_last_ends_it(
    embedded: Embedded, home_with_model: Paths
) -> None:
    other = Embedded(TINY, home_with_model)
    events: list[Event] = []
    first, second = await embedded.endpoint(), await other.endpoint(events.append)
    assert first == second
    assert events == [], "it runs already, so no one is told to wait"
    pid = pid_of(home_with_model)
    await embedded.close()
    async with client_of(second) as client:
        assert (await client.get(f"{second.base_url}/models")).status_code == 200
    await other.close()
    await eventually(lambda: not is_running(pid))


@pytest.mark.model
@pytest.mark.timeout(600)
async def test_the_model_process_is_restarted_after_a_crash(embedded: Embedded, home_with_model: Paths) -> None:
    first = await embedded.endpoint()
    os.kill(pid_of(home_with_model), 9)
    second = await embedded.endpoint()
    assert second.base_url != first.base_url or second.api_key != first.api_key
    async with client_of(second) as client:
        assert (await client.get(f"{second.base_url}/models")).status_code == 200


@pytest.mark.model
@pytest.mark.timeout(600)
async def test_starting_the_model_does_not_block_the_event_loop(embedded: Embedded) -> None:
    """As many turns of the loop as fit: a blocking load would leave a gap of a second."""
    gaps: list[float] = []
    starting = asyncio.create_task(embedded.endpoint())
    while not starting.done():
        before = time.thread_time()
        await asyncio.sleep(0.01)
        gaps.append(time.thread_time() - before)
    await starting
    assert len(gaps) > 20
    assert max(gaps) < 0.2, "processor time of this thread, which no other process can add to"


@pytest.mark.model
@pytest.mark.timeout(600)
async def test_a_cancelled_call_stops_while_the_model_reads_its_prompt(home_with_model: Paths) -> None:
    """Counted in processor seconds of the child: on a busy machine everything takes longer on the clock."""
    models = ModelPool(
        TINY.model_copy(update={"model": TINY.model.model_copy(update={"discover": False})}), home_with_model
    )
    long = "\n".join(f"def f{number}(a):\n    return a * {number * 7919 % 10007}" for number in range(300))
    sampling = Sampling(temperature=0.1, max_tokens=20)
    try:
        await models.complete([Message("user", "Say: hi")], sampling=sampling, deadline=300)
        pid = pid_of(home_with_model)
        if not Path(f"/proc/{pid}/stat").exists():
            pytest.skip("this system does not tell a process' processor time in /proc")
        started = processor_seconds(pid)
        call = asyncio.create_task(models.complete([Message("user", long)], sampling=sampling, deadline=300))
        async with asyncio.timeout(200):
            while processor_seconds(pid) - started < 2:
                await asyncio.sleep(0.05)
        call.cancel()
        spent = processor_seconds(pid)
        await asyncio.gather(call, return_exceptions=True)
        await quiet(pid)
        assert processor_seconds(pid) - spent < 1.5, "the rest of the prompt would take over a minute"
    finally:
        await models.close()


ASKS = """
import json, os, sys, urllib.request
from stet_ls.engine.model.embedded.embedded_child import Llama
llama = Llama(sys.argv[1], "it", threads=1, context=2048, drafts=sys.argv[2] == "drafts")
info = llama.start()
headers = {"Authorization": f"Bearer {info['api_key']}", "Content-Type": "application/json"}
request = urllib.request.Request(f"{info['base_url']}/chat/completions", sys.stdin.buffer.read(), headers)
reply = json.load(urllib.request.urlopen(request))
text, timings = reply["choices"][0]["message"]["content"], reply["timings"]
print("\\nREPLY", json.dumps([text, timings.get("draft_n_accepted", 0)]), flush=True)
os._exit(0)
"""

EDIT = """Fix the bug in this code, a wrong sign, and reply with all of the code.
```python
def weighted(items, weights):
    \"\"\"The weighted sum of the items, each with the weight at its place.\"\"\"
    total = 0
    for item, weight in zip(items, weights):
        total -= item * weight
    return total
```"""


@pytest.mark.model
@pytest.mark.timeout(600)
def test_drafts_do_not_change_an_edit_and_write_most_of_it(home_with_model: Paths) -> None:
    def asked(drafts: str) -> tuple[str, int]:
        body = json.dumps(body_of(EDIT, max_tokens=200))
        done = subprocess.run(
            [sys.executable, "-c", ASKS, str(USERS_WEIGHTS), drafts], input=body, capture_output=True, text=True
        )
        line = next(
            each for each in done.stdout.splitlines() if each.startswith("REPLY ")
        )  # the library logs there too
        reply, accepted = json.loads(line.removeprefix("REPLY "))
        return reply, accepted

    plain, none = asked("plain")
    drafted, accepted = asked("drafts")
    assert none == 0
    assert accepted >= 20, "tokens that were copied"
    assert drafted == plain


@pytest.mark.parametrize(("processors", "threads"), [(1, 1), (2, 2), (4, 3), (8, 7)])
def test_one_processor_stays_free_where_there_are_more_than_two(processors: int, threads: int) -> None:
    assert default_threads(processors) == threads


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def quiet(pid: int) -> None:
    """Waits until a process has used no processor time for a second."""
    async with asyncio.timeout(200):
        before = -1.0
        while (now := processor_seconds(pid)) != before:
            before = now
            await asyncio.sleep(1)
