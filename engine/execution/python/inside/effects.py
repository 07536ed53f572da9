"""The side effects of a call: output on stderr, log records, warnings, environment variables."""

from __future__ import annotations

import io
import os
import re
import sys
import warnings
from typing import Any

ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}")
ENVIRONMENT = type(os.environ)


def stored_environment() -> Any:
    """What `os.environ` holds, as it is stored: to read each variable by name takes longer than most calls."""
    return getattr(os.environ, "_data", {}) if type(os.environ) is ENVIRONMENT else {}


class Effects:
    """Records output from `begin` to `end`. A log record counts by its level, its logger's name and its message."""

    level = 0
    """As in a logging handler, which this class replaces without loading `logging`."""

    def __init__(self, target: str) -> None:
        self.own = f"coroutine '{target}' was never awaited"
        self.lines: list[str] = []
        self.leaks = 0
        self.kept: tuple[Any, Any, Any] = sys.stdout, sys.stderr, warnings.showwarning
        self.environment, self.stored = dict(os.environ), dict(stored_environment())
        warnings.simplefilter("always")

    def begin(self) -> None:
        self.lines, self.leaks = [], 0
        self.kept = sys.stdout, sys.stderr, warnings.showwarning
        sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
        setattr(warnings, "showwarning", self.warned)  # noqa: B010 - it accepts more than the type checker knows
        root = getattr(sys.modules.get("logging"), "root", None)
        if root is not None and self not in root.handlers:
            root.addHandler(self)
            root.setLevel(1)

    def end(self) -> str:
        """All output, the printed text first."""
        out, error = sys.stdout, sys.stderr
        sys.stdout, sys.stderr, warnings.showwarning = self.kept
        streams = [each.getvalue() if isinstance(each, io.StringIO) else "" for each in (out, error)]
        more = [f"stderr: {streams[1]}"] if streams[1] else []
        return streams[0] + "".join(f"[{ADDRESS.sub('0x', each)}]" for each in (*more, *self.lines))

    def variables(self) -> str:
        """The environment variables that differ from those before all calls; they are put back."""
        if stored_environment() == self.stored != {}:
            return ""
        now = dict(os.environ)
        if now == self.environment:
            return ""
        names = sorted(name for name in {*now, *self.environment} if now.get(name) != self.environment.get(name))
        os.environ.clear()
        os.environ.update(self.environment)
        return "environment: " + ", ".join(f"{name}={now.get(name)!r}" for name in names)

    def warned(self, message: Any, category: type, *_: Any) -> None:
        if category is ResourceWarning:  # not a message: a file or the like that nothing closed
            self.leaks += 1
            return
        if self.own in str(message):  # a call that comes before the one that counts
            return
        self.lines.append(f"warning {category.__name__}: {message}")

    def handle(self, record: Any) -> None:
        """Called by loggers. What `asyncio` says of a task that no one awaited comes whenever it is collected."""
        if record.name == "asyncio":
            return
        try:
            text = record.getMessage()
        except Exception:
            text = f"{record.msg!r}, which does not fit what it is given"
        raised = f", {record.exc_info[0].__name__}" if record.exc_info and record.exc_info[0] else ""
        self.lines.append(f"log {record.levelname} {record.name}: {text}{raised}")
