"""What runs in the box: `PROGRAM`, one text that the modules of this package are joined to.

One text, as a box that waits for its job has it compiled ahead, and as then the code that is judged has no module to
take it by: the one that there is leaves its reach in time (`alone` in `main.py`). So all modules share their names, and
import from each other what they name; these imports are left out of the text. Nothing else of Stet is imported there.
"""

from __future__ import annotations

import re
from pathlib import Path

_MODULES = (
    "originals", "encode", "aliasing", "determinism", "loading", "effects", "call", "result_pipe",
    "fork", "probes", "compare", "stopwatch", "timing",
    "main",
)  # fmt: skip
"""Each behind those that it imports from."""
_LEFT_OUT = re.compile(rf"^from (?:__future__|{re.escape(__name__)}\.\w+) import (?:\([^)]*\)|.*)\n", re.MULTILINE)


def _joined() -> str:
    texts = (Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8") for name in _MODULES)
    return "from __future__ import annotations\n" + "\n\n".join(_LEFT_OUT.sub("", text) for text in texts)


PROGRAM = _joined()
"""Needs Python 3.8 and its standard library."""
