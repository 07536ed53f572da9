"""The request that the arguments of `stet run` and a target mean."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from pathlib import Path

from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.request import Request, Workspace
from stet_ls.engine.errors import UsageError
from stet_ls.server.cli.inputs.command_target import CommandTarget
from stet_ls.server.cli.inputs.load_settings import project_root


def job_request(arguments: argparse.Namespace, target: CommandTarget) -> Request:
    """Reads what linters say of the target: not for an event loop. UsageError for a wrong `--context`."""
    from stet_ls.server.cli.inputs.file_diagnostics import diagnostics

    path = target.document.path.absolute() if target.document else None
    root = project_root(path.parent if path else Path.cwd())
    return Request(
        action=arguments.action,
        language=target.language,
        source=target.source,
        selection=target.selection,
        path=path,
        instruction=arguments.instruction,
        constraints=tuple(arguments.constraint),
        context=_context(arguments.context),
        diagnostics=diagnostics(target.source, target.language, path, target.selection),
        budget=Budget(arguments.budget),
        workspace=Workspace(roots=(root,)),
        fresh=arguments.no_cache,
    )


def _context(pairs: Iterable[str]) -> Mapping[str, str]:
    context = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise UsageError(f'--context "{pair}": expected KEY=VALUE')
        context[key.strip()] = value
    return context
