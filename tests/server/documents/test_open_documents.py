"""Texts as the client has them, to the last code unit; told over the wire, and asked from the server's documents."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types
from support.servers.inprocess import connected
from support.servers.probe_server import hardened
from support.servers.wire import RawClient

from stet_ls.server.documents.open_documents import LARGEST_FILE, Documents, path_of
from stet_ls.validators.source import Encoding, Source, Span

URI = "file:///nowhere/a.py"
ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")


def item(text: str, uri: str = URI, version: int = 1, language: str = "python") -> types.TextDocumentItem:
    return types.TextDocumentItem(uri=uri, language_id=language, version=version, text=text)


def partial(start: tuple[int, int], end: tuple[int, int], text: str) -> types.TextDocumentContentChangePartial:
    return types.TextDocumentContentChangePartial(types.Range(types.Position(*start), types.Position(*end)), text)


def documents(text: str = "", encoding: Encoding = "utf-16") -> Documents:
    opened = Documents()
    opened.encoding = encoding
    opened.open(item(text))
    return opened


def text_of(opened: Documents, uri: str = URI) -> str:
    snapshot = opened.snapshot(uri)
    assert snapshot is not None
    return snapshot.source.text


def encode(encoding: Encoding) -> dict[str, Any]:
    return {"general": {"positionEncodings": [encoding]}}


async def seen(client: RawClient, uri: str = URI) -> dict[str, Any]:
    """The document as a command sees it."""
    params = {"command": "probe.snapshot", "arguments": [{"uri": uri}]}
    result: dict[str, Any] = await client.request("workspace/executeCommand", params)
    return result


# Changes

TRICKY = "a\x0cb\u2028c\x85d\x1ce\n\ufeffé😀𝒳x\r\nlast\rline"


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_lines_end_where_the_protocol_says_and_nowhere_else(encoding: Encoding) -> None:
    async with connected(hardened()) as client:
        await client.initialize(encode(encoding))
        client.open(URI, "python", TRICKY)
        client.replace(URI, "x\r\nla", "X\r\nLA")
        client.replace(URI, "line", "LINE")
        client.replace(URI, "b\u2028c", "(b\u2028c)")
        assert client.text(URI) == "a\x0c(b\u2028c)\x85d\x1ce\n\ufeffé😀𝒳X\r\nLAst\rLINE"
        assert (await seen(client))["text"] == client.text(URI)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_positions_past_an_end_are_clamped_to_it(encoding: Encoding) -> None:
    opened = documents("abc", encoding)
    change = partial((0, 0), (0, 100), "x")
    opened.change(URI, 2, change)
    assert text_of(opened) == "x", "pygls keeps the last character"
    assert change.range.end.character == 100, "pygls changes the client's params"
    opened.change(URI, 3, partial((7, 3), (9, 9), "\ny"))
    assert text_of(opened) == "x\ny"
    opened.change(URI, 4, partial((0, 50), (1, 0), ""))
    assert text_of(opened) == "xy"


def test_a_reversed_range_is_swapped() -> None:
    opened = documents("abc")
    opened.change(URI, 2, partial((0, 2), (0, 1), "X"))
    assert text_of(opened) == "aXc"


def test_several_changes_apply_one_after_the_other_and_a_full_one_replaces_all() -> None:
    opened = documents("abc")
    opened.change(URI, 2, partial((0, 0), (0, 0), "xx"))
    opened.change(URI, 2, partial((0, 1), (0, 3), ""))
    assert text_of(opened) == "xbc"
    opened.change(URI, 3, types.TextDocumentContentChangeWholeDocument("new"))
    assert text_of(opened) == "new"
    snapshot = opened.snapshot(URI)
    assert snapshot is not None
    assert snapshot.version == 3


def test_halves_of_a_surrogate_pair_become_one_character_when_they_meet() -> None:
    opened = documents("ab")
    opened.change(URI, 2, partial((0, 1), (0, 1), "\ud83d"))
    assert text_of(opened) == "a\ud83db"
    opened.change(URI, 3, partial((0, 2), (0, 2), "\ude00"))
    assert text_of(opened) == "a😀b"
    opened.change(URI, 4, partial((0, 3), (0, 4), "c"))
    assert text_of(opened) == "a😀c"


def test_a_position_inside_a_surrogate_pair_cuts_it() -> None:
    opened = documents("a😀b")
    opened.change(URI, 2, partial((0, 2), (0, 3), ""))
    assert text_of(opened) == "a\ud83db"
    opened.change(URI, 3, partial((0, 2), (0, 2), "\ude01"))
    assert text_of(opened) == "a😁b"
    opened.change(URI, 4, partial((0, 1), (0, 2), "\ud83e"))
    assert text_of(opened) == "a\U0001fa01b"


async def test_a_lone_surrogate_survives_a_round_trip() -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        client.open(URI, "python", "x = '\ud83d'\n")
        assert (await seen(client))["text"] == "x = '\ud83d'\n"


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_a_bom_is_a_character_of_the_first_line(encoding: Encoding) -> None:
    async with connected(hardened()) as client:
        await client.initialize(encode(encoding))
        client.open(URI, "python", "\ufeffabc\n")
        client.replace(URI, "b", "B")
        assert (await seen(client))["text"] == "\ufeffaBc\n"


class Units:
    """A document as an array of a client's code units, the way an editor keeps it: a model to compare with."""

    def __init__(self, text: str, encoding: Encoding) -> None:
        self.encoding = encoding
        self.codec = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}[encoding]
        self.width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
        self.text = text

    def apply(self, at: tuple[tuple[int, int], tuple[int, int]], text: str) -> None:
        start, end = (self.offset(*position) for position in at)
        data = self.text.encode(self.codec, "surrogatepass")
        data = data[:start] + text.encode(self.codec, "surrogatepass") + data[end:]
        self.text = data.decode(self.codec, "surrogatepass")

    def offset(self, line: int, character: int) -> int:
        lines = Source(self.text)
        before = lines.slice(Span(0, lines.line_span(line).start)).encode(self.codec)
        return len(before) + character * self.width


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(ENCODINGS), st.data())
def test_any_changes_give_the_clients_text(encoding: Encoding, data: st.DataObject) -> None:
    words = st.text(st.sampled_from("ab\n\r\u2028\x0cé😀"), max_size=12)
    text = data.draw(words)
    opened, model = documents(text, encoding), Units(text, encoding)
    for version in range(2, data.draw(st.integers(2, 6))):
        source = Source(model.text)
        cuts = [
            at for at in range(len(source.data) + 1) if not source.data[at : at + 1] or source.data[at] & 0xC0 != 0x80
        ]
        # A position between CR and LF does not exist: it is past the line's end.
        cuts = [at for at in cuts if source.data[max(at - 1, 0) : at + 1] != b"\r\n"]
        ends = sorted((data.draw(st.sampled_from(cuts)), data.draw(st.sampled_from(cuts))))
        start, end = (source.position(at, encoding) for at in ends)
        new = data.draw(words)
        model.apply((start, end), new)
        opened.change(URI, version, partial(start, end, new))
        assert text_of(opened) == model.text


