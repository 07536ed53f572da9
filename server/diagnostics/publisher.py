"""Sends findings to the editor: live syntax errors, those of analyze and of verify, pulled or pushed, each only once.

A client that pulls is answered, and asked to pull again when there are new findings. One that pulls but cannot be
asked (Neovim 0.11) is pushed what its last answer did not contain; its next pull removes that. All others are pushed
everything, with the version of the text.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from stet_ls.server.diagnostics.finding_store import FindingStore
from stet_ls.server.diagnostics.live_syntax import REST_SECONDS, LiveSyntax
from stet_ls.server.diagnostics.suppression import OtherServers, SuppressionReason, SuppressionRules, suppression_reason
from stet_ls.server.documents.open_documents import Documents, Snapshot
from stet_ls.server.lsp.client_capabilities import ClientFeatures
from stet_ls.server.lsp.convert import protocol_diagnostic

if TYPE_CHECKING:
    from stet_ls.engine.api.answer import Answer
    from stet_ls.server.edits.edit_plan import EditOrigin
    from stet_ls.validators.checkers.toolbox import Toolbox
    from stet_ls.validators.findings import Finding

LOGGER = logging.getLogger(__name__)

OPTIONS = types.DiagnosticOptions(identifier="stet", inter_file_dependencies=False, workspace_diagnostics=False)
"""The options for clients that pull: a document's diagnostics depend on that document alone."""
REFRESH_SECONDS = 5.0
"""Limit for a client to answer a request to pull again; after that it can be asked again."""

NOTHING = "nothing"
"""The result id of an empty report. Others name their version: editors move what they show while the user types."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """The diagnostics of a document: live syntax errors, and findings of analyze and of verify."""

    live: tuple[types.Diagnostic, ...] = ()
    kept: tuple[types.Diagnostic, ...] = ()

    @property
    def all(self) -> list[types.Diagnostic]:
        """All diagnostics, in the document's order."""
        return sorted((*self.live, *self.kept), key=lambda each: (each.range.start.line, each.range.start.character))

    def beyond(self, pulled: _Shown) -> list[types.Diagnostic]:
        """Findings that are not reported yet; in a line with a syntax error other findings are not new."""
        lines = {each.range.start.line for each in pulled.live}
        live = (each for each in self.live if each.range.start.line not in lines)
        return _Shown(tuple(live), tuple(each for each in self.kept if each not in pulled.kept)).all


@dataclass(frozen=True, slots=True)
class _Pulled:
    """The last answer to a pull."""

    version: int | None
    result: str
    shown: _Shown


