"""Measures which lines run in which test of some files, or which lines and branches of all files run in any.

Also captures the calls of some files' functions.
"""

from __future__ import annotations

from typing import Sequence  # noqa: UP035 - for Python 3.8

from .captured import CallCapture
from .channel import Channel
from .covered import CoverageRun
from .traced import LineTrace


class Measurement:
    """A measurement around a run."""

    def __init__(
        self, channel: Channel, wanted: bool, traced: Sequence[str] = (), captured: Sequence[str] = ()
    ) -> None:  # fmt: skip
        self._channel = channel
        self._captured = CallCapture(channel, captured)
        self._traced = LineTrace(channel, () if wanted else traced)
        self._covered = CoverageRun(channel) if wanted else None

    def start(self) -> None:
        """Begins to trace and to capture."""
        if self._covered is not None:
            self._covered.start()
        self._traced.start()
        self._captured.start()

    def during(self, test: str) -> None:
        """Assigns everything that runs from now on to `test`."""
        self._traced.during(test)
        self._captured.begin()

    def end_capture(self) -> None:
        """Captures no further calls: those of control tests are not the project's."""
        self._captured.end()

    def report(self) -> None:
        """Reports the measurements."""
        if self._covered is not None:
            self._covered.report()
        self._traced.report()
