"""`stet`, measured: started by path in the place of `python -m stet_ls.server`, with the same arguments."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])  # the tests' folder, for support
    from support import measure

    sys.path.pop(0)
    try:
        runpy.run_module("stet_ls.server", run_name="__main__", alter_sys=True)
    finally:
        measure.keep()
