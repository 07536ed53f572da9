"""The generated section of docs/evidence.md: the sources of inputs, from the tables of each language."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stet_ls.engine.execution.inputs.sources import FurtherSource, Sources
from stet_ls.engine.execution.javascript.inputs.sources import SOURCES as JAVASCRIPT
from stet_ls.engine.execution.python.inputs.sources import SOURCES as PYTHON

PAGE = Path(__file__).parents[2] / "docs" / "evidence.md"
HEADING, NEXT = "### The sources, in order\n", "### What is tried\n"
TABLES: Mapping[str, Sources] = {"Python": PYTHON, "JavaScript and TypeScript": JAVASCRIPT}


def evidence_page() -> str:
    """The page, with the section between these two headings written again."""
    above, found, rest = PAGE.read_text(encoding="utf-8").partition(HEADING)
    _, is_closed, below = rest.partition(NEXT)
    if not found or not is_closed:
        raise ValueError(f"{PAGE} has no section between {HEADING.strip()!r} and {NEXT.strip()!r}")
    return f"{above}{HEADING}\n{_section()}\n{NEXT}{below}"


def _section() -> str:
    tables = "\n".join(f"{language}:\n\n{_table(sources)}" for language, sources in TABLES.items())
    return f"""\
This section is generated from the tables of sources by `python tests/pages`. Each source adds to the inputs of those
above it. Those at the end are used only where the results so far leave a need for them.

{tables}"""


def _table(sources: Sources) -> str:
    lines = ["| source | inputs | at most | used | how far they count |", "|---|---|---|---|---|"]
    for each in sources:
        used = each.need.value if isinstance(each, FurtherSource) else "always"
        lines.append(f"| {each.name} | {each.gives} | {each.most or '-'} | {used} | {each.trust.value} |")
    return "\n".join(lines) + "\n"
