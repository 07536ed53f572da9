"""Messages for errors: one table from the engine's errors to the protocol's.

Source of the codes: JSON-RPC 2.0 section 5.1 and LSP 3.17, "ErrorCodes".
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from pygls.exceptions import JsonRpcException

from stet_ls.engine.errors import ModelError, PolicyError, SettingsError, StetError, UsageError

LOGGER = logging.getLogger(__name__)


class RpcCode(IntEnum):
    """The error codes that Stet answers with."""

    INVALID_PARAMS = -32602
    INTERNAL = -32603
    REQUEST_FAILED = -32803


class ErrorKind(StrEnum):
    """Who has to act: a refusal is Stet's decision, a failure is a fault that occurred."""

    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ErrorReply:
    """An error for the client: a JSON-RPC code, one sentence, and the resulting status of a job."""

    code: RpcCode
    message: str
    blame: ErrorKind

    def to_rpc(self) -> JsonRpcException:
        """The exception that answers a request with this error."""
        return JsonRpcException(self.message, code=self.code)


@dataclass(frozen=True, slots=True)
class _Row:
    error: type[BaseException]
    code: RpcCode
    blame: ErrorKind
    level: int
    sentence: str = "{error}"


# The first matching row counts, so narrow rows come first.
_TABLE = (
    _Row(SettingsError, RpcCode.REQUEST_FAILED, ErrorKind.FAILED, logging.WARNING),
    _Row(UsageError, RpcCode.INVALID_PARAMS, ErrorKind.REFUSED, logging.INFO),
    _Row(PolicyError, RpcCode.REQUEST_FAILED, ErrorKind.REFUSED, logging.WARNING),
    _Row(ModelError, RpcCode.REQUEST_FAILED, ErrorKind.FAILED, logging.WARNING),
    _Row(StetError, RpcCode.REQUEST_FAILED, ErrorKind.FAILED, logging.WARNING),
    _Row(
        TimeoutError,
        RpcCode.REQUEST_FAILED,
        ErrorKind.FAILED,
        logging.WARNING,
        ("Stet ran out of time. Try again, or raise the setting `deadline`."),
    ),
    _Row(OSError, RpcCode.REQUEST_FAILED, ErrorKind.FAILED, logging.ERROR, "System error: {error}."),
    _Row(Exception, RpcCode.INTERNAL, ErrorKind.FAILED, logging.ERROR, "This is a bug in Stet ({name}). See its log."),
)


def failure_of(error: Exception, *, during: str) -> ErrorReply:
    """The reply to the client about `error`, which is logged here and nowhere else.

    `during` names the operation, for the log. A bug's text and traceback stay in the log: they may contain paths.
    """
    row = next(row for row in _TABLE if isinstance(error, row.error))
    unexpected = row.code is RpcCode.INTERNAL
    LOGGER.log(row.level, "%s: %s: %s", during, type(error).__name__, error, exc_info=error if unexpected else None)
    return ErrorReply(row.code, row.sentence.format(error=error, name=type(error).__name__), row.blame)
