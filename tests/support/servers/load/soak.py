"""Many jobs through the whole engine in front of servers that misbehave at random, and what they left behind."""

from __future__ import annotations

import asyncio
import gc
import os
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from support.engine import applied, code_reply, request_for
from support.servers.scripted import Body, Reply, ScriptedModel

from stet_ls.engine.errors import ModelError
from stet_ls.engine.run import Engine
from stet_ls.engine.settings.schema import ModelSettings, Settings
from stet_ls.engine.settings.table_schemas import Provider
from stet_ls.engine.storage.paths import user_paths

Fault = Callable[[str, random.Random], Reply]

FAULTS: dict[str, Fault] = {
    "401": lambda text, rng: Reply.failure(401),
    "quota": lambda text, rng: Reply.failure(429, code="insufficient_quota"),
    "429": lambda text, rng: Reply.failure(429, retry_after="0.01"),
    "429 for long": lambda text, rng: Reply.failure(429, retry_after=rng.choice(["6", "soon", "-1"])),
    "400": lambda text, rng: Reply.failure(400, "nonsense"),
    "404": lambda text, rng: Reply.failure(404),
    "500": lambda text, rng: Reply.failure(500),
    "context": lambda text, rng: Reply.failure(400, code="context_length_exceeded"),
    "hangs": lambda text, rng: Reply(text, first_delay=30, head_first=rng.random() < 0.5),
    "page": lambda text, rng: Reply(mode="html"),
    "cut JSON": lambda text, rng: Reply(text, mode="cut_json"),
    "no choices": lambda text, rng: Reply(text, mode="no_choices"),
    "malformed": lambda text, rng: Reply(_head(text, rng), mode="malformed"),
    "error event": lambda text, rng: Reply(_head(text, rng), mode="error_event"),
    "empty": lambda text, rng: Reply(""),
    "rubbish": lambda text, rng: Reply(raw=rng.randbytes(300)),
    "reset": lambda text, rng: Reply(text, drop_after=rng.randrange(30)),
    "stall": lambda text, rng: Reply(text, stall_after=rng.randrange(30)),
    "no end": lambda text, rng: Reply(_head(text, rng), finish=None, no_done=True),
    "too short": lambda text, rng: Reply(_head(text, rng), finish="length"),
    "endless": lambda text, rng: Reply(chunks=["x = 1\n"], mode="endless"),
    "wrong code": lambda text, rng: Reply(text.replace("total + one", "total + (one")),
    "JSON": lambda text, rng: Reply(text, mode="json"),
    "slow": lambda text, rng: Reply(text, delay=0.002),
}
"""By name; each gets the right reply."""


def _head(text: str, rng: random.Random) -> str:
    return text[: rng.randrange(len(text))]


BEFORE = """\
package sums

func sum{n}(ones []int) int {{
\ttotal := 0
\tfor _, one := range ones {{
\t\ttotal = total - one
\t}}
\tif total > {n} {{
\t\treturn {n}
\t}}
\treturn total
}}
"""


def _before(number: int) -> str:
    return BEFORE.format(n=number)


def _after(number: int) -> str:
    return _before(number).replace("total - one", "total + one")


def _right_reply(body: Body) -> str:
    """The right answer to a prompt, whichever job it is of."""
    prompt = "\n".join(str(message["content"]) for message in body["messages"])
    number = int(re.findall(r"func sum(\d+)", prompt)[0])
    return code_reply(_after(number).split("\n\n", 1)[1], "go")


class Misbehaving(ScriptedModel):
    """A server that answers rightly with some probability, else with a random fault."""

    def __init__(
        self,
        seed: int,
        health: float,
        right_reply: Callable[[Body], str] = _right_reply,
        faults: Mapping[str, Fault] = FAULTS,
    ) -> None:
        super().__init__(models=("m-7b",))
        rng = random.Random(seed)

        def answer(body: Body) -> Reply:
            right = right_reply(body)
            if rng.random() < health:
                return Reply(right)
            return faults[rng.choice(sorted(faults))](right, rng)

        self.default = answer


@dataclass
class Report:
    """What came of the jobs, and what they left. Memory is in MB, of the second half of the jobs alone."""

    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    slowest: float = 0.0
    seconds: float = 0.0
    requests: int = 0
    tasks_left: int = 0
    files_left: int = 0
    memory_grown: float = 0.0


async def soak(jobs: int, *, seed: int, healths: Sequence[float], at_once: int = 16, cancelled: float = 0.1) -> Report:
    """Runs that many jobs against one server for each health (the share of right answers)."""
    report, rng = Report(), random.Random(seed)
    tasks, files = len(asyncio.all_tasks()), _open_files()
    with ExitStack() as stack:
        servers = [stack.enter_context(Misbehaving(seed + i, health)) for i, health in enumerate(healths)]
        files_of_servers = _open_files() - files
        engine = Engine(_settings(servers), user_paths())
        places = asyncio.Semaphore(at_once)

        async def one(number: int) -> None:
            async with places:
                await _job(engine, number, rng.random() if rng.random() < cancelled else None, report)

        began = time.monotonic()
        try:
            for start in range(0, jobs, max(1, jobs // 10)):
                await asyncio.gather(*(one(number) for number in range(start, min(jobs, start + jobs // 10))))
                if start <= jobs // 2:
                    half = _memory()
                report.requests += sum(len(server.requests) for server in servers)
                for server in servers:
                    server.requests.clear()
                    server.disconnected.clear()
            report.memory_grown = _memory() - half
        finally:
            await engine.close()
        report.seconds = time.monotonic() - began
        report.tasks_left = len(asyncio.all_tasks()) - tasks
    gc.collect()
    report.files_left = _open_files() - files
    assert files_of_servers >= 0
    return report


def _settings(servers: Sequence[ScriptedModel]) -> Settings:
    providers = tuple(
        Provider(name=f"p{i}", base_url=server.base_url, model="m-7b", timeout_first_token=1.5, timeout_token=1.5)
        for i, server in enumerate(servers)
    )
    return Settings(
        providers=providers, deadline=15, model=ModelSettings(discover=False, embedded="off", breaker_seconds=0.2)
    )


async def _job(engine: Engine, number: int, cancel_after: float | None, report: Report) -> None:
    request = request_for("debug", _before(number).replace("total := 0", "to$0tal := 0"), language="go",
                          instruction="add them up")  # fmt: skip
    began = time.monotonic()
    task = asyncio.create_task(engine.run(request))
    if cancel_after is not None:
        asyncio.get_running_loop().call_later(cancel_after, task.cancel)
    try:
        answer = await task
    except asyncio.CancelledError:
        report.outcomes["cancelled"] += 1
    except ModelError as error:
        report.outcomes["no model"] += 1
        if not str(error).strip():
            report.wrong.append(f"job {number}: no reason was told")
    else:
        report.outcomes["offered" if answer.success else "refused"] += 1
        if answer.success and applied(answer) != _after(number):
            report.wrong.append(f"job {number}: {applied(answer)}")
        if not answer.success and not answer.message.strip():
            report.wrong.append(f"job {number}: no reason was told")
    report.slowest = max(report.slowest, time.monotonic() - began)


def _open_files() -> int:
    """Descriptors of this process; 0 where the system does not list them."""
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


def _memory() -> float:
    """Resident memory in MB; 0 where the system does not tell."""
    gc.collect()
    if not sys.platform.startswith("linux"):
        return 0.0
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