# Which documents there are


async def test_changes_to_a_document_that_was_never_opened_are_dropped() -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        change = {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"text": "x"}]}
        client.notify("textDocument/didChange", change)
        assert await seen(client) == {"text": None}
        assert not client.received("window/showMessage")


async def test_a_text_with_an_invalid_change_is_not_trusted_until_it_is_reopened() -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        client.open(URI, "python", "a")
        bad = {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"range": {"start": 1}, "text": "x"}]}
        client.notify("textDocument/didChange", bad)
        assert await seen(client) == {"text": None}
        client.change(URI, "b")
        assert await seen(client) == {"text": None}
        client.close(URI)
        client.open(URI, "python", "c")
        assert (await seen(client))["text"] == "c"


async def test_a_document_that_is_not_open_is_read_from_disk(tmp_path: Path) -> None:
    path = tmp_path / "ä b.py"
    path.write_bytes(b"\xef\xbb\xbfx = 1\r\n")
    async with connected(hardened()) as client:
        await client.initialize()
        found = await seen(client, path.as_uri())
        assert found == {"text": "x = 1\r\n", "version": None, "language": "python", "uri": path.as_uri()}
        client.open(path.as_uri(), "python", "unsaved")
        assert (await seen(client, path.as_uri()))["text"] == "unsaved"
        client.close(path.as_uri())
        assert (await seen(client, path.as_uri()))["text"] == "x = 1\r\n"
        path.unlink()
        assert await seen(client, path.as_uri()) == {"text": None}


async def test_untitled_documents_have_a_text_and_no_path() -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        client.open("untitled:Untitled-1", "python", "x = 1")
        found = await seen(client, "untitled:Untitled-1")
        assert (found["text"], found["language"]) == ("x = 1", "python")
        client.close("untitled:Untitled-1")
        assert await seen(client, "untitled:Untitled-1") == {"text": None}


def test_a_file_that_is_not_readable_text_is_not_a_document(tmp_path: Path) -> None:
    (tmp_path / "binary.py").write_bytes(b"a\0b")
    (tmp_path / "latin.py").write_bytes(b"\xe4")
    (tmp_path / "large.py").write_bytes(b"a" * (LARGEST_FILE + 1))
    os.mkfifo(tmp_path / "pipe.py")
    names = ("binary.py", "latin.py", "large.py", "pipe.py", "absent.py", ".")
    assert [Documents().snapshot((tmp_path / name).as_uri()) for name in names] == [None] * 6
    remote = ("vscode-remote://ssh/a.py", "git:/a.py?ref", "https://example.org/a.py", "", "no uri at all", "file:")
    assert [Documents().snapshot(uri) for uri in remote] == [None] * 6


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b.py", "/a/b.py"),
        ("file:///a/b%20c%23.py", "/a/b c#.py"),
        ("file:///a/%C3%A4.py", "/a/ä.py"),
        ("file:///a/%E4.py", "/a/\udce4.py"),
        ("file://localhost/a.py", "/a.py"),
        ("file://server/share/a.py", None),
        ("file:///a%00b", None),
        ("file:///a.py?x", None),
        ("file:///a.py#L1", None),
        ("file://[bad/a.py", None),
        ("untitled:a.py", None),
    ],
)
def test_paths_are_derived_from_uris(uri: str, path: str | None) -> None:
    assert path_of(uri) == (None if path is None else Path(path))


