"""Sources of a model's bytes: a local file, a web address or the official hub; `weight_packages` has another.

None of them is trusted: the caller compares the SHA-256 of the whole.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

_CHUNK = 1 << 20
_HUB = "https://huggingface.co"
_SECONDS = 10.0
"""To connect, and between two pieces: a blocked hub should not delay the next source."""

Opened = tuple[int, Generator[bytes, None, None]]
"""The offset at which a source actually starts, and the bytes from there."""


class SourceError(Exception):
    """A source failed; its text is the reason."""


class WeightSource(Protocol):
    """Yields a file from an offset on."""

    @property
    def name(self) -> str:
        """Name in messages."""

    def open(self, have: int) -> Opened:
        """Starts at byte `have`, or before it if it cannot start there. Raises SourceError, at once or later."""

    def size(self) -> int:
        """The bytes of the whole file. Raises SourceError if the source does not say."""


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A copy on this machine."""

    path: Path

    @property
    def name(self) -> str:
        """Its path."""
        return str(self.path)

    def open(self, have: int) -> Opened:
        """Reads the whole file: the rest of an earlier attempt need not be part of this file."""
        return 0, self._read()

    def size(self) -> int:
        """As on the disk."""
        try:
            return self.path.stat().st_size
        except OSError as error:
            raise SourceError(error.strerror or str(error)) from error

    def _read(self) -> Generator[bytes, None, None]:
        try:
            with self.path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    yield chunk
        except OSError as error:
            raise SourceError(error.strerror or str(error)) from error


@dataclass(frozen=True, slots=True)
class WebFile:
    """A file at a web address."""

    url: str

    @property
    def name(self) -> str:
        """Its host."""
        return urlsplit(self.url).netloc

    def open(self, have: int) -> Opened:
        """Requests the rest; a server without range support sends the whole."""
        response = self._response({"Range": f"bytes={have}-"} if have else {})
        return (have if response.status == 206 else 0), self._read(response)

    def size(self) -> int:
        """As the server reports it."""
        with self._response({}) as response:
            length = response.headers.get("Content-Length", "")
        if not length.isdigit():
            raise SourceError("the server does not report the size of the file")
        return int(length)

    def _response(self, headers: dict[str, str]) -> HTTPResponse:
        if urlsplit(self.url).scheme not in ("https", "http"):
            raise SourceError("not a web address")
        request = Request(self.url, headers=headers)  # noqa: S310  # checked above
        with _network_errors():
            response: HTTPResponse = urlopen(request, timeout=_SECONDS)  # noqa: S310  # checked above
        return response

    def _read(self, response: HTTPResponse) -> Generator[bytes, None, None]:
        with _network_errors(), response:
            while chunk := response.read(_CHUNK):
                yield chunk


def hub_file(repository: str, file: str) -> WebFile:
    """A file of the model hub, or of the mirror that STET_HUB names."""
    base = os.environ.get("STET_HUB") or _HUB
    return WebFile(f"{base.rstrip('/')}/{repository}/resolve/main/{file}")


@contextmanager
def _network_errors() -> Iterator[None]:
    try:
        yield
    except HTTPError as error:
        error.close()
        raise SourceError(f"HTTP {error.code}") from error
    except URLError as error:
        raise SourceError(str(getattr(error.reason, "strerror", None) or error.reason)) from error
    except (HTTPException, OSError) as error:
        raise SourceError(str(error) or type(error).__name__) from error
