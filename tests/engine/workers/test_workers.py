"""Children: found or started, held by leases, and gone without fail."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from stet_ls.engine.errors import PolicyError, WorkerError
from stet_ls.engine.workers.handshake import Handshake
from stet_ls.engine.workers.lease import connect
from stet_ls.engine.workers.spawn import spawn
from stet_ls.engine.workers.worker import ChildSpec, Worker

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sessions and signals of POSIX")
HERE = Path(__file__).parent


class Nursery:
    """A home for children, and what is known about them."""

    def __init__(self, root: Path) -> None:
        self.births_file = root / "births"
        self.runtime = root / "run"
        self.logs = root / "log"

    @property
    def births(self) -> list[int]:
        return [int(line) for line in self.births_file.read_text().split()] if self.births_file.exists() else []

    @property
    def state(self) -> Path:
        return self.runtime / "workers" / "sample-1.json"

    def kind(self, mode: str = "plain", *options: str, shared: bool = True, deadline: float = 30.0) -> ChildSpec:
        arguments = (str(self.births_file), mode, *options)
        return ChildSpec("sample", "sample_child", arguments, "1" if shared else None, deadline)

    def worker(self, mode: str = "plain", *options: str, shared: bool = True, deadline: float = 30.0) -> Worker:
        return Worker(self.kind(mode, *options, shared=shared, deadline=deadline), runtime=self.runtime, logs=self.logs)


@pytest.fixture
def nursery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Nursery:
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    return Nursery(tmp_path)


@asynccontextmanager
async def closing(*workers: Worker) -> AsyncIterator[None]:
    try:
        yield
    finally:
        for worker in workers:
            await worker.close()


async def eventually(holds: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Processes end without telling us; the only way to know is to look."""
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.02)
    return True


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_child_starts_with_the_first_lease_and_leaves_with_the_last(nursery: Nursery) -> None:
    worker = nursery.worker()
    assert nursery.births == [], "nothing starts before it is needed"
    starts: list[str] = []
    lease = await worker.lease(lambda: starts.append("start"))
    assert lease.info["greeting"] == "hello"
    assert nursery.births == [lease.pid]
    assert await worker.lease(lambda: starts.append("start")) is lease
    assert starts == ["start"]
    await worker.close()
    assert await eventually(lambda: not is_running(lease.pid))


async def test_all_processes_of_a_user_share_one_child(nursery: Nursery) -> None:
    first, second = nursery.worker(), nursery.worker()
    async with closing(first, second):
        leases = await asyncio.gather(first.lease(), second.lease())
        assert leases[0].pid == leases[1].pid
        assert len(nursery.births) == 1
        await first.close()
        assert await leases[1].touch(), "the child stays for the lease that is left"
    assert await eventually(lambda: not is_running(leases[0].pid))


async def test_private_children_are_not_shared(nursery: Nursery) -> None:
    first, second = nursery.worker(shared=False), nursery.worker(shared=False)
    async with closing(first, second):
        assert (await first.lease()).pid != (await second.lease()).pid
        assert not nursery.state.exists()


