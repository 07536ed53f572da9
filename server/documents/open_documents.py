"""The documents that the client has open and files on the disk as exact text, and the one that was used last.

pygls keeps documents too, but cuts lines at form feeds and U+2028, misplaces positions past a line's end and changes
the client's params. So it gets a workspace that keeps no text, and every text is kept here.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from lsprotocol import types
from pygls.workspace import TextDocument, Workspace

from stet_ls.server.documents.position_tracking import PositionTracker
from stet_ls.validators.languages import PLAIN, language, language_of
from stet_ls.validators.project_files import read_regular
from stet_ls.validators.source import Encoding, Source, Span, Splice

LOGGER = logging.getLogger(__name__)

LARGEST_FILE = 5_000_000
"""Bytes of a file that is read from the disk; a document that is open in the editor may be larger."""

_DRIVE = re.compile(r"^file:///([A-Z]):")
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf]")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A document at one moment.

    `uri` has the client's spelling. `version` is None for a file that the client does not have open. `language` is an
    LSP language id. `path` is None for a document that is not a file: untitled, remote, a diff's other side.
    """

    uri: str
    version: int | None
    language: str
    source: Source
    path: Path | None

    @property
    def is_open(self) -> bool:
        """Whether the text is the client's, not the disk's."""
        return self.version is not None


class Documents:
    """All documents, by URI. Every spelling of a URI finds the document."""

    def __init__(self) -> None:
        self.encoding: Encoding = "utf-16"
        """The unit of the client's columns, negotiated in `initialize`."""
        self._open: dict[str, Snapshot] = {}
        self._recent: dict[str, str] = {}
        self._unlisted: set[str] = set()
        self._lost: set[str] = set()
        self._tracks: dict[str, list[PositionTracker]] = {}

    def snapshot(self, uri: str) -> Snapshot | None:
        """The document as the client has it open, else the file on the disk, else None."""
        key = _key(uri)
        return None if key in self._lost else self._open.get(key) or _from_disk(uri)

    def open_snapshots(self) -> tuple[Snapshot, ...]:
        """All open documents."""
        return tuple(self._open.values())

    def latest(self) -> str | None:
        """The URI of the open document that was last opened, changed or touched."""
        return next(reversed(self._recent.values()), None)

    def touch(self, uri: str) -> None:
        """Notes that the user works in this document: its actions were requested."""
        key = _key(uri)
        if key not in self._unlisted:
            self._recent.pop(key, None)
            self._recent[key] = uri

    def unlist(self, uri: str) -> None:
        """Never returns this document as the latest: it is one of our reports that the client was asked to show."""
        self._unlisted.add(_key(uri))
        self._recent.pop(_key(uri), None)

    def track(self, snapshot: Snapshot) -> PositionTracker:
        """Follows a document from a snapshot on, through all later changes."""
        key = _key(snapshot.uri)
        track = PositionTracker(snapshot.source, snapshot.version, lambda: _disk_text(snapshot.uri))
        live = self._open.get(key)
        if live is not None and live.version is not None:
            track.opened(live.source, live.version)
        elif snapshot.is_open:
            track.close()
        followers = [other for other in self._tracks.get(key, []) if not other.released]
        self._tracks[key] = [*followers, track]
        return track

    # Only the protocol calls the methods below.

    def open(self, document: types.TextDocumentItem) -> None:
        """The client opened a document."""
        key = _key(document.uri)
        path = path_of(document.uri)
        language = _language(document.language_id, path)
        opened = Snapshot(document.uri, document.version, language, _joined(Source(document.text)), path)
        self._open[key] = opened
        self._lost.discard(key)
        self.touch(document.uri)
        for track in self._followers(key):
            track.opened(opened.source, document.version)

    def change(self, uri: str, version: int, change: types.TextDocumentContentChangeEvent) -> None:
        """The client changed a document. Ignores a change to one that was never opened."""
        key = _key(uri)
        before = self._open.get(key)
        if before is None:
            LOGGER.warning("ignored a change to a document that is not open: %s", uri)
            return
        self.touch(uri)
        if isinstance(change, types.TextDocumentContentChangePartial):
            splice = self._splice(before.source, change)
            source = _joined(before.source.splice([splice]))
            self._open[key] = replace(before, version=version, source=source)
            for track in self._followers(key):
                track.changed(splice, source, version)
        else:
            source = _joined(Source(change.text))
            self._open[key] = replace(before, version=version, source=source)
            for track in self._followers(key):
                track.opened(source, version)

    def close(self, uri: str) -> None:
        """The client closed a document."""
        key = _key(uri)
        self._lost.discard(key)
        self._open.pop(key, None)
        self._recent.pop(key, None)
        for track in self._followers(key):
            track.close()

    def distrust(self, params: object) -> None:
        """Drops a document after an unreadable change: neither the text here nor the disk's is the client's."""
        match params:
            case {"textDocument": {"uri": str(uri)}} if _key(uri) in self._open:
                LOGGER.warning("text unknown until the document is opened again: %s", uri)
                self.close(uri)
                self._lost.add(_key(uri))

    def _followers(self, key: str) -> list[PositionTracker]:
        followers = [track for track in self._tracks.get(key, []) if not track.released]
        if followers:
            self._tracks[key] = followers
        else:
            self._tracks.pop(key, None)
        return followers

    def _splice(self, source: Source, change: types.TextDocumentContentChangePartial) -> Splice:
        """A change in bytes. A range that ends before it starts is reversed, as VS Code does."""
        ends = [(at.line, at.character) for at in (change.range.start, change.range.end)]
        (start_line, start_column), (end_line, end_column) = sorted(ends)
        start = source.offset(start_line, start_column, self.encoding)
        end = source.offset(end_line, end_column, self.encoding)
        text = change.text
        if self.encoding == "utf-16":
            if half := _half_before(source, start, start_line, start_column):
                text = half[0] + text
            if half := _half_before(source, end, end_line, end_column):
                text, end = text + half[1], end + 4
        return Splice(Span(start, end), text)


