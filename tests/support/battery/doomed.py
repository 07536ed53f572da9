"""A server that is about to be killed: `python -m support.battery.doomed BOX FOLDER TAG`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from support.battery.bombs import _daemon
from support.battery.boxes import boxes

if __name__ == "__main__":
    asyncio.run(boxes(Path(sys.argv[2]))[sys.argv[1]]().run(_daemon(sys.argv[3])))
