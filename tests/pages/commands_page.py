"""The reference of the command line and of the language server's commands, from their tables."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping

from pydantic import BaseModel

from stet_ls.server.cli.command_table import COMMANDS, EPILOG, build_parser, sentence


def commands_page() -> str:
    """The reference of the command line."""
    parser = build_parser(chosen=COMMANDS)
    commands = _subparsers(parser)
    body = "\n".join(_command(name, commands[name], sentence(row.summary)) for name, row in COMMANDS.items())
    return f"""\
# The command line

This page is generated from the table of commands by `python tests/pages`.

Results go to standard output, everything else to standard error. {EPILOG}

{body}"""


def _command(name: str, parser: argparse.ArgumentParser, summary: str) -> str:
    parts = [f"## `stet {name}`", summary, *_arguments(parser)]
    for verb, subparser in _subparsers(parser).items():
        parts += [f"### `stet {name} {verb}`", subparser.description or "", *_arguments(subparser)]
    return "\n\n".join(parts) + "\n"


def _arguments(parser: argparse.ArgumentParser) -> list[str]:
    """The table of a parser's arguments, or nothing if it has none."""
    rows = [f"| `{_usage(action)}` | {action.help or ''} |" for action in _actions(parser)]
    return ["\n".join(["| argument | |", "|---|---|", *rows])] if rows else []


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    # argparse has no public way to read what was declared.
    for action in parser._actions:
        hidden = isinstance(action, argparse._HelpAction | argparse._SubParsersAction)
        if not hidden and action.help is not argparse.SUPPRESS:
            yield action


def _usage(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ", ".join(action.option_strings)
    values = "|".join(str(choice) for choice in action.choices) if action.choices else ""
    metavar = action.metavar if isinstance(action.metavar, str) else values or action.dest.upper()
    shown = values or metavar
    return " ".join([", ".join(action.option_strings), shown]).strip().replace("|", "\\|")


def _subparsers(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return action.choices
    return {}


def protocol_page() -> str:
    """The reference of `workspace/executeCommand`."""
    from stet_ls.server.handlers.commands import COMMANDS as SPECS
    from stet_ls.server.lsp import command_params

    names: dict[str, list[str]] = {}
    for name, spec in SPECS.items():
        names.setdefault(spec.params, []).append(name)
    rows = [f"| `{name}` | {spec.about} | {_link(spec.params)} |" for name, spec in SPECS.items()]
    sections = [_fields(title, getattr(command_params, title)) for title in names if title != "NoParams"]
    return f"""\
# The language server's commands

This page is generated from the table of commands by `python tests/pages`.

Each is run by `workspace/executeCommand` with at most one object argument, of which every field is optional unless it
says otherwise. Without `uri` the document is meant that the client last opened, changed or asked actions for.

| command | | argument |
|---|---|---|
{chr(10).join(rows)}

{chr(10).join(sections)}"""


def _link(params: str) -> str:
    return "none" if params == "NoParams" else f"[{params}](#{params.lower()})"


def _fields(title: str, model: type[BaseModel]) -> str:
    rows = [
        f"| `{name}` | {'required' if field.is_required() else ''} | {field.description or ''} |"
        for name, field in model.model_fields.items()
    ]
    return f"## {title}\n\n{model.__doc__}\n\n| field | | |\n|---|---|---|\n" + "\n".join(rows) + "\n"
