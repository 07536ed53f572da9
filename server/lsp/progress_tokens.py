"""The tokens of progress reports, kept for as long as a client can cancel them."""

from __future__ import annotations

from typing import Any

from lsprotocol import types
from pygls.progress import Progress


class TokenKeeper(Progress):
    """Progress tokens from before the client can cancel them until their end, and no longer."""

    async def create_async(self, token: types.ProgressToken) -> Any:
        """Creates a progress. Its token is known before the client is: a cancel may come together with the answer."""
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
        """Ends a progress; pygls would keep its token."""
        self.tokens.pop(token, None)
        super().end(token, value)
