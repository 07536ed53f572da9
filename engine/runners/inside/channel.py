"""The report's way out of the sandbox: lines of JSON on a file descriptor, each prefixed with the run's nonce."""

from __future__ import annotations

import json
import os
from json import encoder
from typing import Any, Callable  # noqa: UP035 - for Python 3.8

_getpid, _write = os.getpid, os.write
"""As they are now: code under test may replace what has these names, and would see the nonce."""


def _written() -> Callable[[Any], str]:
    """Writes JSON without calling anything by a name that code under test could replace, if this Python can."""
    make = getattr(encoder, "c_make_encoder", None)
    if make is None:
        return json.JSONEncoder(default=str).encode
    parts = make(None, str, encoder.encode_basestring_ascii, None, ": ", ", ", False, False, True)
    return lambda value: "".join(parts(value, 0))


class Channel:
    """The descriptor, taken from the environment, and the nonce, taken from its file; both are removed there.

    Each line is one write that also begins with a line end: another program's output in between spoils no report.
    """

    def __init__(self, folder: str) -> None:
        path = os.path.join(folder, "nonce")
        with open(path, encoding="ascii") as file:
            self._nonce = file.read().strip()
        os.unlink(path)
        self._number = int(os.environ.pop("BOX_REPORT_FD"))
        os.set_inheritable(self._number, False)
        self._owner = os.getpid()
        self._json = _written()
        self.say("hello", root=os.getcwd())

    def say(self, event: str, **fields: Any) -> None:
        """Reports one event. A fork of the process stays silent: its report would come from another process."""
        if _getpid() != self._owner:
            return
        line = self._json({"event": event, **fields})
        data = f"\n{self._nonce} {line}\n".encode("utf-8", "backslashreplace")
        try:
            while data:
                data = data[_write(self._number, data) :]
        except OSError:
            return
