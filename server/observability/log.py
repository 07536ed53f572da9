"""The log file: events with their time; never prompts, replies or code unless the user enables that."""

from __future__ import annotations

import errno
import logging
import os
import sys
from contextlib import suppress
from functools import cache
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TextIO

from stet_ls.engine.storage.paths import unwritable
from stet_ls.server.observability.log_format import Format, formatter
from stet_ls.validators.invisible_chars import escape_invisible

ROOT = "stet_ls"

MAX_BYTES = 1_000_000
BACKUPS = 3


def start_log(file: Path, level: str, form: Format = "text") -> None:
    """Writes the log of this process to `file` from now on; if that fails, prints a warning.

    The file may be a terminal (/dev/stderr): it gets lines for people, in colors.

    Called again, for another level or file, it replaces the handler.
    """
    root = logging.getLogger(ROOT)
    for handler in _own(root):
        root.removeHandler(handler)
        handler.close()
    quiet_libraries()
    set_level(level)
    try:
        terminal = file.is_char_device()
        new = _Terminal(sys.stderr) if terminal else _private(file)
    except OSError as error:
        # Without any handler, Python would print each warning.
        root.addHandler(logging.NullHandler())
        no_log = f"warning: cannot write a log: {error.filename or file}: {error.strerror}"
        print_once(f"error: {found}" if (found := unwritable(error)) else no_log)
        return
    new.setFormatter(formatter(form, terminal=terminal and sys.stderr.isatty()))
    root.addHandler(new)


@cache
def print_once(message: str) -> None:
    """Prints a message once, even if several parts meet the same obstacle."""
    print(escape_invisible(message), file=sys.stderr)


def set_format(form: Format) -> None:
    """Sets the format of later lines."""
    for handler in _own(logging.getLogger(ROOT)):
        terminal = isinstance(handler, _Terminal) and sys.stderr.isatty()
        handler.setFormatter(formatter(form, terminal=terminal))


def _own(root: logging.Logger) -> list[logging.Handler]:
    return [handler for handler in root.handlers if isinstance(handler, _OURS)]


def _private(file: Path) -> RotatingFileHandler:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # The first line opens the file; this reports now if it cannot be opened.
    place = file if file.exists() else file.parent
    if file.is_dir() or not os.access(place, os.W_OK):
        reason = errno.EISDIR if file.is_dir() else errno.EACCES
        raise OSError(reason, os.strerror(reason), str(place))
    return _PrivateFile(file, maxBytes=MAX_BYTES, backupCount=BACKUPS, encoding="utf-8", delay=True)


class _Terminal(logging.StreamHandler[TextIO]):
    """Standard error instead of any terminal device: standard output belongs to the protocol and to results."""


class _PrivateFile(RotatingFileHandler):
    """A log that only the user may read: it names files, and contains prompts if enabled."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Drops lines of the log when the disk is full; Python would print each with its traceback."""

    def close(self) -> None:
        """Closes the file. Lines that a full disk did not take are lost."""
        with suppress(OSError):
            super().close()

    def _open(self) -> TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return TextIOWrapper(os.fdopen(descriptor, "ab"), encoding=self.encoding, errors=self.errors)


_OURS = (_PrivateFile, _Terminal, logging.NullHandler)


def set_level(level: str) -> None:
    """Sets the minimum level."""
    logging.getLogger(ROOT).setLevel(level.upper())


def quiet_libraries() -> None:
    """Stops libraries from logging message bodies: pygls logs every message that it sends at INFO, code included."""
    for name in ("pygls", "openai", "httpx", "httpcore", "asyncio"):
        logging.getLogger(name).setLevel(logging.WARNING)
