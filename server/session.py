"""The server object of one client: its parts from each package, and how settings reach them."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from stet_ls.server.consent.consent import Consent
from stet_ls.server.diagnostics.publisher import DiagnosticsPublisher
from stet_ls.server.diagnostics.suppression import SuppressionRules
from stet_ls.server.documents.index_updates import IndexUpdates
from stet_ls.server.documents.unit_index import UnitIndex
from stet_ls.server.edits.outcome_reporter import OutcomeReporter
from stet_ls.server.edits.outcome_watcher import OutcomeWatcher
from stet_ls.server.edits.unconfirmed_edits import UnconfirmedEdits
from stet_ls.server.engine_loader import EngineLoader
from stet_ls.server.evidence.evidence_views import EvidenceViews
from stet_ls.server.jobs.job_registry import Jobs
from stet_ls.server.lsp.client_configuration import ClientConfiguration
from stet_ls.server.lsp.client_connection import ClientConnection
from stet_ls.server.observability.monitoring import Monitoring

if TYPE_CHECKING:
    from stet_ls.engine.run import Engine
    from stet_ls.engine.settings.schema import Settings
    from stet_ls.engine.storage.paths import Paths
    from stet_ls.server.observability.log_format import Format


class StetServer(ClientConnection):
    """The server for one client. Parts that need the engine's modules are created at first use, after the handshake."""

    def __init__(
        self,
        *,
        log_file: Path | None = None,
        log_level: str | None = None,
        log_format: Format | None = None,
        client_process_id: int | None = None,
    ) -> None:
        super().__init__(client_process_id=client_process_id)
        self.monitoring = Monitoring(self.warn, log_file=log_file, log_level=log_level, log_format=log_format)
        self.editor = ClientConfiguration(self)
        self.documents = self.protocol.documents
        self.unconfirmed_edits = UnconfirmedEdits()

    @cached_property
    def paths(self) -> Paths:
        """The user's folders."""
        from stet_ls.engine.storage.paths import user_paths

        return user_paths()

    @cached_property
    def engine(self) -> EngineLoader:
        """The engine for the current settings."""
        return EngineLoader(
            self.paths,
            project=self.editor.project,
            editor=self.editor.pull,
            warn=self.warn,
            apply=self._apply,
            made=self._made,
        )

    @cached_property
    def consent(self) -> Consent:
        """The questions to the user."""
        return Consent(self, self.paths, self.engine)

    @cached_property
    def diagnostics(self) -> DiagnosticsPublisher:
        """The diagnostics in the editor."""
        return DiagnosticsPublisher(self, self.documents, self.client)

    @cached_property
    def evidence(self) -> EvidenceViews:
        """The views of evidence."""
        return EvidenceViews(self, self.paths)

    @cached_property
    def indexing(self) -> IndexUpdates:
        """The updates of the engine's index."""
        return IndexUpdates(lambda: self.engine.index, self.editor.roots)

    @cached_property
    def jobs(self) -> Jobs:
        """The running and ended jobs."""
        return Jobs(self.evidence.forget)

    @cached_property
    def outcome_reporter(self) -> OutcomeReporter:
        """The reports of edit outcomes to the engine."""
        return OutcomeReporter(self, self.engine)

    @cached_property
    def outcome_watcher(self) -> OutcomeWatcher:
        """The watched edits."""
        return OutcomeWatcher(self.documents, self.outcome_reporter.learn)

    @cached_property
    def units(self) -> UnitIndex:
        """The function or class at each line."""
        return UnitIndex(self.diagnostics.read)

    def _made(self, engine: Engine) -> None:
        """Connects a new engine before its first job."""
        self.monitoring.metrics.watch(engine)
        engine.runtimes.asker = self.consent.permissions
        engine.ask_by(self.consent.permissions)

    def _apply(self, settings: Settings) -> None:
        """Applies settings."""
        from stet_ls.engine.settings.tool_settings import toolbox

        self.monitoring.configure(settings.log)
        self.outcome_watcher.stands_seconds = settings.memory.stands_seconds
        self.diagnostics.configure(SuppressionRules.of(settings.checks), toolbox(settings, self.editor.roots()))
        self.evidence.lenses.configure(enabled=settings.editor.code_lens)
