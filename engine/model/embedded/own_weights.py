"""Models that the user added: any GGUF file, from a path or an address, by its SHA-256."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from stet_ls.engine.errors import PolicyError, UsageError, WeightsError
from stet_ls.engine.model.embedded.weight_sources import LocalFile, SourceError, WebFile, WeightSource
from stet_ls.engine.storage.paths import Paths
from stet_ls.engine.storage.private_files import private_folder, read_private, write_private

_SHA256 = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,80}")
_MAGIC = b"GGUF"


@dataclass(frozen=True, slots=True)
class OwnWeights:
    """A file that the user named. `name` is what it is called in settings and in its profile."""

    name: str
    file: str
    size: int
    sha256: str


def own_weights(paths: Paths) -> Mapping[str, OwnWeights]:
    """The models that were added, in that order; empty if the list cannot be read."""
    with contextlib.suppress(OSError, ValueError, TypeError, PolicyError):
        rows = json.loads(read_private(paths.own_weights) or "[]")
        return {row["name"]: OwnWeights(**row) for row in rows}
    return {}


def add(weights: OwnWeights, paths: Paths) -> None:
    """Adds a model to the list, or replaces the one of its name."""
    rows = {**own_weights(paths), weights.name: weights}
    private_folder(paths.own_weights.parent)
    write_private(paths.own_weights, json.dumps([asdict(each) for each in rows.values()], indent=1))


def described(place: str, sha256: str, name: str) -> tuple[OwnWeights, WeightSource]:
    """What a path or an address holds, and where to read it. Reads its first bytes.

    UsageError if it is not a GGUF file, or its SHA-256 or name are not usable; WeightsError if it cannot be read.
    """
    if _SHA256.fullmatch(sha256.lower()) is None:
        raise UsageError(f"--sha256 {sha256}: expected 64 hexadecimal digits, as published with the file")
    source: WeightSource = WebFile(place) if "://" in place else LocalFile(Path(place))
    file = place.rsplit("/", 1)[-1]
    name = name or re.sub(r"[^a-z0-9._-]", "-", file.lower().removesuffix(".gguf"))
    if _NAME.fullmatch(name) is None:
        raise UsageError(f"--name {name}: expected letters, digits, `.`, `_`, and `-`")
    try:
        size = source.size()
        _, chunks = source.open(0)
        with contextlib.closing(chunks):
            head = next(chunks, b"")
    except SourceError as error:
        raise WeightsError(f"{place}: {error}") from error
    if not head.startswith(_MAGIC):
        raise UsageError(f"{place} is not a GGUF file; llama.cpp's `convert_hf_to_gguf.py` makes one of other formats")
    return OwnWeights(name, file, size, sha256.lower()), source
