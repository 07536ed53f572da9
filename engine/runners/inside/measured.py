"""Measures which lines run in which test: of some files by a built-in tracer, of all by coverage.py if installed.

Also captures the calls of some files' functions.
"""

from __future__ import annotations

import os
from typing import Any, Sequence  # noqa: UP035 - for Python 3.8

from .captured import Captured
from .channel import Channel
from .traced import Traced


class Measured:
    """A measurement around a run; without coverage.py it reports that and measures nothing."""

    def __init__(
        self, channel: Channel, wanted: bool, traced: Sequence[str] = (), captured: Sequence[str] = ()
    ) -> None:  # fmt: skip
        self._channel = channel
        self._captured = Captured(channel, captured)
        self._traced = Traced(channel, () if wanted else traced)
        self._coverage: Any = None
        if not wanted:
            return
        try:
            import coverage
        except ImportError:
            channel.say("coverage", why_not="coverage is not installed in the test environment")
            return
        self._coverage = coverage.Coverage(
            data_file=None, config_file=False, source=[os.getcwd()], omit=["*/.stet-run/*"], messages=False
        )
        self._coverage.start()

    def start(self) -> None:
        """Begins to trace and to capture."""
        self._traced.start()
        self._captured.start()

    def during(self, test: str) -> None:
        """Assigns everything that runs from now on to `test`."""
        self._traced.during(test)
        self._captured.begin()

    def end_capture(self) -> None:
        """Captures no further calls: those of control tests are not the project's."""
        self._captured.end()

    def tell(self) -> None:
        """Reports the measurements."""
        self._traced.tell()
        if self._coverage is None:
            return
        self._coverage.stop()
        lines, missing = {}, {}
        for path in self._coverage.get_data().measured_files():
            name = os.path.relpath(path)
            try:
                _, statements, _, left_out, _ = self._coverage.analysis2(path)
            except Exception as error:  # noqa: BLE001 - a missing or invalid file costs its own lines only
                self._channel.say("note", text=f"{name}: {error}")
                continue
            lines[name] = sorted(set(statements) - set(left_out))
            missing[name] = sorted(left_out)
        self._channel.say("coverage", lines=lines, missing=missing)
