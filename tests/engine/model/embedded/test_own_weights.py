"""A user's own file of weights, or one of a repository, by its digest."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from support.servers.weights_web import CONTENT, Web

from stet_ls.engine.errors import UsageError, WeightsError
from stet_ls.engine.model.embedded.weights import chosen, installed, is_verified, known, pull_own
from stet_ls.engine.model.profiles.profiles import profile_for
from stet_ls.engine.storage.paths import Paths

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
