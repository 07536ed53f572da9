"""The data: what is known about the code and its tests, and the causes of failures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from stet_ls.engine.diagnosis.fixes import Fix
from stet_ls.engine.runners.report import CaseFailure


class Cause(StrEnum):
    """The cause of a failure. UNDETERMINED: a test or the code is wrong, and nothing decides which."""

    ENVIRONMENT = "environment"
    LOGIC = "logic"
    TEST = "test"
    UNDETERMINED = "undetermined"


@dataclass(frozen=True, slots=True)
class CodeFacts:
    """What is known about a candidate and its tests.

    Paths are relative to the working folder. `solution` are the files of the candidate. `unit` is the requested name
    and `parameters` the least and the most positional arguments requested for it (None: any number); `modules` are the
    top-level names that can be imported from the workspace, `installed` those of the environment and the standard
    library. `types` are the annotations of the unit's parameters, `texts` the texts of the solution's files.
    """

    solution: frozenset[str] = frozenset()
    unit: str = ""
    parameters: tuple[int, int | None] | None = None
    asked: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()
    installed: frozenset[str] = frozenset()
    types: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Symptom:
    """One failure. `test` is the id of the case, or "" if a file could not be collected; `file` is where it belongs."""

    test: str
    file: str
    failure: CaseFailure
    stopped: str = ""
    """The limit that ended the run while this test ran: "timeout", "memory" and so on."""

    @property
    def signature(self) -> str:
        """Equal for the same failure of another candidate: numbers, addresses and quoted values do not count."""
        frame = self.failure.deepest
        place = f"{frame.path}:{frame.function}" if frame else ""
        return f"{self.test or self.file} {self.failure.type} {normalized(self.failure.message)} {place}"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The cause of one failure. `kind` names the rule ("logic.crash"); `sentence` is for the user and for a model.

    `fix` is what the next candidate must show, None if nothing can be checked.
    """

    symptom: Symptom = field(repr=False)
    cause: Cause
    kind: str
    sentence: str
    fix: Fix | None = None


def normalized(message: str) -> str:
    """A message without the parts that differ from run to run."""
    message = re.sub(r"0x[0-9a-fA-F]+", "0x", message.partition("\n")[0])
    message = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "''", message)
    return re.sub(r"\d+(\.\d+)?", "0", message).strip()
