"""Traces which lines of files each test runs, without a package: by `sys.monitoring`, or `sys.settrace` before 3.12.

Only lines in function bodies count for a test: those of a module and of a class run when the file is loaded, and are
reported separately.
"""

from __future__ import annotations

import sys
import threading
from types import CodeType, FrameType
from typing import Any, Iterable  # noqa: UP035 - for Python 3.8

from .channel import Channel
from .own_files import OwnFiles

_IN_FUNCTION = 0x1
"""CO_OPTIMIZED: the code of a function, not of a module or a class (Python's `inspect` module)."""
_TOOL = 3
"""The first tool number of `sys.monitoring` that is not reserved for a kind of tool."""


class LineTrace:
    """Reports the executed lines of the files `paths`, each file by itself; without any, nothing is traced.

    What runs outside of any test, such as while files are loaded, is reported under the test "". `top` are lines
    outside of functions.
    """

    def __init__(self, channel: Channel, paths: Iterable[str]) -> None:
        self._channel, self._test = channel, ""
        self._ours = OwnFiles(paths)
        self._paths = tuple(self._ours.paths.values())
        self._lines: dict[str, set[int]] = {path: set() for path in self._paths}
        self._top: dict[str, set[int]] = {path: set() for path in self._paths}
        self._is_tracing = bool(self._paths)

    def start(self) -> None:
        """Begins to trace: just before files of the project are loaded, since it slows down all imports."""
        if self._paths and sys.version_info >= (3, 12):
            self._monitor()
        elif self._paths:
            threading.settrace(self._trace)
            sys.settrace(self._trace)

    def during(self, test: str) -> None:
        """Assigns everything that runs from now on to `test`."""
        if not self._paths:
            return
        self._say()
        self._test = test

    def report(self) -> None:
        """Reports the remaining lines and stops tracing."""
        if not self._paths:
            return
        self._say()
        if sys.version_info < (3, 12):
            sys.settrace(None)

    def _say(self) -> None:
        if sys.version_info < (3, 12) and sys.gettrace() != self._trace:
            self._is_tracing = False  # something else traces now, or the code stopped the tracing
        for path in self._paths:
            lines, top = sorted(self._lines[path]), sorted(self._top[path])
            self._lines[path].clear()
            self._top[path].clear()
            self._channel.say("ran", id=self._test, path=path, lines=lines, top=top, whole=self._is_tracing)

    def _ran(self, code: CodeType, path: str, number: int) -> None:
        (self._lines if code.co_flags & _IN_FUNCTION else self._top)[path].add(number)

    def _monitor(self) -> None:
        tool: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        events = tool.events

        def started(code: CodeType, offset: int) -> object:
            if self._ours.named(code.co_filename):
                tool.set_local_events(_TOOL, code, events.LINE)
            return tool.DISABLE

        def line(code: CodeType, number: int) -> None:
            self._ran(code, self._ours.named(code.co_filename), number)

        tool.use_tool_id(_TOOL, "tests")
        tool.register_callback(_TOOL, events.PY_START, started)
        tool.register_callback(_TOOL, events.LINE, line)
        tool.set_events(_TOOL, events.PY_START)

    def _trace(self, frame: FrameType, event: str, argument: object) -> Any:
        # This is enough for most frames; accessing a frame's code raises an audit event, which takes time.
        if not self._ours.named(frame.f_globals.get("__file__")):
            return None
        return self._trace_line if self._ours.named(frame.f_code.co_filename) else None

    def _trace_line(self, frame: FrameType, event: str, argument: object) -> Any:
        if event == "line":
            self._ran(frame.f_code, self._ours.named(frame.f_code.co_filename), frame.f_lineno)
        return self._trace_line
