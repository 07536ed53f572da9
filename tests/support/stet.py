"""How tests start the real `stet`."""

from __future__ import annotations

import sys


def stet_argv(*arguments: str) -> list[str]:
    """The command line of this interpreter's stet: no PATH is asked."""
    return [sys.executable, "-m", "stet_ls.server", *arguments]
