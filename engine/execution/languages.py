"""What can be run of each language, and with what: one row a language whose code runs without a test runner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stet_ls.validators.languages import lookup


@dataclass(frozen=True, slots=True)
class ExecutionLanguage:
    """What running code has to know of a language.

    `needs_interpreter`: it runs in the user's environment, with the packages that it imports. `runs_examples`: a call
    in documentation or in words can be tried. `times`: two versions can be timed. `compares_samples`: several
    candidates can be run beside each other. `traces_lines`: a run of tests tells which lines each of them ran.
    """

    needs_interpreter: bool = False
    runs_examples: bool = False
    times: bool = False
    compares_samples: bool = False
    traces_lines: bool = False


ROWS: Mapping[str, ExecutionLanguage] = {
    "python": ExecutionLanguage(
        needs_interpreter=True, runs_examples=True, times=True, compares_samples=True, traces_lines=True
    ),
}
"""By language id; a row counts for its family."""

for_language = lookup(ROWS, ExecutionLanguage())
"""The row of a language id; for any other language the defaults."""
