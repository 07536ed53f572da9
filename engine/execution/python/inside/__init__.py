"""The program that runs in the sandbox: `PROGRAM`, one text that joins the modules of this package.

It is one text because a prepared sandbox compiles it ahead, and the judged code then has no module by which to reach
it: the only one is removed in time (`alone` in `main.py`). So all modules share one namespace, and import from each
other what they use; these imports are omitted from the text. Nothing else of Stet is imported there.
"""

from __future__ import annotations

import re
from pathlib import Path

_MODULES = (
    "originals", "values/awaitables", "values/doubles", "values/database", "values/encode", "values/aliasing",
    "scratch", "determinism", "loading", "effects", "values/captured", "call", "result_pipe", "fork", "probes",
    "times/stopwatch", "times/growth", "compare", "times/timing", "main",
)  # fmt: skip
"""Each after the modules that it imports from."""
LEFT_OUT = re.compile(rf"^from (?:__future__|{re.escape(__name__)}\.[\w.]+) import (?:\([^)]*\)|.*)\n", re.MULTILINE)
"""The imports of one another."""


def _joined() -> str:
    texts = ((Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8") for name in _MODULES)
    return "from __future__ import annotations\n" + "\n\n".join(LEFT_OUT.sub("", text) for text in texts)


PROGRAM = _joined()
"""Needs Python 3.8 and its standard library."""
