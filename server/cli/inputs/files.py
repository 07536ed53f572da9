"""Reads files as exact text, and writes them completely or not at all."""

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
from stet_ls.validators.encodings import UnknownEncodingError, declared
from stet_ls.validators.project_files import read_regular
from stet_ls.validators.source import Source

if TYPE_CHECKING:
    from stet_ls.engine.api.answer import FileMove, NewFile

_MARK = b"\xef\xbb\xbf"
_NAME_IT = "; declare its encoding in the first line, such as `# -*- coding: latin-1 -*-`, or convert it to UTF-8"
MOST_BYTES = 20_000_000
"""Larger than any source file that a person wrote; a model could not read it either."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text file as it was read. `source` is without the byte order mark, `raw` is every byte.

    `encoding` is the one that its first lines name, else UTF-8; the file is written in the same encoding.
    """

    path: Path
    raw: bytes = field(repr=False)
    source: Source = field(repr=False)
    encoding: str = "utf-8"

    def with_text(self, text: str) -> bytes:
        """The bytes of the file with a new text; its byte order mark is kept.

        UsageError for characters that the file's encoding does not have.
        """
        if self.encoding != "utf-8":
            try:
                return text.encode(self.encoding)
            except UnicodeEncodeError as error:
                raise UsageError(
                    f"{self.path} is {self.encoding} text, which cannot encode {text[error.start]!r}; nothing "
                    "was written"
                ) from None
        return (_MARK if self.raw.startswith(_MARK) else b"") + text.encode("utf-8", "surrogatepass")


def read_document(path: Path) -> Document:
    """Reads a text file in UTF-8, or in the encoding that a comment in its first two lines names.

    UsageError for any other file: missing, a folder, unreadable, binary, a notebook, too large.
    """
    try:
        raw = read_regular(path, most=MOST_BYTES)
    except FileNotFoundError:
        raise UsageError(f"{path} does not exist") from None
    except OSError as error:
        raise UsageError(_unreadable(path, error)) from None
    if path.suffix.lower() == ".ipynb":
        raise UsageError(
            f"{path} is a notebook: open it in an editor, or convert it with `jupyter nbconvert --to script {path}`"
        )
    encoding = encoding_of(raw, str(path))
    return Document(path, raw, Source(decode(raw, str(path), encoding, way_out=_NAME_IT)), encoding)


def _unreadable(path: Path, error: OSError) -> str:
    with suppress(OSError):  # unknown in a folder without permission
        if path.is_dir():
            return f"{path} is a folder; pass a file"
    if error.errno == errno.EINVAL:
        return f"{path} is not a regular file"
    if error.errno == errno.EFBIG:
        return f"{path} is larger than {MOST_BYTES // 1_000_000} MB"
    return f"cannot read {path}: {error.strerror}"


def encoding_of(raw: bytes, name: str) -> str:
    """The encoding that a text declares, else UTF-8. UsageError for one that Python does not know."""
    if raw.startswith(_MARK):
        return "utf-8"
    try:
        return declared(raw) or "utf-8"
    except UnknownEncodingError as error:
        raise UsageError(f"{name} declares the unknown encoding `{error}`") from None


def decode(raw: bytes, name: str, encoding: str = "utf-8", *, way_out: str = "") -> str:
    """Decodes bytes, line ends untouched. UsageError, with a way out, if they are not text in that encoding."""
    try:
        text = raw.removeprefix(_MARK).decode(encoding)
    except UnicodeDecodeError as error:
        if b"\0" in raw[:8000]:
            raise UsageError(f"{name} is a binary file") from None
        shown_encoding = "UTF-8" if encoding == "utf-8" else encoding
        raise UsageError(f"{name} is not {shown_encoding} text (byte {error.start}){way_out}") from None
    if "\0" in text:
        raise UsageError(f"{name} is a binary file")
    return text


@dataclass(frozen=True, slots=True)
class FileChange:
    """A new text for a document that was read before."""

    document: Document
    text: str


def write(changes: Sequence[FileChange], new_files: Sequence[NewFile], moves: Sequence[FileMove] = ()) -> None:
    """Writes everything, or raises UsageError with nothing changed if an obstacle is visible beforehand.

    Each file is written to a temporary file in the same folder and then renamed, so that readers never see half a file.
    Its mode is kept, and a symbolic link stays one. Refused if a file has changed since it was read, or a new file
    exists.
    """
    with ExitStack() as cleanup:
        staged = []
        for change in changes:
            _refuse_changed(change.document)  # its path may lead elsewhere by now; checked again before renaming
            place = change.document.path.resolve()
            staged.append((_stage(place, change.document.with_text(change.text), cleanup), place))
        for change in changes:
            _refuse_changed(change.document)
        for path in (*(file.path for file in new_files), *(move.to for move in moves)):
            if path.exists():
                raise UsageError(f"{path} already exists; nothing was written")
        for file in new_files:
            _create(file)
        for temporary, place in staged:
            temporary.replace(place)
        for move in moves:
            _move(move)


def _stage(place: Path, data: bytes, cleanup: ExitStack) -> Path:
    # Renaming needs only the folder's permission. The mode bits count for root too, who may write everything.
    if not (place.stat().st_mode & 0o222 and os.access(place, os.W_OK)):
        raise UsageError(f"{place} is read-only; nothing was written")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{place.name}.", suffix=".stet", dir=place.parent)
    except OSError as error:
        raise UsageError(f"cannot write {place}: {error.strerror}") from None
    temporary = Path(name)
    cleanup.callback(temporary.unlink, missing_ok=True)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    shutil.copymode(place, temporary)
    before = place.stat()
    with suppress(OSError):  # only root may give files away; other users stay the owner
        os.chown(temporary, before.st_uid, before.st_gid)
    return temporary


def _refuse_changed(document: Document) -> None:
    try:
        unchanged = read_regular(document.path, most=len(document.raw)) == document.raw
    except OSError:
        unchanged = False
    if not unchanged:
        raise UsageError(f"{document.path} changed while the job ran; nothing was written")


def _move(move: FileMove) -> None:
    try:
        move.to.parent.mkdir(parents=True, exist_ok=True)
        move.path.rename(move.to)
    except OSError as error:
        raise UsageError(f"cannot rename {move.path} to {move.to}: {error.strerror}") from None


def _create(file: NewFile) -> None:
    try:
        file.path.parent.mkdir(parents=True, exist_ok=True)
        with file.path.open("xb") as stream:
            stream.write(file.text.encode("utf-8", "surrogatepass") if file.data is None else file.data)
    except OSError as error:
        raise UsageError(f"cannot create {file.path}: {error.strerror}") from None
