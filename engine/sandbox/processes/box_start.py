"""The start of a prebuilt sandbox's job."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass, field


@dataclass(slots=True)
class BoxStart:
    """The reading end of the job's pipe, and the time when the job arrives.

    Time limits count from `begin`, because what the sandbox did before was preparation.
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
        """Marks the job as sent."""
        self.at = time.monotonic()
        self.begun.set()

    def close(self) -> None:
        """Closes an unused descriptor: a sandbox may be abandoned before it is built."""
        if not self.taken:
            os.close(self.take())