def _half_before(source: Source, offset: int, line: int, column: int) -> str:
    """The surrogate pair that a UTF-16 position splits, else ""; `offset` is where that pair starts."""
    if column <= 0 or source.position(offset, "utf-16") != (line, column - 1):
        return ""
    character = source.data[offset : offset + 4]
    if len(character) < 4 or character[0] < 0xF0:
        return ""
    units = character.decode().encode("utf-16-be")
    return "".join(units[at : at + 2].decode("utf-16-be", "surrogatepass") for at in (0, 2))


def _disk_text(uri: str) -> Source | None:
    snapshot = _from_disk(uri)
    return snapshot.source if snapshot is not None else None


def _joined(source: Source) -> Source:
    """The text with adjacent half surrogates joined into one character: each may come in a separate change."""
    if source.text.isascii() or _SURROGATE.search(source.data) is None:
        return source
    return Source(source.text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass"))


def _key(uri: str) -> str:
    """One key for all spellings of a URI: editors differ in percent-encoding and in the case of drive letters."""
    return _DRIVE.sub(lambda drive: drive[0].lower(), unquote(uri))


def path_of(uri: str) -> Path | None:
    """The path of a `file:` URI; None for another scheme, another machine's file, or an invalid path."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or parts.query or parts.fragment:
        return None
    # A file name is bytes, not always UTF-8.
    name = os.fsdecode(unquote_to_bytes(parts.path))
    if "\0" in name or not name.startswith("/"):
        return None
    return Path(name[1:] if sys.platform == "win32" else name)


def _language(language_id: str, path: Path | None) -> str:
    """The id in Stet of the language that the client names; else the language of the file name."""
    named = language(language_id)
    if named is not None and named.id != PLAIN:
        return named.id
    of_name = language_of(path) if path is not None else PLAIN
    return language_id if of_name == PLAIN and language_id else of_name


def _from_disk(uri: str) -> Snapshot | None:
    """A text file on the disk: regular, UTF-8, at most LARGEST_FILE bytes. Hides a BOM, as editors do."""
    path = path_of(uri)
    if path is None:
        return None
    try:
        text = read_regular(path, most=LARGEST_FILE).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    if "\0" in text:
        return None
    return Snapshot(uri, None, _language("", path), Source(text), path)


class TextlessWorkspace(Workspace):
    """pygls' workspace for folders and notebooks, which passes every text to `Documents` and keeps none."""

    def __init__(self, workspace: Workspace, documents: Documents) -> None:
        super().__init__(
            workspace.root_uri,
            types.TextDocumentSyncKind.Incremental,
            list(workspace.folders.values()),
            workspace.position_encoding,
        )
        self._texts = documents

    def put_text_document(self, text_document: types.TextDocumentItem, notebook_uri: str | None = None) -> None:
        """A document or a notebook's cell was opened."""
        self._texts.open(text_document)
        if notebook_uri:
            self._cell_in_notebook[unquote(text_document.uri)] = unquote(notebook_uri)

    def update_text_document(
        self, text_doc: types.VersionedTextDocumentIdentifier, change: types.TextDocumentContentChangeEvent
    ) -> None:
        """A document or a notebook's cell was changed."""
        self._texts.change(text_doc.uri, text_doc.version, change)

    def remove_text_document(self, doc_uri: str) -> None:
        """A document or a notebook's cell was closed."""
        self._texts.close(doc_uri)
        super().remove_text_document(doc_uri)

    def update_notebook_document(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """A notebook was changed. pygls raises KeyError for one that was never opened."""
        if unquote(params.notebook_document.uri) in self.notebook_documents:
            super().update_notebook_document(params)

    def get_text_document(self, doc_uri: str) -> TextDocument:
        """Must not be used: its lines and columns are wrong. Use `Documents.snapshot`."""
        raise NotImplementedError(f"ask Documents for {doc_uri}")
