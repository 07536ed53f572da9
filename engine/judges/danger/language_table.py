"""Per-language settings of the danger judge: one row per language."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from stet_ls.engine.judges.danger import exception_swallowing, python_risks, risk_tables
from stet_ls.engine.judges.danger.risk_kinds import Risk
from stet_ls.engine.judges.danger.risk_tables import RiskTable
from stet_ls.validators.languages import lookup
from stet_ls.validators.source import Source


def _none(source: Source, language: str) -> Collection[str]:
    return ()


@dataclass(frozen=True, slots=True)
class DangerLanguage:
    """What the danger judge needs to know about a language.

    `risks` are searched in calls and imports; `tree_risks` searches the syntax tree instead: None for a text that does
    not parse. `swallowed` finds the places that hide errors of every kind, each as it is written.
    """

    risks: RiskTable | None = None
    tree_risks: Callable[[str], Collection[Risk] | None] | None = None
    swallowed: Callable[[Source, str], Collection[str]] = _none

    @property
    def is_known(self) -> bool:
        """Whether risks can be found in the language at all."""
        return self.risks is not None or self.tree_risks is not None


_WEB = DangerLanguage(risk_tables.ECMASCRIPT)
_JVM = DangerLanguage(risk_tables.JVM)
_C = DangerLanguage(risk_tables.C_FAMILY)
ROWS: Mapping[str, DangerLanguage] = {
    "python": DangerLanguage(tree_risks=python_risks.risks, swallowed=exception_swallowing.in_python),
    "javascript": DangerLanguage(risk_tables.ECMASCRIPT, swallowed=exception_swallowing.in_script),
    "vue": _WEB,
    "svelte": _WEB,
    "go": DangerLanguage(risk_tables.GO),
    "rust": DangerLanguage(risk_tables.RUST),
    "java": _JVM,
    "kotlin": _JVM,
    "groovy": _JVM,
    "scala": _JVM,
    "c": _C,
    "objective-c": _C,
    "cuda-cpp": _C,
    "csharp": DangerLanguage(risk_tables.CSHARP),
    "shellscript": DangerLanguage(risk_tables.SHELL),
    "php": DangerLanguage(risk_tables.PHP_RUBY),
    "ruby": DangerLanguage(risk_tables.PHP_RUBY),
}
"""By language id; a row applies to its whole family."""

for_language = lookup(ROWS, DangerLanguage())
"""The row of a language id; for any other language the defaults."""
