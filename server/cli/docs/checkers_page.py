"""docs/checkers.md, made from the tables of checkers, linters and formatters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stet_ls.validators.checkers.formatters import FORMATTERS
from stet_ls.validators.checkers.table import CHECKERS, SLOW, Checker
from stet_ls.validators.checkers.toolbox import Role
from stet_ls.validators.languages import LANGUAGES


def checkers_page() -> str:
    """The page that says which tool judges which language."""
    return f"""\
# Checkers, linters and formatters

This page is generated from the tables of tools by `python -m stet_ls.server.cli.docs`. `stet doctor` says which of them
work on this machine.

A grammar judges every text at once. Where one of these tools is there, its word counts more: an *authority's* new error
keeps an edit from being offered. Only errors that the text did not have before count. For C and C++ the grammar alone
never blocks, as macros are no syntax to it.

The tools are found on PATH, by `[[programs]]` in the [settings](settings.md), or were installed with Stet. None is
started from the project of the text, from the project around the working folder (for standard input and `stet doctor`)
or from an open workspace, though PATH leads there, unless that folder is among `checks.trusted_workspaces`; `stet
doctor` names what it refuses. Relative and empty entries of PATH are not searched, and the tools get PATH without all
of these. Folders are compared by where they really lead: a link or `..` to a neighbor of a trusted folder is not
trusted. They read a buffer from standard input
or from a private copy, without a shell, with an environment of three variables, and are ended with all that they
started at their deadline or after a megabyte of output. They write nothing into the workspace. A slow tool is asked by
jobs and by `stet check`, not while one types (that is: not by who has less than {SLOW:g} seconds to spare).

## Syntax

{_checkers(row for row in CHECKERS if row.role is Role.SYNTAX)}
## Linters

The first of a language that answers, and those that add to it. New findings are told with an edit, and block none.

{_checkers(row for row in CHECKERS if row.role is Role.LINT and not row.executes_project_code)}
## Waiting for the sandbox

These run a project's own code, so Stet does not start them yet.

{
        _table(
            ("tool", "languages", "why"),
            ((row.name, _titles(row.languages), row.note) for row in CHECKERS if row.executes_project_code),
        )
    }
## Formatters

An edit's changed lines are formatted before they are judged, if the project's files show how it formats and the file
was formatted so before. All other lines keep their bytes; where that cannot be, the edit is left as it is.
`checks.format_edits = false` leaves every edit as it is.

{
        _table(
            ("tool", "languages", "shown by", "found", "note"),
            ((row.name, _titles(row.languages), row.settings, row.source, row.note) for row in FORMATTERS),
        )
    }
## Your own

A tool that reads a text and writes lines with places, or JSON, is a few lines in the user's settings file. It comes
before the built-in ones; a linter is asked beside them.

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
