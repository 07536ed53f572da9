"""The errors that users see.

StetError                    one sentence: the thing, the place, the way out
├── UsageError               the caller asked for something that does not exist or does not fit
│   └── SettingsError        a settings file, an environment variable or an editor setting is wrong
├── UnknownIdError           no stored object has this id
├── ModelError               no usable answer came from a model
│   ├── NoModelError         no model can be reached; names what was tried
│   ├── EndpointError        one endpoint failed; carries its fault
│   └── WeightsError         the embedded model's file is absent, damaged or cannot be fetched
├── WorkerError              a child process did not start, or exited at once
├── StoreError               the memory of solutions failed; carries its fault
└── PolicyError              refused: secrets, isolation, trust
    └── LimitError           the user's spending limit is reached

A refusal that belongs to the job ("the reply held no code") is not an exception: it is an Answer without success.
"""

from __future__ import annotations

from enum import StrEnum


class StetError(Exception):
    """Any failure that a user sees. Its text is one sentence for a person; details belong in the log."""

    exit_code = 1
    hint = ""
    """What to do instead, for the command line; "" if the text says it."""


class UsageError(StetError):
    """A wrong argument, a missing file, an unknown name."""

    exit_code = 2

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class SettingsError(UsageError):
    """A setting that cannot be used. Names the key, where it was set, and what was expected."""


class UnknownIdError(StetError):
    """No stored object has this id. It may have existed once, so the arguments are not wrong."""


class ModelError(StetError):
    """No usable answer came from a model."""

    exit_code = 3


class NoModelError(ModelError):
    """No model can be reached: says what was tried. `absent` names the embedded model that could be installed."""

    def __init__(self, message: str, *, absent: str = "") -> None:
        super().__init__(message)
        self.absent = absent


class Fault(StrEnum):
    """How an endpoint failed. The client's retry rules are a table of these."""

    REFUSED = "refused by the privacy rule"
    NO_KEY = "no key"
    UNAUTHORIZED = "unauthorized"
    QUOTA = "quota"
    RATE_LIMITED = "rate limited"
    CONTEXT = "context too long"
    BAD_REQUEST = "bad request"
    NOT_FOUND = "not found"
    SERVER = "server error"
    UNREACHABLE = "unreachable"
    NO_FIRST_TOKEN = "no first token"
    STALLED = "stalled"
    MALFORMED = "malformed reply"
    EMPTY = "empty reply"
    DEADLINE = "deadline"


class EndpointError(ModelError):
    """One endpoint failed with `fault`. `status` is the HTTP status, or None when there was none."""

    def __init__(
        self, message: str, *, fault: Fault, endpoint: str, status: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.fault = fault
        self.endpoint = endpoint
        self.status = status
        self.retry_after = retry_after


class WeightsError(ModelError):
    """The embedded model's weights are absent or damaged; `absent` names the model that can be downloaded, or is ""."""

    def __init__(self, message: str, *, absent: str = "") -> None:
        super().__init__(message)
        self.absent = absent


class WorkerError(StetError):
    """A child process did not start, or exited at once. Names it and its log."""


class StoreFault(StrEnum):
    """What is wrong with the memory of solutions."""

    UNAVAILABLE = "unavailable"
    READ_ONLY = "read only"
    DISK_FULL = "disk full"
    CORRUPT = "corrupt"
    NEWER = "newer"
    REFUSED = "refused"
    UNKNOWN_ID = "unknown id"


class StoreError(StetError):
    """The memory of solutions failed with `fault`. No job fails because of it."""

    def __init__(self, message: str, *, fault: StoreFault = StoreFault.UNAVAILABLE) -> None:
        super().__init__(message)
        self.fault = fault


class PolicyError(StetError):
    """Refused by policy: a secret that cannot be replaced, an isolation level that cannot be reached, no trust."""

    exit_code = 4


class LimitError(PolicyError):
    """The user's spending limit is reached. Names the limit, the rest, and the setting."""