async def test_a_killed_holder_releases_its_lease(nursery: Nursery) -> None:
    script = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from stet_ls.engine.workers.worker import ChildSpec, Worker\n"
        "async def main():\n"
        "    births, runtime, logs = map(Path, sys.argv[1:])\n"
        "    kind = ChildSpec('sample', 'sample_child', (str(births), 'plain'), '1')\n"
        "    lease = await Worker(kind, runtime=runtime, logs=logs).lease()\n"
        "    print(lease.pid, flush=True)\n"
        "    await asyncio.Event().wait()\n"
        "asyncio.run(main())\n"
    )
    argv = [sys.executable, "-c", script, str(nursery.births_file), str(nursery.runtime), str(nursery.logs)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        pid = int(await asyncio.to_thread(holder.stdout.readline))
        assert os.getsid(pid) == pid, "its own session: a terminal that closes does not take it along"
        holder.kill()
    assert await eventually(lambda: not is_running(pid))


async def test_a_killed_child_is_replaced(nursery: Nursery) -> None:
    worker = nursery.worker()
    async with closing(worker):
        first = await worker.lease()
        os.kill(first.pid, signal.SIGKILL)
        second = await worker.lease()
        assert second.pid != first.pid
        assert await second.touch()


async def test_a_child_without_a_lease_stops(nursery: Nursery) -> None:
    arguments = [str(nursery.births_file), "plain", "--first-lease", "0.2"]
    child = await spawn("sample", "sample_child", arguments, log=nursery.logs / "sample.log", deadline=30)
    assert await eventually(lambda: not is_running(child.handshake.pid))
    assert await connect(child.handshake) is None


async def test_an_idle_child_stops_despite_a_lease(nursery: Nursery) -> None:
    worker = nursery.worker("plain", "--idle", "2")
    async with closing(worker):
        lease = await worker.lease()
        assert await eventually(lambda: not is_running(lease.pid))
        log = (nursery.logs / "sample.log").read_text()
        assert "leaving: idle" in log
        assert "Traceback" not in log


async def test_a_working_child_is_not_idle(nursery: Nursery) -> None:
    worker, witness = nursery.worker("busy", "--idle", "0.5"), nursery.worker("plain", "--idle", "2", shared=False)
    async with closing(worker, witness):
        lease = await worker.lease()
        idle = await witness.lease()
        assert await eventually(lambda: not is_running(idle.pid)), "four times the idle period went by"
        assert await lease.touch()


async def test_a_cancelled_start_leaves_no_orphan(nursery: Nursery) -> None:
    start = asyncio.create_task(nursery.worker("hanging").lease())
    await eventually(lambda: bool(nursery.births))
    start.cancel()
    with pytest.raises(asyncio.CancelledError):
        await start
    assert await eventually(lambda: not is_running(nursery.births[0]))


async def test_a_child_that_never_becomes_ready_is_ended(nursery: Nursery) -> None:
    with pytest.raises(WorkerError, match="not ready within 3 s"):
        await nursery.worker("hanging", deadline=3).lease()
    assert await eventually(lambda: not any(map(is_running, nursery.births)))


async def test_a_failing_child_is_reported_and_not_restarted_in_a_loop(nursery: Nursery) -> None:
    worker = nursery.worker("broken")
    for _ in range(2):
        with pytest.raises(WorkerError, match=r"RuntimeError: the sample is broken .*sample\.log"):
            await worker.lease()
    born = len(nursery.births)
    with pytest.raises(WorkerError, match=r"the sample is broken.* Retrying in 1 s"):
        await worker.lease()
    assert len(nursery.births) == born == 2


async def test_a_child_that_exits_early_is_not_restarted_in_a_loop(nursery: Nursery) -> None:
    worker = nursery.worker()
    async with closing(worker):
        for _ in range(2):
            os.kill((await worker.lease()).pid, signal.SIGKILL)
        with pytest.raises(WorkerError, match="ended unexpectedly"):
            await worker.lease()


async def test_output_of_the_child_goes_to_its_log(nursery: Nursery) -> None:
    worker = nursery.worker()
    async with closing(worker):
        await worker.lease()
    log = nursery.logs / "sample.log"
    for words in ("a library that prints", "native code that prints"):
        assert await eventually(lambda words=words: words in log.read_text())  # type: ignore[misc]
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


async def test_a_long_log_is_truncated(nursery: Nursery) -> None:
    nursery.logs.mkdir()
    log = nursery.logs / "sample.log"
    log.write_text("old\n" * 300_000)
    worker = nursery.worker()
    async with closing(worker):
        await worker.lease()
    assert "old" not in log.read_text()
    assert (nursery.logs / "sample.log.1").read_text().startswith("old")


async def test_no_secret_reaches_the_child_or_its_command_line(
    nursery: Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    worker = nursery.worker()
    async with closing(worker):
        lease = await worker.lease()
        assert "OPENAI_API_KEY" not in lease.info["environment"]
        assert stat.S_IMODE(nursery.state.stat().st_mode) == 0o600
        assert stat.S_IMODE(nursery.state.parent.stat().st_mode) == 0o700
        key = json.loads(nursery.state.read_text())["key"]
        command = Path(f"/proc/{lease.pid}/cmdline")
        if command.exists():
            assert key.encode() not in command.read_bytes()
        assert key not in (nursery.logs / "sample.log").read_text()
        assert key not in repr(Handshake.parse(nursery.state.read_text()))


async def test_a_connection_without_the_key_gets_no_lease(nursery: Nursery) -> None:
    worker = nursery.worker()
    async with closing(worker):
        lease = await worker.lease()
        true = Handshake.parse(nursery.state.read_text())
        assert true is not None
        assert await connect(Handshake(true.pid, true.port, "a guess")) is None
        reader, writer = await asyncio.open_connection("127.0.0.1", true.port)
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        assert await reader.read() == b""
        writer.close()
        assert await lease.touch()


@pytest.mark.parametrize("state", ["", "nonsense", "[]", '{"pid": 1, "port": "x", "key": 1, "info": {}}'])
async def test_a_damaged_state_is_replaced(nursery: Nursery, state: str) -> None:
    await expect_replaced(nursery, state)


async def test_a_state_whose_port_is_closed_is_replaced(nursery: Nursery) -> None:
    """After a crash, or a restart of the machine, its process id may be that of a living process."""
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await expect_replaced(nursery, Handshake(os.getpid(), port, "key").to_json())


async def test_another_process_on_the_port_of_a_dead_child_gets_no_key(nursery: Nursery) -> None:
    received: list[bytes] = []

    async def stranger(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b'{"nonce": "1", "proof": "2"}\n{"welcome": true}\n')
        received.extend([await reader.readline(), await reader.readline()])
        writer.close()

    server = await asyncio.start_server(stranger, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    await expect_replaced(nursery, Handshake(os.getpid(), port, "the key of a child that died").to_json())
    server.close()
    assert list(json.loads(received[0])) == ["nonce"]
    assert received[1] == b"", "neither the key nor a proof of it"


async def expect_replaced(nursery: Nursery, state: str) -> None:
    nursery.state.parent.mkdir(parents=True, mode=0o700)
    nursery.state.write_text(state)
    nursery.state.chmod(0o600)
    worker = nursery.worker()
    async with closing(worker):
        lease = await worker.lease()
        assert nursery.births == [lease.pid]
        written = Handshake.parse(nursery.state.read_text())
        assert written is not None
        assert written.pid == lease.pid


async def test_a_state_file_writable_by_others_is_not_trusted(nursery: Nursery) -> None:
    first, second = nursery.worker(), nursery.worker()
    async with closing(first, second):
        lease = await first.lease()
        nursery.state.chmod(0o644)
        assert (await second.lease()).pid != lease.pid


async def test_no_key_is_stored_in_a_folder_that_others_can_read(nursery: Nursery) -> None:
    nursery.state.parent.mkdir(parents=True, mode=0o700)
    nursery.state.parent.chmod(0o755)
    with pytest.raises(PolicyError, match=r"accessible to other users.*chmod 700"):
        await nursery.worker().lease()
    assert nursery.births == []


async def test_no_key_is_stored_behind_a_link(nursery: Nursery, tmp_path: Path) -> None:
    nursery.runtime.mkdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    nursery.state.parent.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PolicyError, match="is not a folder"):
        await nursery.worker().lease()


async def test_no_key_is_stored_below_a_world_writable_folder(nursery: Nursery, tmp_path: Path) -> None:
    nursery.runtime.mkdir()
    nursery.runtime.chmod(0o777)
    with pytest.raises(PolicyError, match="writable for everyone"):
        await nursery.worker().lease()


async def test_concurrent_starts_wait_for_each_other(nursery: Nursery) -> None:
    workers = [nursery.worker() for _ in range(5)]
    async with closing(*workers):
        leases = await asyncio.gather(*(worker.lease() for worker in workers))
        assert {lease.pid for lease in leases} == set(nursery.births)
        assert len(nursery.births) == 1


@pytest.mark.parametrize("spoiled", ["runtime", "logs"])
async def test_a_child_runs_without_writable_folders(nursery: Nursery, spoiled: str) -> None:
    getattr(nursery, spoiled).write_text("in the way")
    first, second = nursery.worker(), nursery.worker()
    async with closing(first, second):
        pids = {(await first.lease()).pid, (await second.lease()).pid}
    assert len(pids) == (2 if spoiled == "runtime" else 1), "without the one folder, no other process finds it"


async def test_a_failing_child_is_reported_without_a_log(nursery: Nursery) -> None:
    nursery.logs.write_text("in the way")
    worker = nursery.worker("broken")
    async with closing(worker):
        with pytest.raises(WorkerError, match="did not start: RuntimeError: the sample is broken"):
            await worker.lease()
