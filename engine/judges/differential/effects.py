"""The effects of code that old and new are compared by: one row each. docs/evidence.md shows this table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

_PYTHON, _SCRIPT = ("Python",), ("Python", "JavaScript", "TypeScript")


class Difference(Enum):
    """What becomes of an edit for which an effect differs."""

    REFUTES = "refutes"
    ASKS = "asks"
    NAMED = "is named in the line"


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect, what of it is compared, and the languages for which it is."""

    name: str
    compared: str
    difference: Difference
    languages: tuple[str, ...] = _SCRIPT


EFFECTS = (
    Effect("results", "values, types, and the items of iterators", Difference.REFUTES),
    Effect("results that are functions", "what they return and print, and what `functools.wraps` copies",
           Difference.REFUTES, _PYTHON),
    Effect("results that cannot be read", "nothing", Difference.ASKS),
    Effect("sharing", "which results and arguments are one object", Difference.ASKS),
    Effect("errors", "types", Difference.REFUTES),
    Effect("errors where both fail by accident", "nothing", Difference.NAMED, _PYTHON),
    Effect("texts of errors", "where the docstring promises one", Difference.REFUTES, _PYTHON),
    Effect("fields of errors", "of the module's own classes", Difference.REFUTES, _PYTHON),
    Effect("causes of errors", "whether `raise … from` stays", Difference.ASKS, _PYTHON),
    Effect("output", "stdout", Difference.REFUTES),
    Effect("side output", "stderr, log records, warnings", Difference.REFUTES, _PYTHON),
    Effect("arguments", "values after the call", Difference.REFUTES),
    Effect("module state", "variables that other code can see", Difference.REFUTES, _PYTHON),
    Effect("files", "contents of the files around a path that is passed in, and files left open",
           Difference.REFUTES, _PYTHON),
    Effect("objects passed in", "calls with their arguments and order, `with`, assignments; on stand-ins",
           Difference.ASKS, _PYTHON),
    Effect("sleeping", "seconds", Difference.REFUTES, _PYTHON),
    Effect("depth", "2,500 items and levels", Difference.REFUTES, _PYTHON),
    Effect("growth of time", "processor time for 1,000 and 4,000 items", Difference.ASKS, _PYTHON),
    Effect("threads, tasks, locks", "nothing runs at the same time; whether the code names the same ones",
           Difference.ASKS, _PYTHON),
    Effect("loading", "what it prints, starts, or changes outside of itself", Difference.REFUTES),
    Effect("other files, network, processes", "nothing: such inputs are left out, and new access counts",
           Difference.REFUTES),
    Effect("a part of the change that no input reached", "nothing", Difference.ASKS),
    Effect("rounding, order of keys", "nothing", Difference.NAMED),
)  # fmt: skip


def effects_table() -> str:
    """The rows as a table in Markdown."""
    rows = (f"| {row.name} | {row.compared} | {row.difference.value} | {', '.join(row.languages)} |" for row in EFFECTS)
    return "\n".join(["| effect | what is compared | a difference | languages |", "|---|---|---|---|", *rows])
