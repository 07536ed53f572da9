"""docs/checkers.md, made from the tables of checkers, linters and formatters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stet_ls.validators.checkers.formatters import FORMATTERS
from stet_ls.validators.checkers.table import CHECKERS, Checker
from stet_ls.validators.checkers.toolbox import Role
from stet_ls.validators.languages import LANGUAGES


def checkers_page() -> str:
    """The page that shows which tool judges which language."""
    return f"""\
# Checkers, linters and formatters

This page is generated from the tables of tools by `python tests/pages`. `stet doctor` says which of them
work on this machine.

A grammar checks every text. The result of an installed tool counts more: a new error of an *authority* blocks an edit.
Only errors that the text did not have before count. For C and C++ the grammar alone never blocks, since it does not
expand macros.

Stet finds the tools on PATH, by `[[programs]]` in the [settings](settings.md), or in its own installation. It never
starts a tool from the project of the text, from the project around the working folder, or from an open workspace,
unless that folder is in `checks.trusted_workspaces`; `stet doctor` lists what it refuses. Stet does not search relative
and empty entries of PATH, and removes all of these from the PATH of the tools. Links and `..` are resolved first.

The tools read a buffer from standard input or from a private copy, without a shell and with three environment
variables. They stop, with all their child processes, at their deadline or after a megabyte of output. They write
nothing into the workspace. Slow tools run in jobs and in `stet check`, not while you type.

## Syntax

{_checkers(row for row in CHECKERS if row.role is Role.SYNTAX)}
## Linters

Stet uses the first available linter of a language, and those that add to it. The evidence of an edit lists new
findings; they block no edit.

{_checkers(row for row in CHECKERS if row.role is Role.LINT and not row.executes_project_code)}
## Not available yet

These run the project's own code, so Stet does not start them yet.

{
        _table(
            ("tool", "languages", "why"),
            ((row.name, _titles(row.languages), row.note) for row in CHECKERS if row.executes_project_code),
        )
    }
## Formatters

An edit's changed lines are formatted before they are judged, if the project's files show how it formats and the file
was formatted so before. All other lines keep their bytes; otherwise the edit is not formatted.
`checks.format_edits = false` turns this off.

{
        _table(
            ("tool", "languages", "shown by", "found", "note"),
            ((row.name, _titles(row.languages), row.settings, row.source, row.note) for row in FORMATTERS),
        )
    }
## Your own

To add a tool that writes lines with positions, or JSON, add a few lines to the user's settings file. It runs before the
built-in ones; a linter runs in addition to them.

```toml
[[checkers]]
language = "lua"
argv = ["luac", "-p", "{{file}}"]
pattern = '^luac: [^:]+:(?P<line>\\d+): (?P<message>.+)$'

[[checkers]]
language = "sql"
kind = "format"
argv = ["pg_format", "-"]

[[programs]]
name = "gofmt"
path = "/opt/go/bin/gofmt"
```
"""


def _checkers(rows: Iterable[Checker]) -> str:
    head = ("tool", "languages", "word", "found", "seconds", "note")
    return _table(
        head,
        (
            (
                row.name,
                _titles(row.languages),
                ("authority" if row.authoritative else "advice") if row.role is Role.SYNTAX else ", ".join(row.covers),
                row.source,
                f"{row.seconds:g}{' (slow)' if row.slow else ''}",
                row.note,
            )
            for row in rows
        ),
    )


def _titles(ids: Sequence[str]) -> str:
    titles = {row.id: row.title for row in LANGUAGES}
    return ", ".join(titles[one] for one in ids)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
