"""Documents as a client holds them: opened, typed in, and edited by the server, in an honest way or another."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from support.servers.channel import ErrorAnswer, Json

from stet_ls.validators.source import Encoding, Source, Span, Splice

Position = tuple[int, int]
Range = tuple[Position, Position]


class Applying(Enum):
    """What the client does with a `workspace/applyEdit`."""

    HONESTLY = "applies it if the versions fit, and says so"
    BLINDLY = "applies it whatever the versions are"
    REFUSES = "answers applied: false"
    CLAIMS = "answers applied: true and does nothing, as Neovim does with an old version"
    DENIES = "applies it and answers applied: false"
    FAILS = "answers an error, as eglot does when its user declines"


@dataclass
class Buffer:
    """A document as the client holds it."""

    uri: str
    language: str
    version: int
    source: Source
    history: list[Source] = field(default_factory=list)


class ClientDocuments:
    """The documents of a client. `created` and `renamed` hold what the server's edits did to files, in order.

    A change that `answers_before_change` holds back is sent after the answer: it waits in `after_answer`.
    """

    def __init__(self) -> None:
        self.documents: dict[str, Buffer] = {}
        self.created: list[str] = []
        self.renamed: list[tuple[Path, Path]] = []
        self.encoding: Encoding = "utf-16"
        self.applying = Applying.HONESTLY
        self.answers_before_change = False
        self.after_answer: list[tuple[str, Json]] = []

    def notify(self, method: str, params: Any = None) -> None:
        """Sends a notification."""
        raise NotImplementedError

    def open(self, uri: str, language: str, text: str, version: int = 1) -> None:
        """Opens a document with a text of its own, whatever is on the disk."""
        self.documents[uri] = Buffer(uri, language, version, Source(text))
        item = {"uri": uri, "languageId": language, "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(self, uri: str, text: str, at: Range | None = None) -> None:
        """Puts `text` in the place of a range, or (None) of the whole document."""
        buffer = self.documents[uri]
        if at is None:
            self._update(buffer, Source(text), [{"text": text}])
            return
        change = {"range": _to_range(at), "text": text}
        self._update(buffer, buffer.source.splice([self._splice(buffer, change["range"], text)]), [change])

    def replace(self, uri: str, old: str, new: str) -> None:
        """Replaces the only occurrence of `old`, as a person typing would: by a change with a range."""
        source = self.documents[uri].source
        assert source.text.count(old) == 1, f"{old!r} occurs {source.text.count(old)} times"
        start = len(source.text[: source.text.index(old)].encode("utf-8", "surrogatepass"))
        end = start + len(old.encode("utf-8", "surrogatepass"))
        self.change(uri, new, (source.position(start, self.encoding), source.position(end, self.encoding)))

    def undo(self, uri: str) -> None:
        """Takes the last change of a document back."""
        buffer = self.documents[uri]
        previous = buffer.history.pop()
        self._update(buffer, previous, [{"text": previous.text}])
        buffer.history.pop()

    def save(self, uri: str) -> None:
        """Says that the document was saved; the disk is the test's business."""
        self.notify("textDocument/didSave", {"textDocument": {"uri": uri}})

    def close(self, uri: str) -> None:
        """Closes a document."""
        del self.documents[uri]
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def text(self, uri: str) -> str:
        """The client's text of a document."""
        return self.documents[uri].source.text

    def _update(self, buffer: Buffer, source: Source, changes: list[Json], *, later: bool = False) -> None:
        buffer.history.append(buffer.source)
        buffer.source = source
        buffer.version += 1
        identifier = {"uri": buffer.uri, "version": buffer.version}
        params = {"textDocument": identifier, "contentChanges": changes}
        if later:
            self.after_answer.append(("textDocument/didChange", params))
        else:
            self.notify("textDocument/didChange", params)

    def _splice(self, buffer: Buffer, at: Json, text: str) -> Splice:
        start, end = (
            buffer.source.offset(at[side]["line"], at[side]["character"], self.encoding) for side in ("start", "end")
        )
        return Splice(Span(start, end), text)

    def apply_edit(self, params: Json) -> Json:
        """Answers a `workspace/applyEdit` as `applying` says."""
        if self.applying is Applying.FAILS:
            raise ErrorAnswer(-32603, "User cancelled server edit")
        if self.applying is Applying.REFUSES:
            return {"applied": False, "failureReason": "refused"}
        if self.applying is Applying.CLAIMS:
            return {"applied": True}
        changes = list(_document_changes(params["edit"]))
        if self.applying is Applying.HONESTLY:
            for change in changes:
                identifier = change.get("textDocument", {})
                buffer = self.documents.get(identifier.get("uri", ""))
                version = identifier.get("version")
                if buffer is not None and version is not None and version != buffer.version:
                    return {"applied": False, "failureReason": f"version {version}, but it is {buffer.version}"}
        for change in changes:
            self._apply_document_change(change)
        return {"applied": self.applying is not Applying.DENIES}

    def _apply_document_change(self, change: Json) -> None:
        if change.get("kind") == "create":
            self.created.append(change["uri"])
            if change["uri"] not in self.documents:
                self.open(change["uri"], "plaintext", "")
            return
        if change.get("kind") == "rename":
            old, new = (Path(unquote(urlsplit(change[key]).path)) for key in ("oldUri", "newUri"))
            if change["oldUri"] in self.documents:
                old.write_text(self.text(change["oldUri"]))
                self.close(change["oldUri"])
            new.parent.mkdir(parents=True, exist_ok=True)
            old.rename(new)
            self.renamed.append((old, new))
            return
        assert "kind" not in change, f"the test client cannot {change['kind']}"
        uri = change["textDocument"]["uri"]
        if uri not in self.documents:
            self.open(uri, "plaintext", Path(unquote(urlsplit(uri).path)).read_bytes().decode())
        buffer = self.documents[uri]
        assert all("newText" in edit for edit in change["edits"]), "the client offered no snippets"
        splices = [self._splice(buffer, edit["range"], edit["newText"]) for edit in change["edits"]]
        last_first = sorted(
            change["edits"], key=lambda e: (e["range"]["start"]["line"], e["range"]["start"]["character"])
        )[::-1]
        content_changes = [{"range": edit["range"], "text": edit["newText"]} for edit in last_first]
        self._update(buffer, buffer.source.splice(splices), content_changes, later=self.answers_before_change)


def _document_changes(edit: Json) -> list[Json]:
    if "documentChanges" in edit:
        return cast(list[Json], edit["documentChanges"])
    return [{"textDocument": {"uri": uri}, "edits": edits} for uri, edits in edit.get("changes", {}).items()]


def _to_range(at: Range) -> Json:
    (start_line, start), (end_line, end) = at
    return {"start": {"line": start_line, "character": start}, "end": {"line": end_line, "character": end}}