class DiagnosticsPublisher:
    """All diagnostics of one client. Until `configure` is called it is sent none."""

    def __init__(self, ls: LanguageServer, documents: Documents, client: ClientFeatures) -> None:
        self._ls = ls
        self._documents = documents
        self._client = client
        self._rules = SuppressionRules()
        self._others = OtherServers(client.diagnoses)
        self._live = LiveSyntax(documents, self._deliver)
        self._kept = FindingStore(documents)
        self._verified = FindingStore(documents)
        self._configured = asyncio.Event()
        self._pulled: dict[str, _Pulled] = {}
        self._pushed: dict[str, tuple[int | None, list[types.Diagnostic]]] = {}
        self._logged_large: set[str] = set()
        self._asking: asyncio.Task[None] | None = None
        self._ask_again = False

    def configure(self, rules: SuppressionRules, tools: Toolbox | None = None) -> None:
        """Sets what is shown, with immediate effect."""
        self._rules, self._live.tools = rules, tools
        self._configured.set()
        for snapshot in self._documents.open_snapshots():
            self._look(snapshot, rest=0)
            self._deliver(snapshot.uri)

    def opened(self, snapshot: Snapshot) -> None:
        """The client opened a document."""
        if self._configured.is_set():
            self._look(snapshot, rest=0)

    def changed(self, snapshot: Snapshot) -> None:
        """The client changed a document."""
        if self._configured.is_set():
            self._look(snapshot, rest=REST_SECONDS)
            self._deliver(snapshot.uri)

    def closed(self, uri: str) -> None:
        """The client closed a document: drops all about it."""
        self._live.forget(uri)
        self._kept.forget(uri)
        self._verified.forget(uri)
        self._pulled.pop(uri, None)
        self._logged_large.discard(uri)
        _, pushed = self._pushed.pop(uri, (None, []))
        if pushed:
            self._ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def client_has(self, snapshot: Snapshot, diagnostics: Sequence[types.Diagnostic]) -> None:
        """The client sent diagnostics of all servers: another server may report the same errors as Stet."""
        foreign = self._others.errors(diagnostics) if self._rules.yields else []
        if foreign and (name := self._others.learn(snapshot.language, foreign, self._shown(snapshot).live)):
            message = (
                f"{name} already reports errors in {snapshot.language}, so Stet does not (setting `checks.live_yield`)."
            )
            self._ls.window_log_message(types.LogMessageParams(types.MessageType.Info, message))
            for each in self._documents.open_snapshots():
                if self._live.judges(each.uri) and suppression_reason(each, self._rules, self._others):
                    self._live.forget(each.uri)
                    self._deliver(each.uri)

    def analyzed(self, answer: Answer, origin: EditOrigin) -> None:
        """Keeps the findings of an answer. Call it before any await after the job."""
        if (uri := self._kept.keep(answer, origin)) is not None:
            self._deliver(uri)

    def verified(self, snapshot: Snapshot, findings: Iterable[Finding]) -> None:
        """Shows what verify found in an open document, instead of what it found before."""
        self._verified.put(snapshot, findings)
        self._deliver(snapshot.uri)

    def clear(self, uri: str | None) -> int:
        """Removes the findings of analyze and verify, of one document or of all (None); returns how many had any."""
        stores = (self._kept, self._verified)
        uris = dict.fromkeys(each for store in stores for each in store.uris()) if uri is None else (uri,)
        cleared = [each for each in uris if sum(store.forget(each) for store in stores)]
        for each in cleared:
            self._deliver(each)
        return len(cleared)

    async def pull(self, uri: str, previous: str | None) -> types.DocumentDiagnosticReport:
        """The current diagnostics of a document. Waits for the grammar alone, and for the first settings."""
        await self._configured.wait()
        await self._live.current(uri)
        snapshot = self._documents.snapshot(uri)
        if snapshot is None or not snapshot.is_open:
            return types.RelatedFullDocumentDiagnosticReport([], result_id=NOTHING)
        shown = self._shown(snapshot)
        result = _result_id(snapshot, shown.all)
        self._pulled[snapshot.uri] = _Pulled(snapshot.version, result, shown)
        self._push(snapshot, [])
        if result == previous:
            return types.RelatedUnchangedDocumentDiagnosticReport(result)
        return types.RelatedFullDocumentDiagnosticReport(shown.all, result_id=result)

    async def read(self, uri: str) -> None:
        """Returns once the grammar has read a document's newest text; at once if it is not checked as it changes."""
        await self._live.current(uri)

    def close(self) -> None:
        """Ends all checks."""
        self._live.close()
        if self._asking is not None:
            self._asking.cancel()

    def _look(self, snapshot: Snapshot, *, rest: float) -> None:
        """Starts or stops the checks of a document, as the rules say."""
        why = suppression_reason(snapshot, self._rules, self._others)
        if why is None:
            self._live.refresh(snapshot, rest=rest)
            return
        self._live.forget(snapshot.uri)
        if why is SuppressionReason.LARGE and snapshot.uri not in self._logged_large:
            self._logged_large.add(snapshot.uri)
            message = f"{snapshot.uri}: {why.value}."
            self._ls.window_log_message(types.LogMessageParams(types.MessageType.Info, message))

    def _shown(self, snapshot: Snapshot) -> _Shown:
        live = self._live.findings(snapshot.uri, snapshot.version) or ()
        kept = self._kept.findings(snapshot.uri) if self._rules.findings else ()
        if suppression_reason(snapshot, self._rules, self._others) in (None, SuppressionReason.ELSEWHERE):
            kept = tuple(each for each in kept if each.kind != "syntax")  # the live checks report these
        kept = (*kept, *self._verified.findings(snapshot.uri))
        one, other = (
            tuple(protocol_diagnostic(each, snapshot, self._client) for each in found) for found in (live, kept)
        )
        return _Shown(tuple(_distinct(one)), tuple(_distinct(other)))

    def _deliver(self, uri: str) -> None:
        """Sends the current diagnostics of a document. If the grammar is still parsing it, its result sends them."""
        snapshot = self._documents.snapshot(uri)
        if snapshot is None or not snapshot.is_open or self._live.reads(uri):
            return
        shown = self._shown(snapshot)
        if not self._client.pull_diagnostics:
            self._push(snapshot, shown.all)
            return
        pulled = self._pulled.get(uri)
        if pulled is None or pulled.result == _result_id(snapshot, shown.all):
            return
        if not self._client.refresh_diagnostics:
            if pulled.version == snapshot.version:
                self._push(snapshot, shown.beyond(pulled.shown))
        # A client pulls by itself after a change, but not every client does for every document.
        elif pulled.version == snapshot.version or self._live.is_complete(uri):
            self._refresh()

    def _push(self, snapshot: Snapshot, diagnostics: list[types.Diagnostic]) -> None:
        version, before = self._pushed.get(snapshot.uri, (None, []))
        watched = self._live.judges(snapshot.uri) and not self._client.pull_diagnostics
        if (diagnostics or before or watched) and (version, before) != (snapshot.version, diagnostics):
            self._pushed[snapshot.uri] = snapshot.version, diagnostics
            self._ls.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(snapshot.uri, diagnostics, snapshot.version)
            )

    def _refresh(self) -> None:
        """Asks the client to pull again; repeats at most once more after its answer."""
        self._ask_again = True
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask(), name="refresh diagnostics")

    async def _ask(self) -> None:
        try:
            while self._ask_again:
                self._ask_again = False
                async with asyncio.timeout(REFRESH_SECONDS):
                    await self._ls.workspace_diagnostic_refresh_async(None)
        except (JsonRpcException, TimeoutError) as error:
            LOGGER.info("client refresh failed: %s", error or "no answer")
        finally:
            self._asking = None


def _distinct(diagnostics: tuple[types.Diagnostic, ...]) -> list[types.Diagnostic]:
    """The diagnostics without duplicates in the same range."""
    return list({(str(each.range), each.message): each for each in diagnostics}.values())


def _result_id(snapshot: Snapshot, diagnostics: list[types.Diagnostic]) -> str:
    if not diagnostics:
        return NOTHING
    return f"{snapshot.version}-{hashlib.sha256(repr(diagnostics).encode()).hexdigest()[:16]}"
