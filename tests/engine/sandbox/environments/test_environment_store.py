"""Environments are built once, whole or not at all, read-only for runs, and kept within a number of bytes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from stet_ls.engine.sandbox.environments.environment_store import EnvironmentStore, key_of
from stet_ls.engine.sandbox.environments.interpreter import Interpreter
from stet_ls.engine.sandbox.environments.package_index import uv_options
from stet_ls.engine.sandbox.environments.wheel_install import MinimumAge, PackagesError
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.sandbox.spec import RunSpec, RunStatus

Wheel = Callable[..., None]


@pytest.fixture
def store(index: Path, tmp_path: Path) -> EnvironmentStore:
    return EnvironmentStore(tmp_path / "environments")


def folders(store: EnvironmentStore) -> list[str]:
    """What lies in the store but locks, and what uv keeps."""
    found = (entry.name for entry in store.cache.parent.iterdir() if entry.suffix != ".lock")
    return sorted(name for name in found if name != "uv")


async def test_packages_are_available_and_read_only(
    store: EnvironmentStore, python: Interpreter, runs: Sandbox
) -> None:
    script = textwrap.dedent("""
        import stone, os
        print(stone.WEIGHT)
        for flags in (os.O_WRONLY, os.O_RDWR | os.O_APPEND):
            try: os.close(os.open(stone.__file__, flags)); print("written")
            except OSError: pass
        try: os.unlink(stone.__file__); print("removed")
        except OSError: pass
        try: os.chmod(stone.__file__, 0o777); print("changed")
        except OSError: pass
    """)
    async with store.use(python, ["stone"]) as environment:
        assert environment.has("stone")
        assert environment.has("json")
        assert not environment.has("pebble")
        result = await runs.run(RunSpec((str(environment.path), "-c", script), binds=environment.binds))

    assert (result.status, result.stdout, result.stderr) == (RunStatus.OK, b"7\n", b"")
    kept = [file.read_text() for file in store.cache.rglob("stone.py")]
    assert kept == ["WEIGHT = 7\n"], "the file is uv's too"
    assert next(environment.folder.rglob("stone.py")).stat().st_nlink > 1, "they share it, or nothing was shown"


async def test_an_environment_is_built_once(store: EnvironmentStore, python: Interpreter, index: Path) -> None:
    async with store.use(python, ["stone"]) as first:
        pass
    for file in index.iterdir():
        file.unlink()

    async with store.use(python, ["stone"]) as second:
        assert second.folder == first.folder


async def test_concurrent_uses_build_an_environment_once(store: EnvironmentStore, python: Interpreter) -> None:
    async def use() -> int:
        async with store.use(python, ["stone"]) as environment:
            assert environment.folder
            return environment.folder.stat().st_ino

    assert len(set(await asyncio.gather(*(use() for _ in range(4))))) == 1


@pytest.mark.parametrize(
    ("name", "why"), [("pebble", "no wheel|the index has no such package"), ("gravel", "the index has no such package")]
)
async def test_an_unavailable_package_is_reported_and_leaves_no_files(
    store: EnvironmentStore, python: Interpreter, name: str, why: str
) -> None:
    with pytest.raises(PackagesError, match=rf"^{name} could not be installed: ({why})"):
        async with store.use(python, [name]):
            pass

    assert folders(store) == []


async def test_source_distributions_are_never_built(
    store: EnvironmentStore, python: Interpreter, index: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "ran"
    source = tmp_path / "boulder-1.0"
    source.mkdir()
    (source / "setup.py").write_text(f"open({str(mark)!r}, 'w')\nfrom setuptools import setup; setup(name='boulder')")
    subprocess.run(["tar", "-czf", index / "boulder-1.0.tar.gz", "-C", tmp_path, "boulder-1.0"], check=True)

    with pytest.raises(PackagesError):
        async with store.use(python, ["boulder"]):
            pass

    assert not mark.exists()


async def test_packages_of_the_interpreter_are_not_replaced(
    store: EnvironmentStore, python: Interpreter, index: Path, wheel: Wheel
) -> None:
    """What is installed already is neither replaced nor doubled by another version."""
    wheel(index, "stone", "2.0", {"stone.py": ""})
    wheel(index, "cairn", "1.0", {"cairn.py": ""}, requires="stone")
    held = Interpreter(**{**_fields(python), "distributions": {"stone": ("stone", "1.0")}})

    async with store.use(held, ["cairn"]) as environment:
        assert environment.folder
        assert [path.name for path in environment.folder.rglob("stone-*")] == ["stone-1.0.dist-info"]


def _fields(interpreter: Interpreter) -> dict[str, object]:
    return {name: getattr(interpreter, name) for name in Interpreter.__slots__}


async def test_a_cancelled_build_leaves_no_files(store: EnvironmentStore, python: Interpreter, index: Path) -> None:
    endless = index / "endless-1.0-py3-none-any.whl"
    os.mkfifo(endless)  # a process that opens it waits for one that writes
    use = store.use(python, ["endless"])
    task = asyncio.ensure_future(use.__aenter__())
    while not (task.done() or list(store.cache.parent.glob("building-*"))):
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert folders(store) == []


async def test_leftovers_of_a_killed_process_are_removed(store: EnvironmentStore, python: Interpreter) -> None:
    async with store.use(python, ["stone"]):
        pass
    base = store.cache.parent
    script = (
        "import fcntl, os, sys, time\nos.mkdir(sys.argv[1])\nfd = os.open(sys.argv[1], os.O_DIRECTORY)\n"
        "fcntl.flock(fd, fcntl.LOCK_EX)\nprint(1, flush=True)\ntime.sleep(60)"
    )
    builder = subprocess.Popen([sys.executable, "-c", script, str(base / "building-x")], stdout=subprocess.PIPE)
    try:
        assert builder.stdout
        builder.stdout.readline()
        async with EnvironmentStore(base).use(python, ["stone"]):
            assert (base / "building-x").exists(), "someone builds there"
    finally:
        builder.send_signal(signal.SIGKILL)
        builder.communicate()

    async with EnvironmentStore(base).use(python, ["stone"]):
        assert not (base / "building-x").exists()


async def test_the_least_recently_used_environment_is_removed_but_none_in_use(
    store: EnvironmentStore, python: Interpreter, index: Path, wheel: Wheel
) -> None:
    names = ["one", "two", "three"]
    for name in names:
        wheel(index, name, "1.0", {f"{name}.py": "#" * 3_000_000})
    small = EnvironmentStore(store.cache.parent, limit=7_000_000)
    for number, name in enumerate(names[:2]):
        async with small.use(python, [name]) as environment:
            assert environment.folder
            os.utime(environment.folder, (number, number))

    async with small.use(python, ["one"]) as first:  # the older one, now in use
        async with small.use(python, ["three"]) as third:
            pass
        assert first.folder
        assert third.folder
        assert folders(small) == sorted([first.folder.name, third.folder.name])
        assert small.size() <= 7_000_000


def test_a_hard_linked_file_is_counted_once(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 100_000)
    (tmp_path / "b").hardlink_to(tmp_path / "a")

    assert 100_000 <= EnvironmentStore(tmp_path).size() < 150_000


def test_keys_differ_for_everything_that_could_change_a_run(tmp_path: Path) -> None:
    one = Interpreter(Path(sys.executable), (3, 11, 7), ())
    other = Interpreter(Path(sys.executable), (3, 11, 8), ())
    keys = {key_of(one, ["a"]), key_of(one, ["a", "b"]), key_of(other, ["a"]), key_of(one, ["a"], "pytest 9")}

    assert len(keys) == 4
    assert key_of(one, ["b", "a"]) == key_of(one, ["a", "b"])


def test_uv_gets_no_secrets_and_no_project_settings(tmp_path: Path) -> None:
    environ = {
        "HOME": str(tmp_path), "PATH": "/evil", "OPENAI_API_KEY": "k", "UV_INDEX": "https://evil.example",
        "UV_CONFIG_FILE": "evil", "PIP_INDEX_URL": "https://evil.example", "HTTPS_PROXY": "http://proxy.example",
    }  # fmt: skip

    options, variables = uv_options(tmp_path, environ)

    assert set(variables) <= {"HOME", "PATH", "HTTPS_PROXY", "SSL_CERT_FILE"}
    assert variables["PATH"] == "/usr/bin:/bin"
    assert options[0] in ("--no-config", "--config-file")


def test_recent_packages_are_excluded_unless_the_project_uses_them() -> None:
    options = MinimumAge(7, ["mine"]).options()

    week_ago = time.strptime(options[1], "%Y-%m-%dT%H:%M:%SZ")
    assert 6.9 < (time.time() - time.mktime(week_ago) + time.timezone) / 86_400 < 7.1
    assert options[2] == "--exclude-newer-package"
    assert options[3].startswith("mine=")
    assert MinimumAge(0).options() == []
