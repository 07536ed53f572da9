"""The output of a sandbox: names and bytes written by untrusted code."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

_MOST = 8 * 1024 * 1024


def relative(name: str) -> str:
    """A relative path that stays inside its folder. Raises ValueError for any other."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
        raise ValueError(f"{name!r} is not a path below the working folder")
    return str(path)


def from_tar(data: bytes, wanted: Sequence[str]) -> Mapping[str, bytes]:
    """The requested regular files of an archive, or those in requested folders; links and devices are skipped.

    The archive is read in memory and never unpacked; a broken one gives the files before the break.
    """
    names = [relative(name) for name in wanted]
    found: dict[str, bytes] = {}
    total = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for member in archive:
                name = str(PurePosixPath(member.name))
                total += member.size
                asked = any(name == each or name.startswith(f"{each}/") for each in names)
                if not member.isreg() or not asked or ".." in PurePosixPath(name).parts or total > _MOST:
                    continue
                file = archive.extractfile(member)
                if file is not None:
                    found[name] = file.read()
    except (tarfile.TarError, EOFError, ValueError, OSError):
        pass
    return found
