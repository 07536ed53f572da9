"""What an operator sees: lines of the log, metrics, health and capabilities. And what must never be in them."""

from __future__ import annotations

import asyncio
import http.client
import json
import logging
import random
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

import pytest
from pydantic import SecretStr
from support.corpora.planted import TOKENS
from support.engine import Bench, code_reply, request_for
from support.servers import session
from support.servers.scripted import Reply, ScriptedModel, held_port
from support.servers.session import command, editor, fenced, finish, lines, start

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.api.summary import Summary
from stet_ls.engine.errors import EndpointError
from stet_ls.engine.replay import replay
from stet_ls.engine.run import Engine
from stet_ls.engine.settings.schema import LogSettings, Settings
from stet_ls.engine.settings.table_schemas import Provider
from stet_ls.engine.storage.paths import user_paths
from stet_ls.engine.trace.record import read
from stet_ls.server.observability import health
from stet_ls.server.observability.log import ROOT, set_format, start_log
from stet_ls.server.observability.metrics import Metrics
from stet_ls.server.observability.metrics_port import MetricsPort

SECRET = TOKENS["github classic"](random.Random(1))


@pytest.fixture
def log_file(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "stet.log"
    root = logging.getLogger(ROOT)
    for handler in tuple(root.handlers):
        root.removeHandler(handler)
        handler.close()


def test_a_line_for_people_has_the_event_and_its_fields(log_file: Path) -> None:
    start_log(log_file, "info")
    logging.getLogger(f"{ROOT}.engine.run").info("job ended", extra={"job": "ab12", "seconds": 1.5, "model": "m"})
    (line,) = log_file.read_text().splitlines()
    assert line.endswith("stet_ls.engine.run: job ended job=ab12 model=m seconds=1.5")


def test_a_line_for_programs_is_one_json_object(log_file: Path) -> None:
    start_log(log_file, "info")
    set_format("json")
    logging.getLogger(f"{ROOT}.x").info("stage %s", "a\nb", extra={"job": "ab12", "stage": "model"})
    try:
        raise ValueError("no")
    except ValueError:
        logging.getLogger(ROOT).exception("it broke")
    first, second = map(json.loads, log_file.read_text().splitlines())
    assert (first["event"], first["job"], first["stage"], first["level"]) == ("stage a\nb", "ab12", "model", "info")
    assert "ValueError: no" in second["exception"]


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_secret_is_in_a_line(log_file: Path, form) -> None:
    start_log(log_file, "info", form)
    import stet_ls.engine.privacy.redact  # noqa: F401 - as any job has

    logging.getLogger(ROOT).info("the endpoint said %s", SECRET)
    try:
        raise ValueError(SECRET)
    except ValueError:
        logging.getLogger(ROOT).exception("it broke", extra={"fault": SECRET})
    assert SECRET not in log_file.read_text()
    assert "STET_SECRET_1" in log_file.read_text()


def test_standard_output_stays_clean(log_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start_log(log_file, "debug", "json")
    logging.getLogger(ROOT).error("it broke")
    assert capsys.readouterr().out == ""


URI = "file:///w/a.py"
TEXT = "def add(a, b):\n    total = a + b\n    return total\n"
NEW = "def add(a, b):\n    return a + b\n"
Environment = Mapping[str, str]


@pytest.fixture
async def bench(scripted: ScriptedModel, stet_home: Path) -> AsyncIterator[Bench]:
    async with Bench(scripted, price_in=1.0, price_out=2.0) as bench:
        yield bench


async def counted(bench: Bench, *jobs: str) -> str:
    """The metrics after jobs on one text."""
    metrics = Metrics(lambda: bench.engine.queue)
    bench.engine.watch(metrics.count_job)
    for action in jobs:
        await bench.run(action, TEXT.replace("total = a", "$0total = a"), instruction="shorter")
    return metrics.text()


async def test_jobs_calls_tokens_cost_and_verdicts_are_counted(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.default = Reply(code_reply(NEW), usage=(1000, 500))
    text = await counted(bench, "refactor", "refactor", "explain")
    assert 'stet_jobs_total{action="refactor",ended="offered"} 2.0' in text
    model = scripted.models[0]
    assert f'stet_tokens_total{{direction="prompt",model="{model}"}} 3000.0' in text
    assert f'stet_model_calls_total{{model="{model}",result="reply"}} 3.0' in text
    assert f'stet_cost_total{{model="{model}"}} 0.006' in text
    assert 'stet_verdicts_total{check="syntax",verdict="pass"} 2.0' in text
    assert 'stet_stage_seconds_count{stage="model"} 3.0' in text
    assert "stet_calls_waiting 0.0" in text


async def test_refusals_and_faults_are_counted_by_reason(bench: Bench, scripted: ScriptedModel) -> None:
    metrics = Metrics()
    bench.engine.watch(metrics.count_job)
    scripted.default = Reply(code_reply("def add(a, b:\n    return"))
    await bench.run("refactor", TEXT.replace("total = a", "$0total = a"))
    scripted.default = Reply("No.")
    await bench.run("refactor", TEXT.replace("total = a", "$0total = a"))
    scripted.default = Reply.failure(401, "no")
    with pytest.raises(EndpointError):
        await bench.run("refactor", TEXT.replace("total = a", "$0total = a"))
    text = metrics.text()
    assert 'stet_refusals_total{reason="syntax"} 1.0' in text
    assert 'stet_refusals_total{reason="no usable reply"} 1.0' in text
    assert 'stet_errors_total{kind="EndpointError"} 1.0' in text
    assert 'stet_model_requests_total{endpoint="scripted",fault="unauthorized"} 1.0' in text


async def test_a_model_whose_name_is_a_secret_is_not_named(scripted: ScriptedModel, stet_home: Path) -> None:
    scripted.models = [SECRET]
    scripted.default = Reply(code_reply(NEW))
    async with Bench(scripted) as bench:
        text = await counted(bench, "refactor")
    assert SECRET not in text
    assert 'model="other"' in text


def fetched(port: int, path: str = "/metrics", method: str = "GET", **headers: str) -> tuple[int, str]:
    """Status and body of a request to the metrics' port."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


def test_the_metrics_port_accepts_only_local_connections() -> None:
    port = MetricsPort(Metrics().registry, 0)
    try:
        status, body = fetched(port.port)
        assert (status, "stet_calls_working" in body) == (200, True)
        assert fetched(port.port, Host=f"localhost:{port.port}")[0] == 200
        for host in ("evil.example", f"evil.example:{port.port}", "127.0.0.1", "", f"127.0.0.1:{port.port}@x"):
            assert fetched(port.port, Host=host)[0] == 403, host
        assert fetched(port.port, Origin="http://evil.example")[0] == 403
        assert fetched(port.port, method="POST")[0] == 405
        assert fetched(port.port, path="/")[0] == 404
        with pytest.raises(OSError, match=r"[Aa]ddress"):
            MetricsPort(Metrics().registry, port.port)
    finally:
        port.close()
    with pytest.raises(ConnectionError):
        fetched(port.port)


@pytest.fixture
def number() -> Iterator[int]:
    """The number of a port that is free."""
    with held_port() as port:
        yield port


async def test_the_metrics_port_cannot_be_set_by_a_project(
    environment: Environment, stet_home: Path, tmp_path: Path, number: int
) -> None:
    (tmp_path / ".stet.toml").write_text(f"metrics_port = {number}\n")
    async with editor(environment, rootUri=tmp_path.as_uri()) as client:
        assert (await command(client, "stet.stats"))["metrics_port"] is None
        await command(client, "stet.health")
        assert (await command(client, "stet.stats"))["metrics_port"] is None
    (stet_home / "config.toml").write_text(f"metrics_port = {number}\n")
    async with editor(environment) as client:
        await command(client, "stet.health")
        assert (await command(client, "stet.stats"))["metrics_port"] == number
        assert fetched(number)[0] == 200
    with pytest.raises(ConnectionError):
        fetched(number)


async def test_stats_show_the_ledger_and_the_metrics(scripted: ScriptedModel, environment: Environment) -> None:
    scripted.default = Reply(fenced(NEW), usage=(100, 20))
    async with editor(environment) as client:
        client.open(URI, "python", TEXT)
        job = await start(client, "refactor", uri=URI, range=lines(1))
        answer = (await finish(client, job))["answer"]
        stats = await command(client, "stet.stats")
    assert stats["ledger"]["total"]["prompt_tokens"] == 100
    assert stats["ledger"]["action"]["refactor"]["jobs"] == 1
    assert stats["ledger"]["model"][scripted.models[0]]["completion_tokens"] == 20
    assert [row["job"] for row in stats["ledger"]["jobs"]] == [answer["metadata"]["trace"]]
    assert 'stet_jobs_total{action="refactor",ended="offered"} 1.0' in stats["prometheus"]


async def test_health_has_a_row_for_each_part(environment: Environment, stet_home: Path) -> None:
    data = stet_home / "data"
    data.mkdir()
    (data / "traces").write_text("in the way")
    async with editor(environment) as client:
        reported = await session.health(client)
    assert reported["status"] == "ready"
    assert reported["endpoints"][0]["breaker"] == "closed"
    parts = reported["parts"]
    assert set(parts) == {"models", "sandbox", "memory", "index", "checkers", "ledger", "trace", "tasks", "folders"}
    for name, row in parts.items():
        assert row["state"] in ("ok", "off", "missing", "broken", "unknown"), name
        assert row["detail"], name
    assert (parts["ledger"]["state"], parts["trace"]["state"]) == ("ok", "broken")
    assert "STET_HOME" in parts["trace"]["todo"]


async def test_a_part_that_does_not_respond_does_not_block_health(monkeypatch: pytest.MonkeyPatch) -> None:
    """The looks are asked for side by side; one that hangs is unknown, and is there with the next look."""
    released = asyncio.Event()

    async def slow() -> dict[str, str]:
        await released.wait()
        return health.row("ok", "late")

    monkeypatch.setattr(health, "SECONDS", 0.05)
    looks = health.Health()
    looks._looks["sandbox"] = asyncio.ensure_future(slow())
    await asyncio.wait(looks._looks.values(), timeout=health.SECONDS)
    assert looks._row("sandbox")["state"] == "unknown"
    released.set()
    await asyncio.wait(looks._looks.values())
    assert looks._row("sandbox")["detail"] == "late"
    await looks.close()


async def test_capabilities_have_schemas_and_the_users_own_actions(environment: Environment, stet_home: Path) -> None:
    (stet_home / "config.toml").write_text(
        '[[actions]]\nname = "shout"\ntitle = "Shout"\ninstruction = "Write it in capitals."\n'
    )
    async with editor(environment) as client:
        reported = await command(client, "stet.capabilities")
    rows = {row["name"]: row for row in reported["actions"]}
    assert rows["refactor"]["command"] == "stet.refactor"
    assert (rows["shout"]["command"], rows["shout"]["trusted"]) == ("stet.custom", True)
    assert rows["shout"]["input"]["properties"]["action"] == {"const": "shout"}
    assert set(rows["refactor"]["output"]["properties"]) == set(Answer(False, "", "", Summary()).to_json())
    assert reported["limits"]["calls"]["standard"] == 3
    assert "python" in {row["id"] for row in reported["languages"]}


async def test_planted_secrets_are_neither_on_disk_nor_in_the_metrics(
    scripted: ScriptedModel, stet_home: Path, tmp_path: Path
) -> None:
    """Secrets in the buffer, the instruction, the context, the path, the reply, an error and the endpoint's address."""
    chance = random.Random(11)
    planted = {where: TOKENS[kind](chance) for where, kind in zip(PLACES, sorted(TOKENS), strict=False)}
    settings = Settings(log=LogSettings(prompts=True))
    start_log(stet_home / "log" / "stet.log", "debug", "json")
    address = scripted.base_url.replace("http://", f"http://me:{planted['address']}@")
    body = f"    $0total = a + b  # {planted['comment']}\n    return total\n"
    text = f'KEY = "{planted["buffer"]}"\n\n\ndef add(a, b):\n{body}'
    folder = tmp_path / planted["path"].replace("/", "_")
    request = request_for(
        "refactor",
        text,
        instruction=f"use {planted['instruction']}",
        constraints=(f"not {planted['constraint']}",),
        context={"note": planted["context"]},
        path=folder / "a.py",
        workspace=Workspace((folder,)),
    )
    provider = Provider(name="scripted", base_url=address, model=scripted.models[0], api_key=SecretStr(planted["key"]))
    engine = Engine(settings.model_copy(update={"providers": (provider,)}), user_paths())
    metrics = Metrics()
    engine.watch(metrics.count_job)
    made_up = f'def add(a, b, key="{planted["reply"]}"):\n    return a + b'
    scripted.default = Reply(code_reply(made_up), reasoning=planted["reasoning"])
    await engine.run(request)
    scripted.default = Reply.failure(400, planted["error"])
    with pytest.raises(EndpointError):
        await engine.run(request)
    await engine.close()
    found = [
        (where, file.name)
        for file in stet_home.rglob("*")
        if file.is_file()
        for where, secret in planted.items()
        if secret in file.read_text(errors="replace") or json.dumps(secret)[1:-1] in file.read_text(errors="replace")
    ]
    assert found == []
    assert [where for where, secret in planted.items() if secret in metrics.text()] == []
    assert len(list((stet_home / "data" / "traces").glob("*.json"))) == 2
    for file in (stet_home / "data" / "traces").glob("*.json"):
        assert (await replay(read(file), file.name, Settings(), user_paths())).diff == ""
    assert "reply of" in (stet_home / "log" / "stet.log").read_text()


PLACES = (
    *("buffer", "comment", "instruction", "constraint", "context", "path"),
    *("reply", "reasoning", "error", "address", "key"),
)
