"""What can run in each language, and with what: one row per language whose code runs without a test runner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stet_ls.validators.languages import lookup


@dataclass(frozen=True, slots=True)
class ExecutionLanguage:
    """What running code needs to know about a language.

    `needs_interpreter`: it runs in the user's environment, with the packages that it imports. `runs_examples`: calls
    in documentation or in instructions can be tried. `documents_calls`: calls with their results can, in doc comments
    or in instructions about a bug. `times`: two versions can be timed. `compares_samples`: several
    candidates can be compared. `traces_lines`: a test run reports which lines each test ran. `captures_calls`: it
    reports how tests call functions. `loads_former`: the text before can run with other files as they were. `program`:
    the one that alone decides how code runs, independent of the project.
    """

    needs_interpreter: bool = False
    runs_examples: bool = False
    documents_calls: bool = False
    times: bool = False
    compares_samples: bool = False
    traces_lines: bool = False
    captures_calls: bool = False
    loads_former: bool = False
    program: str = ""


ROWS: Mapping[str, ExecutionLanguage] = {
    "python": ExecutionLanguage(
        needs_interpreter=True,
        runs_examples=True,
        times=True,
        compares_samples=True,
        traces_lines=True,
        captures_calls=True,
        loads_former=True,
    ),
    "javascript": ExecutionLanguage(documents_calls=True, captures_calls=True, program="node"),
}
"""By language id; a row applies to its whole family."""

for_language = lookup(ROWS, ExecutionLanguage())
"""The row of a language id; for any other language the defaults."""
