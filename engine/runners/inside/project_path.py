"""Where a project's own modules are found: as `python -m` would, and in `src`, for a project that is not installed."""

from __future__ import annotations

import os
import sys


def enter_project() -> None:
    """Puts the working folder in the place of the program's own. What is installed comes before `src`."""
    sys.path[0] = os.getcwd()
    sources = os.path.join(sys.path[0], "src")
    if os.path.isdir(sources):
        sys.path.append(sources)
