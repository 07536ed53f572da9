"""What the scripted model says: one reply as its test wrote it."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Body = Mapping[str, Any]
Mode = Literal["stream", "json", "cut_json", "html", "error", "no_choices", "malformed", "error_event", "endless"]

HTML = "<!DOCTYPE html><html><head><title>Welcome</title></head><body>Please sign in to the network.</body></html>"


@dataclass(frozen=True)
class Reply:
    """What the server sends back for one chat completion.

    `chunks` overrides how `text` is cut into stream events. `delay` is slept between chunks, `first_delay` before
    anything is sent, not even the status line; `head_first` sends the status line before that delay. With `hold` the
    server waits for the event before the first chunk, or before chunk `hold_at`. `raw` is the exact body of the
    response, several pieces are written one by one. `drop_after` resets the connection after that many chunks,
    `stall_after` falls silent. `usage` is True (counted from the texts), False, or a pair of numbers.

    Modes: "stream" answers with events if the request asked for a stream, else with JSON; "json" never streams;
    "cut_json" sends half of that JSON; "html" a page; "error" the object `error` with any status; "no_choices"
    events with empty choices; "malformed" breaks the event after the chunks; "error_event" sends `error` there;
    "endless" repeats the chunks until the client leaves.
    """

    text: str = ""
    chunks: Sequence[str] | None = None
    delay: float = 0.0
    first_delay: float = 0.0
    head_first: bool = False
    finish: str | None = "stop"
    usage: bool | tuple[int, int] = True
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | Sequence[bytes] | None = None
    mode: Mode = "stream"
    drop_after: int | None = None
    stall_after: int | None = None
    no_done: bool = False
    hold: threading.Event | None = None
    hold_at: int = 0
    reasoning: str = ""
    error: Mapping[str, Any] | None = None

    @classmethod
    def failure(
        cls, status: int, message: str = "scripted failure", *, code: str | None = None, **headers: str
    ) -> Reply:
        """An HTTP error as OpenAI words it. Headers by keyword: `retry_after="1"` is `Retry-After: 1`."""
        return cls(
            mode="error",
            status=status,
            error={"message": message, "type": "scripted", "param": None, "code": code},
            headers={name.replace("_", "-").title(): value for name, value in headers.items()},
        )

    def pieces(self) -> Sequence[str]:
        """The text as stream events carry it."""
        return self.chunks if self.chunks is not None else re.findall(r"\S+\s*|\s+", self.text)
