"""The server object of one client: everything that its features share, and nothing that they do."""

from __future__ import annotations

import asyncio
import logging
import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from stet_ls import __version__
from stet_ls.engine.markdown import plain
from stet_ls.server.consent.model_download import ModelDownloadOffer
from stet_ls.server.consent.permissions import PermissionPrompts
from stet_ls.server.consent.project_trust import ProjectTrust
from stet_ls.server.diagnostics.publisher import DiagnosticsPublisher
from stet_ls.server.diagnostics.suppression import SuppressionRules
from stet_ls.server.documents.index_updates import IndexUpdates
from stet_ls.server.documents.open_documents import Documents
from stet_ls.server.documents.unit_index import UnitIndex
from stet_ls.server.edits.edit_outcomes import OutcomeName, OutcomeWatcher
from stet_ls.server.edits.pending_edits import PendingEdits
from stet_ls.server.engine_loader import ClientSettings, EngineLoader
from stet_ls.server.evidence.code_lenses import CodeLenses
from stet_ls.server.evidence.evidence_files import EvidenceFiles
from stet_ls.server.evidence.report_viewer import ReportViewer
from stet_ls.server.jobs.job_registry import Jobs
from stet_ls.server.lsp.client_capabilities import ClientFeatures
from stet_ls.server.lsp.protocol import Protocol, converter_factory
from stet_ls.server.observability.health import Health
from stet_ls.server.observability.metrics_feed import MetricsFeed

if TYPE_CHECKING:
    from stet_ls.engine.api.answer import Answer
    from stet_ls.engine.run import Engine
    from stet_ls.engine.settings.schema import Settings
    from stet_ls.engine.storage.paths import Paths
    from stet_ls.server.observability.log_format import Format

LOGGER = logging.getLogger(__name__)

SECTION = "stet"
"""The section of the editor's settings."""
CONFIGURATION_SECONDS = 3.0
"""How long the editor may take to tell its settings; the jobs wait for them."""


