"""How tests start the real `stet`."""

from __future__ import annotations

import sys


def stet_argv(*arguments: str) -> list[str]:
    """The command line of this interpreter's stet: no PATH is asked."""
    return [sys.executable, "-m", "stet_ls.server", *arguments]


def interruptible_argv(*arguments: str) -> list[str]:
    """The same, and Ctrl-C ends it: what is started by tests that run in the background ignores it otherwise."""
    return ["env", "--default-signal=INT", *stet_argv(*arguments)]
