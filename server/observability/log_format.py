"""The format of log lines: for people, or as JSON objects; never with a secret.

The `extra` of a log call has the event's fields: job, action, model, stage, seconds and the like.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any, Literal

Format = Literal["text", "json"]

FIELDS = (
    "job", "action", "stage", "model", "endpoint", "ended", "check", "verdict", "calls", "tokens", "seconds", "fault",
)  # fmt: skip
"""The fields of events, in the order in which they are written."""

_TEXT = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"


def formatter(form: Format, *, terminal: bool = False) -> logging.Formatter:
    """The formatter of a handler. structlog is loaded only for JSON and colors: it takes a tenth of a second."""
    return _structured(form) if form == "json" or terminal else _Text(_TEXT)


def safe(text: str) -> str:
    """`text` without anything that looks like a secret."""
    # Before the engine is loaded no line can quote code.
    module = sys.modules.get("stet_ls.engine.privacy.redact")
    return text if module is None else str(module.redact(text).text)


class _Text(logging.Formatter):
    """A line for people: the message, then its fields."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """The message and `name=value` of each field."""
        fields = "".join(f" {name}={record.__dict__[name]}" for name in FIELDS if name in record.__dict__)
        return super().formatMessage(record) + fields

    def format(self, record: logging.LogRecord) -> str:
        """The line, with its traceback if it has one."""
        return safe(super().format(record))


def _structured(form: Format) -> logging.Formatter:
    import structlog

    def add_process(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        event["process"] = event["_record"].process
        return event

    def hide(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        return {name: safe(value) if isinstance(value, str) else value for name, value in event.items()}

    last = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if form == "json"
        else structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    )
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.stdlib.ExtraAdder(FIELDS),
        ],
        processors=[
            add_process,
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            *([structlog.processors.format_exc_info] if form == "json" else []),
            hide,
            last,
        ],
    )
