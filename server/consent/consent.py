"""All questions of consent to one user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stet_ls.server.consent.model_download import ModelDownloadOffer
from stet_ls.server.consent.model_setup import ModelSetup
from stet_ls.server.consent.permissions import PermissionPrompts
from stet_ls.server.consent.project_trust import ProjectTrust

if TYPE_CHECKING:
    from stet_ls.engine.storage.paths import Paths
    from stet_ls.server.engine_loader import EngineLoader
    from stet_ls.server.lsp.client_connection import ClientConnection


class Consent:
    """The permissions that jobs need, the trust in a project's actions, the choice of a model and its download."""

    def __init__(self, ls: ClientConnection, paths: Paths, engine: EngineLoader) -> None:
        self.permissions = PermissionPrompts(ls)
        self.project_trust = ProjectTrust(self.permissions, engine)
        self.model_download = ModelDownloadOffer(ls, paths, shown=ls.client.work_done_progress)
        self.model_setup = ModelSetup(ls, paths, self.model_download)
