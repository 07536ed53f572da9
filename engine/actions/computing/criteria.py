"""What a machine can check of a finished task: the files that it should have made."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from stet_ls.engine.actions.computing.file_facts import file_facts
from stet_ls.engine.api.execution_result import FileKind

_PICTURE = re.compile(
    r"\b(?:re)?(?:plot|chart|graph|histogram|scatter\s?plot|bar\s?plot|box\s?plot|heat\s?map|diagram|visuali[sz])"
    r"(?:s|es|ed|e|ing|ting|ation)?\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Criteria:
    """The files that have to exist at the end: by name, and whether one has to be a picture."""

    names: tuple[str, ...] = ()
    picture: bool = False

    def unmet(self, made: Mapping[str, bytes]) -> str:
        """The first criterion that the files do not meet, a sentence; "" if there is none."""
        for name in self.names:
            if name not in made:
                return f"No program wrote `{name}`."
        for name, data in made.items():
            if file_facts(name, data).blank:
                return f"`{name}` is a picture of one color: nothing is drawn in it."
        kinds = {file_facts(name, data).kind for name, data in made.items()}
        if self.picture and FileKind.IMAGE not in kinds:
            return "No program wrote a picture."
        return ""


def asks_for_picture(goal: str) -> bool:
    """True if a task asks for a picture."""
    return bool(_PICTURE.search(goal))
