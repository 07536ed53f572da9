"""Files in and out: read as exact text, written whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from stet_ls.engine.errors import UsageError
from stet_ls.validators.project_files import read_regular
from stet_ls.validators.source import Source

if TYPE_CHECKING:
    from stet_ls.engine.models import NewFile

_MARK = b"\xef\xbb\xbf"
MOST_BYTES = 20_000_000
"""Larger than any source file that a person wrote; a model could not read it either."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text file as it was read. `source` is without the byte order mark, `raw` is every byte."""

    path: Path
    raw: bytes = field(repr=False)
    source: Source = field(repr=False)

    def with_text(self, text: str) -> bytes:
        """The bytes of the file with another text; its byte order mark is kept."""
        return (_MARK if self.raw.startswith(_MARK) else b"") + text.encode("utf-8", "surrogatepass")


def read_document(path: Path) -> Document:
    """Reads a UTF-8 text file. UsageError names what else it is: missing, a folder, unreadable, binary, too large."""
    try:
        raw = read_regular(path, most=MOST_BYTES)
    except FileNotFoundError:
        raise UsageError(f"{path} does not exist") from None
    except OSError as error:
        raise UsageError(_unreadable(path, error)) from None
    return Document(path, raw, Source(decode(raw, str(path))))


def _unreadable(path: Path, error: OSError) -> str:
    with suppress(OSError):  # in a folder that may not be entered nobody can tell
        if path.is_dir():
            return f"{path} is a folder; name a file"
    if error.errno == errno.EINVAL:
        return f"{path} is no regular file"
    if error.errno == errno.EFBIG:
        return f"{path} is larger than {MOST_BYTES // 1_000_000} MB"
    return f"{path} cannot be read: {error.strerror}"


def decode(raw: bytes, name: str) -> str:
    """The text of some bytes, line ends untouched. UsageError if they are no UTF-8 text."""
    try:
        text = raw.removeprefix(_MARK).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not UTF-8 text (byte {error.start})") from None
    if "\0" in text:
        raise UsageError(f"{name} is a binary file")
    return text


@dataclass(frozen=True, slots=True)
class Change:
    """A new text for a document that was read before."""

    document: Document
    text: str


def write(changes: Sequence[Change], new_files: Sequence[NewFile]) -> None:
    """Writes everything, or raises UsageError with nothing changed that could be known beforehand.

    Each file is written beside its place and then renamed into it: nobody ever sees half a file. Its mode is kept, and
    a symbolic link stays one. Refused if a file is no longer what was read, or if a new file stands already.
    """
    with ExitStack() as cleanup:
        staged = []
        for change in changes:
            _refuse_changed(change.document)  # its path may lead elsewhere by now; and once more before the renaming
            place = change.document.path.resolve()
            staged.append((_stage(place, change.document.with_text(change.text), cleanup), place))
        for change in changes:
            _refuse_changed(change.document)
        for file in new_files:
            if file.path.exists():
                raise UsageError(f"{file.path} exists already; nothing was written")
        for file in new_files:
            _create(file)
        for temporary, place in staged:
            temporary.replace(place)


def _stage(place: Path, data: bytes, cleanup: ExitStack) -> Path:
    # Renaming asks for the folder's permission alone. The bits count for root too, who may write everything.
    if not (place.stat().st_mode & 0o222 and os.access(place, os.W_OK)):
        raise UsageError(f"{place} is read-only; nothing was written")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{place.name}.", suffix=".stet", dir=place.parent)
    except OSError as error:
        raise UsageError(f"{place} cannot be written: {error.strerror}") from None
    temporary = Path(name)
    cleanup.callback(temporary.unlink, missing_ok=True)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    shutil.copymode(place, temporary)
    before = place.stat()
    with suppress(OSError):  # only root may give files away; then they stay their owner's
        os.chown(temporary, before.st_uid, before.st_gid)
    return temporary


def _refuse_changed(document: Document) -> None:
    try:
        unchanged = read_regular(document.path, most=len(document.raw)) == document.raw
    except OSError:
        unchanged = False
    if not unchanged:
        raise UsageError(f"{document.path} changed while the job ran; nothing was written")


def _create(file: NewFile) -> None:
    try:
        file.path.parent.mkdir(parents=True, exist_ok=True)
        with file.path.open("x", encoding="utf-8", errors="surrogatepass", newline="") as stream:
            stream.write(file.text)
    except OSError as error:
        raise UsageError(f"{file.path} cannot be created: {error.strerror}") from None
