"""The languages whose old and new code is compared, each with the module that does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from stet_ls.engine.execution.harness_run import NotRunnable
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.differential import javascript, python
from stet_ls.engine.judges.differential.comparison import Comparison


class LanguageComparer(Protocol):
    """Runs the code of a language on inputs, old against new."""

    def changed(self, case: Case) -> list[str]:
        """The functions and classes that a candidate changes. Parses: not for an event loop."""
        ...

    def callers(self, case: Case, unit: str) -> Sequence[str]:
        """The public functions that call a private unit, alike in both texts. Parses: not for an event loop."""
        ...

    async def compare(self, case: Case, runtime: Runtime, unit: str) -> Comparison | NotRunnable:
        """Compares old and new of one unit; if the file cannot be loaded, the unit with only its dependencies in it."""
        ...

    def shown(self, case: Case, unit: str) -> str:
        """The old text of a unit with what it uses of its file, "" if there is none. Parses: not for an event loop."""
        ...


COMPARERS: Mapping[str, LanguageComparer | None] = {"python": python, "javascript": javascript}
"""By language id; a row applies to its whole family."""
