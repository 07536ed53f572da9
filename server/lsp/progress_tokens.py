"""The tokens of progress reports, kept as long as a client can cancel them."""

from __future__ import annotations

from typing import Any

from lsprotocol import types
from pygls.progress import Progress


class TokenKeeper(Progress):
    """Progress tokens, registered before the client can cancel them and removed at their end."""

    async def create_async(self, token: types.ProgressToken) -> Any:
        """Creates a progress. Registers its token before the request: a cancellation may arrive with the response."""
        self._check_token_registered(token)
        self._register_token(token)
        try:
            return await self._lsp.send_request_async(
                types.WINDOW_WORK_DONE_PROGRESS_CREATE, types.WorkDoneProgressCreateParams(token)
            )
        except BaseException:
            self.tokens.pop(token, None)
            raise

    def end(self, token: types.ProgressToken, value: types.WorkDoneProgressEnd) -> None:
        """Ends a progress and drops its token, which pygls would keep."""
        self.tokens.pop(token, None)
        super().end(token, value)
