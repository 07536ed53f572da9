"""A child whose behavior its arguments choose; the tests run it by `python -m sample_child`."""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stet_ls.engine.workers.host import IdleLimits, host


class Sample:
    """Notes its birth in a file, and does what its arguments say."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments

    def start(self) -> Mapping[str, Any]:
        with self._arguments.births.open("a") as births:
            births.write(f"{os.getpid()}\n")
        print("a library that prints to standard output")
        os.write(1, b"native code that prints to standard output\n")
        match self._arguments.mode:
            case "broken":
                raise RuntimeError("the sample is broken")
            case "hanging":
                signal.pause()
        return {"greeting": "hello", "environment": sorted(os.environ)}

    def active(self) -> bool:
        return self._arguments.mode == "busy"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("births", type=Path)
    parser.add_argument("mode", choices=["plain", "broken", "hanging", "busy"])
    parser.add_argument("--first-lease", type=float, default=30.0)
    parser.add_argument("--last-lease", type=float, default=0.2)
    parser.add_argument("--idle", type=float, default=60.0)
    options = parser.parse_args()
    host(Sample(options), IdleLimits(options.first_lease, options.last_lease, options.idle))
