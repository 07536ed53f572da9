"""When a box that was built ahead gets its job."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass, field


@dataclass(slots=True)
class BoxStart:
    """The reading end of the pipe that the job comes through, and the moment at which it does.

    Limits of time count from `begin`: what the box did before was to get ready.
    """

    descriptor: int
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    at: float = 0.0
    taken: bool = False

    def take(self) -> int:
        """The descriptor; the caller closes it."""
        self.taken = True
        return self.descriptor

    def begin(self) -> None:
        """The job is on its way."""
        self.at = time.monotonic()
        self.begun.set()

    def close(self) -> None:
        """Closes what was not used: a sandbox may be abandoned before it is built."""
        if not self.taken:
            os.close(self.take())