def test_any_spelling_of_a_uri_finds_the_document() -> None:
    opened = Documents()
    opened.open(item("x", "file:///C%3A/a%20b.py"))
    for uri in ("file:///C%3A/a%20b.py", "file:///c:/a b.py", "file:///C:/a%20b.py"):
        snapshot = opened.snapshot(uri)
        assert snapshot is not None
        assert snapshot.uri == "file:///C%3A/a%20b.py", "spoken of as the client does"


@pytest.mark.parametrize(
    ("language", "uri", "known_as"),
    [
        ("python", "file:///a.txt", "python"),
        ("cs", "file:///a.cs", "csharp"),
        ("", "file:///a.rs", "rust"),
        ("plaintext", "file:///a.rs", "rust"),
        ("brainfuck", "file:///a.bf", "brainfuck"),
        ("", "untitled:1", "plaintext"),
    ],
)
def test_the_language_follows_the_language_id_or_the_file_name(language: str, uri: str, known_as: str) -> None:
    opened = Documents()
    opened.open(item("", uri, language=language))
    snapshot = opened.snapshot(uri)
    assert snapshot is not None
    assert snapshot.language == known_as


# Who was there last


def test_the_latest_document_is_the_one_last_opened_changed_or_touched() -> None:
    opened = Documents()
    assert opened.latest() is None
    for name in "abc":
        opened.open(item("", f"file:///{name}"))
    assert opened.latest() == "file:///c"
    opened.change("file:///a", 2, types.TextDocumentContentChangeWholeDocument("x"))
    assert opened.latest() == "file:///a"
    opened.touch("file:///b")
    assert opened.latest() == "file:///b"
    opened.close("file:///b")
    assert opened.latest() == "file:///a"


def test_a_report_of_our_own_is_never_the_latest() -> None:
    opened = documents()
    opened.unlist("file:///report.md")
    opened.open(item("", "file:///report.md"))
    opened.touch("file:///report.md")
    assert opened.latest() == URI


# Tracks


def test_a_track_follows_changes_closing_and_reopening() -> None:
    opened = documents("import os\n\n\ndef one():\n    return 1\n")
    snapshot = opened.snapshot(URI)
    assert snapshot is not None
    track = opened.track(snapshot)
    span = Span(12, len(snapshot.source.data) - 1)
    opened.change(URI, 2, partial((0, 0), (0, 0), "#\n"))
    assert track.rebase(span) == Span(14, span.end + 2)
    opened.close(URI)
    assert (track.rebase(span), track.closed) == (None, True)
    opened.open(item("##\nimport os\n\n\ndef one():\n    return 1\n", version=1))
    assert track.rebase(span) == Span(15, span.end + 3)
    track.release()
    opened.change(URI, 2, partial((0, 0), (0, 0), "#\n"))
    assert track.rebase(span) is None


def test_a_track_created_late_includes_changes_since_its_snapshot() -> None:
    opened = documents("one\ntwo\n")
    snapshot = opened.snapshot(URI)
    assert snapshot is not None
    opened.change(URI, 2, partial((0, 0), (0, 0), "zero\n"))
    track = opened.track(snapshot)
    assert (track.rebase(Span(4, 7)), track.version) == (Span(9, 12), 2)
    opened.close(URI)
    assert opened.track(snapshot).closed


async def test_notebook_cells_are_documents() -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        cell = "notebook-cell:/n.ipynb#1"
        notebook = {"uri": "file:///n.ipynb", "notebookType": "jupyter", "version": 1}
        cells = [{"kind": 2, "document": cell}]
        opened = {"uri": cell, "languageId": "python", "version": 1, "text": "x = 1"}
        client.notify(
            "notebookDocument/didOpen",
            {"notebookDocument": {**notebook, "cells": cells}, "cellTextDocuments": [opened]},
        )
        changes = [{"document": {"uri": cell, "version": 2}, "changes": [{"text": "x = 2"}]}]
        for uri in ("file:///n.ipynb", "file:///other.ipynb"):
            identifier = {"uri": uri, "version": 2}
            client.notify(
                "notebookDocument/didChange",
                {"notebookDocument": identifier, "change": {"cells": {"textContent": changes}}},
            )
        assert (await seen(client, cell))["text"] == "x = 2"
        client.notify(
            "notebookDocument/didClose",
            {"notebookDocument": {"uri": "file:///n.ipynb"}, "cellTextDocuments": [{"uri": cell}]},
        )
        assert await seen(client, cell) == {"text": None}


def test_pygls_own_texts_cannot_be_used_by_mistake() -> None:
    from pygls.workspace import Workspace

    from stet_ls.server.documents.open_documents import TextlessWorkspace

    workspace = TextlessWorkspace(Workspace(None), Documents())
    with pytest.raises(NotImplementedError):
        workspace.get_text_document(URI)
