"""Shows explanations, reports and diffs: as a virtual document, as a file in the editor, or as a short message."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

SCHEME = "stet"
KEPT = 30
"""Reports that stay readable; older ones are removed from memory and from the cache folder."""
SHORT = 280
"""Characters of a report that fit in a message box."""

TIMEOUT = 10.0
"""Limit in seconds for a client to open a document; after it the text is shown in another way."""

_NO_PROSE = ("#", "```", "- ", "* ", "|", ">")
"""The first characters of headings, code, lists, tables and quotes."""


class ReportViewer:
    """The reports of one server. Its files are in `folder`, private to the user because they quote code."""

    def __init__(self, ls: LanguageServer, folder: Path, *also: Path, documents: bool, virtual: bool) -> None:
        """`documents`: the client shows documents on request; `virtual`: it fetches those of our scheme.

        Files in the folders `also` belong to Stet, too.
        """
        self._ls = ls
        self._folder = folder
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._own = (f"{SCHEME}:", folder.as_uri(), *(each.as_uri() for each in also))
        self._documents = documents
        self._virtual = virtual

    def owns(self, uri: str) -> bool:
        """Whether the document is one of our reports: these get no actions."""
        return uri.startswith(self._own)

    def content(self, uri: str) -> str | None:
        """The text of a virtual document, or None if it is no longer kept."""
        return self._texts.get(uri)

    async def show(self, name: str, markdown: str) -> str:
        """Shows `markdown` and returns where, as the end of a sentence: "open as NAME"."""
        shown: bool | None = False
        if self._virtual and self._documents:
            uri = f"{SCHEME}:/{name}.md"
            self._texts[uri] = markdown
            while len(self._texts) > KEPT:
                self._texts.popitem(last=False)
            shown = await self._opened(uri)
            if shown:
                return f"open as {name}.md"
        if self._documents and shown is not None:
            file = await asyncio.to_thread(self._write, name, markdown)
            if file is not None and await self.open(file.as_uri()):
                return f"open as {file.name}"
        self._ls.window_log_message(types.LogMessageParams(types.MessageType.Info, markdown))
        self._ls.window_show_message(types.ShowMessageParams(types.MessageType.Info, _short(markdown)))
        return "in the log"

    async def open(self, uri: str) -> bool:
        """Asks the client to open a document next to the user's own; False if it does not."""
        return self._documents and bool(await self._opened(uri))

    async def _opened(self, uri: str) -> bool | None:
        """The client's response; None if there is none in time."""
        try:
            async with asyncio.timeout(TIMEOUT):
                result = await self._ls.window_show_document_async(types.ShowDocumentParams(uri, take_focus=False))
        except JsonRpcException:
            return False
        except TimeoutError:
            return None
        return result is not None and result.success

    def _write(self, name: str, markdown: str) -> Path | None:
        file = self._folder / f"{name}.md"
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            file.write_text(markdown, encoding="utf-8", errors="replace")
            for old in sorted(self._folder.glob("*.md"), key=lambda each: each.stat().st_mtime)[:-KEPT]:
                old.unlink(missing_ok=True)
        except OSError:
            return None
        return file


def _short(markdown: str) -> str:
    """The first paragraph of plain text, cut to the size of a message box."""
    paragraphs = [part.strip() for part in markdown.split("\n\n")]
    prose = next((part for part in paragraphs if part and not part.startswith(_NO_PROSE)), "The report is in the log.")
    return prose if len(prose) <= SHORT else f"{prose[: SHORT - 1].rstrip()}…"
