"""The SDK is imported by the first call to a model, and by nothing else."""

from __future__ import annotations

import subprocess
import sys

from support.servers.scripted import dead_endpoint

LATE = """
import asyncio, sys, time
from stet_ls.engine.model.chat import Sampling
from stet_ls.engine.model.local_server_consent import ServerConsents
from stet_ls.engine.model.pool import ModelPool
from stet_ls.engine.api.message import Message
from stet_ls.engine.storage.paths import user_paths
from stet_ls.engine.settings.table_schemas import Provider; from stet_ls.engine.settings.schema import Settings

async def main():
    models = ModelPool(Settings(providers=(Provider(name="x", base_url=sys.argv[1], model="m"),)), user_paths())
    early = {"openai", "httpx2", "httpcore2", "truststore"} & set(sys.modules)
    assert not early, early
    longest, last = 0.0, time.perf_counter()

    async def tick():
        nonlocal longest, last
        while True:
            await asyncio.sleep(0.001)
            longest, last = max(longest, time.perf_counter() - last), time.perf_counter()

    ticking = asyncio.create_task(tick())
    began = time.perf_counter()
    await models.complete([Message("user", "hi")], sampling=Sampling(0.2, 50), deadline=100)
    took = time.perf_counter() - began
    ticking.cancel()
    await models.close()
    assert "openai" in sys.modules
    print(longest / took)

asyncio.run(main())
"""


def test_the_sdk_is_loaded_by_the_first_call_without_blocking(environment) -> None:
    """Its import takes most of the first call; the event loop must not stand still for half of that."""
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", LATE, environment["STET_BASE_URL"]],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "ResourceWarning" not in done.stderr
    assert float(done.stdout) < 0.5


LOOK = """
import asyncio, sys
from stet_ls.engine.model import health
from stet_ls.engine.model.local_server_consent import ServerConsents
from stet_ls.engine.model.pool import ModelPool
from stet_ls.engine.storage.paths import user_paths
from stet_ls.engine.settings.table_schemas import Provider; from stet_ls.engine.settings.schema import Settings

async def main():
    health._SECONDS = 60.0
    models = ModelPool(Settings(providers=(Provider(name="x", base_url=sys.argv[1], model="m"),)), user_paths())
    assert (await models.health())["status"] == "unreachable"
    await models.close()
    assert "openai" not in sys.modules

asyncio.run(main())
"""


def test_checking_a_dead_endpoint_does_not_wait_for_the_sdk(environment) -> None:
    """It would make every other endpoint that is looked at meanwhile seem silent."""
    with dead_endpoint() as base_url:
        done = subprocess.run([sys.executable, "-c", LOOK, base_url], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
