"""The views of evidence for one client: reports, files, code lenses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stet_ls.server.evidence.code_lenses import CodeLenses
from stet_ls.server.evidence.evidence_files import EvidenceFiles
from stet_ls.server.evidence.produced_files import ProducedFiles
from stet_ls.server.evidence.report_viewer import ReportViewer
from stet_ls.server.evidence.verified_units import VerifiedUnits

if TYPE_CHECKING:
    from stet_ls.engine.storage.paths import Paths
    from stet_ls.server.lsp.client_connection import ClientConnection


class EvidenceViews:
    """All views of one client."""

    def __init__(self, ls: ClientConnection, paths: Paths) -> None:
        shown, fetched = ls.client.show_document, ls.client.text_document_content
        self.reports = ReportViewer(ls, paths.reports, paths.evidence, paths.results, documents=shown, virtual=fetched)
        self.files = EvidenceFiles(self.reports, paths.evidence)
        self.produced = ProducedFiles(self.reports, paths.results)
        self.lenses = CodeLenses(ls, ls.protocol.documents, ls.client)
        self.verified = VerifiedUnits(self.files)

    def forget(self, job: str) -> None:
        """Drops all views of a job that is no longer kept."""
        self.lenses.forget(job)
        self.files.drop(job)
