"""The log file: what happened and when, never prompts, replies or code unless the user asked for them."""

from __future__ import annotations

import logging
import os
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

ROOT = "stet_ls"
PROMPTS = "stet_ls.prompts"
"""The one logger that may be given prompts, replies and code. It is silent unless `log.prompts` is set."""

MAX_BYTES = 1_000_000
BACKUPS = 3
FORMAT = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"


def start_log(file: Path, level: str) -> None:
    """Writes the log of this process to `file` from now on; a folder that cannot be written leaves it off.

    Called again, for another level or file, it replaces the handler.
    """
    root = logging.getLogger(ROOT)
    for handler in [handler for handler in root.handlers if isinstance(handler, RotatingFileHandler)]:
        root.removeHandler(handler)
        handler.close()
    quiet_libraries()
    set_level(level)
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handler = _PrivateFile(file, maxBytes=MAX_BYTES, backupCount=BACKUPS, encoding="utf-8", delay=True)
    except OSError as error:
        root.warning("no log file: %s", error)
        return
    handler.setFormatter(logging.Formatter(FORMAT))
    root.addHandler(handler)


class _PrivateFile(RotatingFileHandler):
    """A log that its user alone may read: it names files, and holds prompts for those who ask for them."""

    def _open(self) -> TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return TextIOWrapper(os.fdopen(descriptor, "ab"), encoding=self.encoding, errors=self.errors)


def set_level(level: str, *, prompts: bool = False) -> None:
    """Sets the least severity that is written, and whether prompts are."""
    logging.getLogger(ROOT).setLevel(level.upper())
    logging.getLogger(PROMPTS).setLevel(logging.DEBUG if prompts else logging.CRITICAL + 1)


def quiet_libraries() -> None:
    """Keeps libraries from writing message bodies: pygls logs every message that it sends at INFO, code included."""
    for name in ("pygls", "openai", "httpx", "httpcore", "asyncio"):
        logging.getLogger(name).setLevel(logging.WARNING)
