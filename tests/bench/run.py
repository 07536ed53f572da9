"""`make bench [ONLY=topic]`: what the design promises about speed, as ratios within one run, printed as a table.

Nothing here fails a build: these numbers depend on the machine and on what else it does. Run it on a quiet one.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
TOPICS = (
    "editor",
    "diagnostics",
    "validators",
    "check",
    "analyze",
    "cheats",
    "commits",
    "context",
    "faults",
    "judges",
    "memory",
    "planted",
    "privacy",
    "proving",
    "sandbox",
    "scaling",
    "search",
    "tasks",
    "verdicts",
    "verify",
    "workbench",
)
"""Modules here, in `editors/` and in `quality/`, each with a `rows()` that yields a `Row` a measurement."""


def module(topic: str) -> str:
    """The module of a topic."""
    folder = next((each for each in ("editors", "quality") if (_HERE / each / f"{topic}.py").is_file()), None)
    return f"bench.{folder}.{topic}" if folder else f"bench.{topic}"


def main(topics: list[str]) -> None:
    """Prints one row a measurement: what, the number, the goal."""
    sys.path.insert(0, str(_HERE.parent))  # the tests' folder, for bench and support
    for topic in topics or TOPICS:
        for row in importlib.import_module(module(topic)).rows():
            print(f"{row.what:<52} {row.number:<34} goal {row.goal}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
