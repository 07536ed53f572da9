"""The toolbox of a user's settings: which tools judge, and where their programs are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.table_schemas import CheckerRow
from stet_ls.validators import languages
from stet_ls.validators.checkers.toolbox import AddedTool, Role, Toolbox


def toolbox(settings: Settings, workspaces: Sequence[Path] = ()) -> Toolbox:
    """The tools that checks may use with these settings. Programs of the `workspaces` are excluded, unless trusted."""
    checks = settings.checks
    return Toolbox(
        added=tuple(map(_added, settings.checkers)),
        disabled=frozenset(checks.disabled_tools),
        programs=tuple((row.name, Path(row.path).expanduser()) for row in settings.programs),
        trusted_roots=tuple(Path(folder).expanduser().absolute() for folder in checks.trusted_workspaces),
        workspaces=tuple(workspaces),
        formats=checks.format_edits,
    )


def _added(row: CheckerRow) -> AddedTool:
    known = languages.language(row.language)
    return AddedTool(
        name=row.name or Path(row.argv[0]).name,
        language=known.id if known else row.language,
        role=Role(row.kind),
        argv=row.argv,
        pattern=row.pattern,
        authoritative=row.authoritative,
        deadline=row.seconds,
    )
