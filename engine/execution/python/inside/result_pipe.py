"""The connection from a fork to its parent."""

from __future__ import annotations

import json
import os
from typing import Any

from stet_ls.engine.execution.python.inside.originals import real_clock


class ResultPipe:
    """The connection from a fork to its parent: outcomes by a pipe, many at a time, and the current call in shared
    memory. A write for each call would cost more than the call. `every` is in seconds, 0 for one write each.
    """

    def __init__(self, pipe: int, at: Any, every: float) -> None:
        self.pipe, self.at, self.every = pipe, at, every
        self.pending: list[tuple[int, dict[str, Any]]] = []
        self.last = real_clock()

    def begin(self, number: int) -> None:
        self.at[0], self.at[1] = number + 1, self.at[1] + 1

    def end(self, number: int, outcome: dict[str, Any]) -> None:
        self.pending.append((number, {key: value for key, value in outcome.items() if value}))
        if real_clock() - self.last >= self.every:
            self.flush()
        self.at[0] = 0

    def over(self, side_effects: list[str]) -> None:
        self.flush()
        write_message(self.pipe, {"over": side_effects})

    def flush(self) -> None:
        write_message(self.pipe, {"ended": self.pending})
        self.pending, self.last = [], real_clock()


def write_message(pipe: int, message: dict[str, Any]) -> None:
    send(pipe, json.dumps(message).encode() + b"\n")


def send(pipe: int, data: bytes) -> None:
    while data:
        data = data[os.write(pipe, data) :]
