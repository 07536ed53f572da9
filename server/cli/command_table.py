"""The table of subcommands. Imports only the standard library, because starting the server imports this module."""

from __future__ import annotations

import argparse
import importlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from stet_ls import __version__
from stet_ls.engine.errors import UsageError


class Command(Protocol):
    """The interface of a subcommand's module."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Declares the arguments."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Runs the command and returns its exit status. Raises StetError for an error that the user sees."""


@dataclass(frozen=True, slots=True)
class CommandRow:
    """One subcommand: its module, and its line in the help."""

    module: str
    summary: str

    def load(self) -> Command:
        """Imports the module."""
        return importlib.import_module(f"stet_ls.server.cli.{self.module}")


COMMANDS: Mapping[str, CommandRow] = {
    "serve": CommandRow("serve", "start the language server (`stet --stdio` does the same)"),
    "run": CommandRow("run.command", "run an action on files and print the checked edits"),
    "plan": CommandRow("task.plan", "print the plan of a task as a document to edit"),
    "tasks": CommandRow("task.history", "list, show, resume and export tasks"),
    "check": CommandRow("check", "check the syntax of files and folders, with --lint also for lint findings"),
    "verify": CommandRow("verify.command", "verify a change by any author, without a model"),
    "review": CommandRow("review.command", "review a change: judges, tools and a reviewer's findings, with a score"),
    "hook": CommandRow("hook.command", "check what coding agents change: install, remove and answer their hooks"),
    "mcp": CommandRow("mcp.command", "serve the checks over MCP, or register the server with a coding agent"),
    "model": CommandRow("model", "list, download and test models; allow or deny a local model server"),
    "doctor": CommandRow("doctor", "show what works on this machine and what does not"),
    "config": CommandRow(
        "config", "show settings and their origins, trust a project's actions, or create a settings file"
    ),
    "editor": CommandRow("editor", "print the configuration for an editor, or install its plugin"),
    "demo": CommandRow("demo.command", "run every action but `task` on a small sample project"),
    "stats": CommandRow("stats", "show calls, tokens and cost by day, model or action"),
    "trace": CommandRow("trace", "list, show, replay and export records of recent jobs"),
    "memory": CommandRow("memory", "search and manage remembered solutions"),
    "sandbox": CommandRow("sandbox", "run a command in the sandbox, or test what the sandbox isolates"),
}

EPILOG = (
    "Exit status: 0 success; 1 findings, no edit, an edit that a check refuted, or an unknown id; "
    "2 usage or settings error; 3 no model reachable; 4 refused by policy; 70 internal error; 130 interrupted."
)


def build_parser(chosen: Iterable[str]) -> argparse.ArgumentParser:
    """The parser of the whole command. Only the `chosen` subcommands are imported and can be parsed."""
    parser = argparse.ArgumentParser(
        prog="stet", description="AI edits that are checked before they are offered.", epilog=EPILOG, allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"stet {__version__}")
    _let_places_pass(parser)
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, row in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=row.summary, description=sentence(row.summary), allow_abbrev=False)
        if name in chosen:
            row.load().configure(subparser)
            _let_places_pass(subparser)
            _name_verbs(subparser)
    return parser


def _let_places_pass(parser: argparse.ArgumentParser) -> None:
    """Accepts `-:14`, a position in standard input, as an argument, as argparse accepts -14."""
    parser._negative_number_matcher = re.compile(rf"{parser._negative_number_matcher.pattern}|^-:")


def _name_verbs(parser: argparse.ArgumentParser) -> None:
    """Shows the summary of each verb in its own help, and lists the verbs if a call names none."""
    # argparse has no public way to read what was declared.
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            action.metavar = "|".join(action.choices)
            for verb in action._choices_actions:
                action.choices[verb.dest].description = sentence(verb.help or "")


def positive(text: str) -> int:
    """The type of an argument that is a whole number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number of at least 1")
    return int(text)


def unknown_argument(parser: argparse.ArgumentParser, name: str, word: str) -> UsageError:
    """The error for a word that the subcommand `name` does not take, with the most similar option."""
    import difflib

    near = difflib.get_close_matches(word.partition("=")[0], set(_options(parser)), n=1, cutoff=0.75)
    hint = f'did you mean "{near[0]}"?' if near else f"see `stet {name} --help`"
    return UsageError(f"`stet {name}` has no argument `{word}`: {hint}")


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    # argparse has no public way to read what was declared.
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for subparser in action.choices.values():
                yield from _options(subparser)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: the nearest known one, or all if they are few, or ""."""
    import difflib

    known = tuple(known)
    if near := difflib.get_close_matches(name, known, n=1):
        return f'did you mean "{near[0]}"?'
    return f"expected one of {', '.join(known)}" if len(known) <= _FEW else ""


_FEW = 12


def sentence(summary: str) -> str:
    """A line of the table as a sentence."""
    return f"{summary[0].upper()}{summary[1:]}."
