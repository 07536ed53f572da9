"""docs/languages.md, made from the tables of languages: one in each package."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stet_ls.engine.actions.generate_test_fix.languages.language_table import LOOP_LANGUAGES
from stet_ls.engine.actions.generated_tests.languages import language_table as suites
from stet_ls.engine.actions.porting.language_table import SOURCES, TARGETS, PortSource, PortTarget
from stet_ls.engine.actions.prose import language_table as prose
from stet_ls.engine.actions.renaming.language_table import RENAMERS
from stet_ls.engine.actions.repair_search import language_table as repairs
from stet_ls.engine.execution import language_table as execution
from stet_ls.engine.judges import language_table as judges
from stet_ls.engine.judges.danger import language_table as danger
from stet_ls.engine.judges.differential.language_table import COMPARERS
from stet_ls.engine.judges.project_tests import language_table as project_tests
from stet_ls.engine.judges.types.type_checkers import CHECKERS as TYPE_CHECKERS
from stet_ls.engine.prompt.languages import language_table as prompt
from stet_ls.engine.reply.languages import language_table as reply
from stet_ls.engine.runners import language_table as runners
from stet_ls.validators import test_files
from stet_ls.validators.checkers.formatters import FORMATTERS
from stet_ls.validators.checkers.table import CHECKERS
from stet_ls.validators.checkers.toolbox import Role
from stet_ls.validators.language_table.row import Language
from stet_ls.validators.languages import LANGUAGES, NODE_KINDS, row_for
from stet_ls.validators.metrics import language_table as metrics

ROOMS: Mapping[str, Mapping[str, object]] = {
    "prompt": prompt.ROWS,
    "imports": {name: row for name, row in reply.ROWS.items() if row.imports},
    "judges": judges.ROWS,
    "risks": danger.ROWS,
    "examples": execution.ROWS,
    "comparison": COMPARERS,
    "reached": project_tests.ROWS,
    "new tests": test_files.ROWS,
    "adapted tests": suites.ROWS,
    "mutants": {name: row for name, row in suites.ROWS.items() if row.mutants},
    "repairs": repairs.ROWS,
    "metrics": metrics.ROWS,
    "words": prose.ROWS,
    "renaming": RENAMERS,
}
"""The tables whose rows show support for a language, by the title of their column."""


def languages_page() -> str:
    """The page that shows how Stet supports each language."""
    rows = [row for row in LANGUAGES if row.grammar or any(row_for(table, row.id, None) for table in ROOMS.values())]
    packed = [row.title for row in LANGUAGES if row.packed and row not in rows]
    head = (
        "language", "grammar", "outline", "checkers", "linters", "type checkers", "formatters", "test runners",
        "`thorough`",
    )  # fmt: skip
    lines = [(*head, *ROOMS), ["---"] * (len(head) + len(ROOMS)), *map(_cells, rows)]
    return f"""\
# Languages

This page is generated from the tables of languages by `python tests/pages`.

Any text can be edited. What Stet knows of its language decides how much of an edit is checked:

| column | with it |
|---|---|
| grammar | Stet checks the syntax; *advises*: the grammar alone blocks no edit; *pack*: it is in the language pack |
| outline | Stet knows functions and classes: targets, signatures, definitions that an edit removes |
| checkers, linters, type checkers, formatters | Stet asks these [tools](checkers.md) |
| test runners | Stet runs the project's tests and those that it wrote |
| `thorough` | tests from the specification judge an edit (budgets `thorough` and `task`) |
| prompt | the prompt says how tests are written, what models get wrong, how the project writes code |
| imports | imports of a reply join those of the file |
| judges | decorators, exports, visibility and comments follow the language's own rules |
| risks | Stet names new calls that start processes, use the network, delete files and the like |
| examples | Stet runs calls in documentation and in instructions, and measures speed |
| comparison | old and new code run on the same inputs |
| reached | Stet knows whether a test ran what changed |
| new tests | new tests get the names and places that the language is used to |
| adapted tests | new tests are adapted to the file that they join: its imports and its form |
| mutants | new tests are run on deliberate mistakes in the code |
| repairs | `debug` tries small repairs without a model |
| metrics | control flow, private names and dangerous calls are measured by the language's own rules |
| words | Stet marks a sentence of an explanation that names what does not exist |
| renaming | `task` renames a definition in all files of a project |

{chr(10).join(f"| {' | '.join(line)} |" for line in lines)}

`task` ports modules from {_titles(SOURCES)} to {_titles(TARGETS)}.

## With the language pack

{len(packed)} more languages have a grammar in the language pack (extra `all-languages`). Their outline is guessed from
the words that their lines begin with: {", ".join(packed)}.
"""


def _cells(row: Language) -> tuple[str, ...]:
    grammar = ("yes" if row.trusted else "advises") if row.grammar else "pack" if row.packed else ""
    tools = [each for each in CHECKERS if row.id in each.languages and not each.executes_project_code]
    return (
        row.title,
        grammar,
        "yes" if row.id in NODE_KINDS else "",
        _names(each.name for each in tools if each.role is Role.SYNTAX),
        _names(each.name for each in tools if each.role is Role.LINT),
        _names(each.name for each in TYPE_CHECKERS if row.id in each.languages),
        _names(each.name for each in FORMATTERS if row.id in each.languages),
        _names(each.name for each in runners.for_language(row.id).runners),
        "yes" if row.id in LOOP_LANGUAGES else "",
        *("yes" if row_for(table, row.id, None) else "" for table in ROOMS.values()),
    )


def _titles(table: Mapping[str, PortSource | PortTarget]) -> str:
    return _names(row.title for row in table.values())


def _names(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))