class StetServer(LanguageServer):
    """Stet, as one client sees it."""

    protocol: Protocol

    def __init__(
        self,
        *,
        log_file: Path | None = None,
        log_level: str | None = None,
        log_format: Format | None = None,
        client_process_id: int | None = None,
    ) -> None:
        super().__init__(
            SECTION,
            __version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            protocol_cls=Protocol,
            converter_factory=converter_factory,
        )
        self.client = ClientFeatures()
        self.process_id = client_process_id
        self._told_process_id = client_process_id
        self.documents: Documents = self.protocol.documents
        self.jobs = Jobs(self._forget)
        self.units = UnitIndex(self._read)
        self.outcomes = OutcomeWatcher(self.documents, self._tell_outcome)
        self.sending = asyncio.Lock()
        """Held by the job whose edit was sent and is not in its document yet."""
        self.pending_edits = PendingEdits()
        """The edits that were sent and may still show."""
        self._options: dict[str, Any] = {}
        self._log_file = log_file
        self._log_level = log_level
        self._log_format = log_format
        self._started = time.monotonic()
        self._background: set[asyncio.Task[Any]] = set()
        self._fates: set[asyncio.Future[Any]] = set()

    @cached_property
    def paths(self) -> Paths:
        """The user's folders. Like the next ones it is made when first used, which is after the handshake."""
        from stet_ls.engine.storage.paths import user_paths

        return user_paths()

    @cached_property
    def reports(self) -> ReportViewer:
        """What was shown to the user."""
        client, paths = self.client, self.paths
        return ReportViewer(
            self,
            paths.cache / "reports",
            paths.evidence,
            documents=client.show_document,
            virtual=client.text_document_content,
        )

    @cached_property
    def evidence_files(self) -> EvidenceFiles:
        """The evidence of jobs as files that can be opened."""
        return EvidenceFiles(self.reports, self.paths.evidence)

    @cached_property
    def lenses(self) -> CodeLenses:
        """What stands above changed code."""
        return CodeLenses(self, self.documents, self.client)

    @cached_property
    def diagnostics(self) -> DiagnosticsPublisher:
        """What the editor is shown of findings."""
        return DiagnosticsPublisher(self, self.documents, self.client)

    @cached_property
    def model_download(self) -> ModelDownloadOffer:
        """The offer to fetch the embedded model, where a job found none at all."""
        return ModelDownloadOffer(self, self.paths, shown=self.client.work_done_progress)

    @cached_property
    def trust(self) -> ProjectTrust:
        """The question whether a project's actions may run."""
        return ProjectTrust(self.questions, self.engine)

    @cached_property
    def questions(self) -> PermissionPrompts:
        """What a job asks the user before it goes on."""
        return PermissionPrompts(self)

    @cached_property
    def health(self) -> Health:
        """How the parts are that jobs lean on."""
        return Health()

    @cached_property
    def counters(self) -> MetricsFeed:
        """What this server counts."""
        return MetricsFeed(self.warn)

    @cached_property
    def engine(self) -> EngineLoader:
        """The engine, made for the settings as they are."""
        return EngineLoader(
            self.paths,
            project=self.project,
            editor=self.editor_settings,
            warn=self.warn,
            apply=self._apply,
            made=self._made,
        )

    @cached_property
    def indexing(self) -> IndexUpdates:
        """What the engine's index hears of the workspace."""
        return IndexUpdates(lambda: self.engine.index, self.roots)

    def on_initialize(self, params: types.InitializeParams) -> None:
        """Learns who the client is."""
        self.client = ClientFeatures.of(params)
        # The server ends with this process. pygls forgets what the command line told when `initialize` tells nothing.
        self.process_id = params.process_id or self._told_process_id
        options = params.initialization_options
        self._options = dict(options) if isinstance(options, dict) else {}

    def start_log(self) -> None:
        """Opens the log file."""
        from stet_ls.server.observability.log import start_log

        start_log(self._log_file or self.paths.logs / "stet.log", self._log_level or "info", self._log_format or "text")

    def roots(self) -> tuple[Path, ...]:
        """The folders that are open, the first one first. A client without any is well."""
        uris = list(self.workspace.folders) or [uri for uri in [self.workspace.root_uri] if uri]
        paths = (to_fs_path(uri) for uri in uris)
        return tuple(Path(path) for path in paths if path)

    def project(self) -> Path | None:
        """The folder whose `.stet.toml` counts."""
        return next(iter(self.roots()), None)

    async def editor_settings(self) -> ClientSettings:
        """The editor's settings: pulled where it answers, else those that came with `initialize`.

        `initializationOptions`: `settings`, and `userSettings`, what a plugin read from the user's scope. Neither may
        loosen anything: editors let the opened folder say what they send at the start.
        """
        workspace = self._options.get("settings")
        if self.client.configuration:
            item = types.ConfigurationItem(section=SECTION)
            request = self.workspace_configuration_async(types.ConfigurationParams([item]))
            try:
                pulled = await asyncio.wait_for(request, CONFIGURATION_SECONDS)
            except (JsonRpcException, TimeoutError) as error:
                LOGGER.warning("the editor did not send its settings: %s", error or "no answer")
            else:
                workspace = (pulled[0] if pulled else None) or workspace
        user = self._options.get("userSettings")
        return ClientSettings(
            workspace if isinstance(workspace, dict) else None, user if isinstance(user, dict) else None
        )

    def uptime(self) -> float:
        """Seconds since it was made."""
        return time.monotonic() - self._started

    def window_show_message(self, params: types.ShowMessageParams) -> None:
        """Shows a message box. Messages quote code, replies and names of files: none of them may be a link."""
        super().window_show_message(types.ShowMessageParams(params.type, plain(params.message)))

    async def window_show_message_request_async(
        self, params: types.ShowMessageRequestParams
    ) -> types.MessageActionItem | None:
        """Asks by message box, with words as above."""
        asked = types.ShowMessageRequestParams(params.type, plain(params.message), params.actions)
        return await super().window_show_message_request_async(asked)

    def warn(self, message: str) -> None:
        """Tells the user, who has to do something about it."""
        LOGGER.warning("%s", message)
        self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))

    def tell(self, message: str) -> None:
        """Writes a line to the client's log."""
        self.window_log_message(types.LogMessageParams(types.MessageType.Info, message))

    def in_background(self, work: Any, name: str) -> asyncio.Future[Any]:
        """Runs a coroutine in the background, and keeps a reference until it ends."""
        task: asyncio.Task[Any] = asyncio.ensure_future(work)
        task.set_name(name)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task

    def record_outcome(self, answer: Answer, fate: str) -> None:
        """Has the record of a job say, in a word, what became of its edit."""

        async def tell(trace: str) -> None:
            await (await self.engine.get()).engine.record_outcome(trace, fate)

        if trace := answer.metadata.trace:
            self._fate(tell(trace), f"{trace} was {fate}")

    async def flush_outcomes(self) -> None:
        """Returns once the engine knows the outcome of every edit: many users save and quit at once."""
        while self._fates:
            await asyncio.wait(self._fates)

    async def _read(self, uri: str) -> None:
        await self.diagnostics.read(uri)

    def _forget(self, job: str) -> None:
        self.lenses.forget(job)
        self.evidence_files.drop(job)

    def _tell_outcome(self, trace: str, fate: OutcomeName, text: str) -> None:
        async def tell() -> None:
            from stet_ls.engine.api.answer import EditOutcome

            await (await self.engine.get()).engine.learn_outcome(trace, EditOutcome(fate), text)

        self._fate(tell(), f"outcome of {trace}")

    def _fate(self, work: Any, name: str) -> None:
        told = self.in_background(work, name)
        self._fates.add(told)
        told.add_done_callback(self._fates.discard)

    def _made(self, engine: Engine) -> None:
        self.counters.watch(engine)
        engine.runtimes.asker = self.questions
        engine.ask_by(self.questions)

    def _apply(self, settings: Settings) -> None:
        from stet_ls.engine.settings.tool_settings import toolbox
        from stet_ls.server.observability.log import set_format, set_level

        set_level(self._log_level or settings.log.level, prompts=settings.log.prompts)
        set_format(self._log_format or settings.log.format)
        self.outcomes.stands_seconds = settings.memory.stands_seconds
        self.diagnostics.configure(SuppressionRules.of(settings.checks), toolbox(settings, self.roots()))
        self.lenses.configure(wanted=settings.editor.code_lens)
