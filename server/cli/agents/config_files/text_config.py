"""Entries of Stet in other files: a block between two marks, or a whole file."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from stet_ls.server.cli.agents.agent import StetProgram

_BEGIN = "# >>> stet >>> written by `stet`, removed by `stet`"
_END = "# <<< stet <<<"
_BLOCK = re.compile(r"(?ms)^# >>> stet >>>[^\n]*\n.*?^# <<< stet <<<[^\n]*(?:\n|\Z)")


@dataclass(frozen=True, slots=True)
class MarkedBlock:
    """Lines between marks. `conflict` finds lines of the user's that say the same; `after_shebang` for scripts."""

    lines: Callable[[StetProgram], str]
    conflict: str
    hint: str
    shebang: str = ""

    def add(self, text: str, program: StetProgram) -> str:
        """Replaces the block, or adds it: after the first line of a script, else at the end."""
        text = self.remove(text)
        block = f"{_BEGIN}\n{self.lines(program)}{_END}\n"
        if re.search(self.conflict, text, re.MULTILINE):
            raise ValueError(f"{self.hint}:\n{self.lines(program)}")
        if not self.shebang:
            return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{block}"
        first, _, rest = (text or f"{self.shebang}\n").partition("\n")
        return f"{first}\n{block}{rest}"

    def remove(self, text: str) -> str:
        """Removes the block; "" if only a first line of a script is left."""
        rest = _BLOCK.sub("", text)
        return "" if rest.strip() in ("", self.shebang) else rest


@dataclass(frozen=True, slots=True)
class WholeFile:
    """A file of Stet's own, known by its first line."""

    text: Callable[[StetProgram], str]
    mark: str

    def add(self, text: str, program: StetProgram) -> str:
        """Replaces the file. Raises ValueError if it is not Stet's."""
        if text.strip() and not text.startswith(self.mark):
            raise ValueError("the file exists and was not written by Stet")
        return f"{self.mark}\n{self.text(program)}"

    def remove(self, text: str) -> str:
        """Nothing is left of a file of Stet's."""
        return "" if text.startswith(self.mark) else text
