"""The table of sub-commands. Imports nothing but the standard library: the way to the server leads through here."""

from __future__ import annotations

import argparse
import difflib
import importlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from stet_ls import __version__
from stet_ls.engine.errors import UsageError


class Command(Protocol):
    """What the module of a sub-command offers."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Declares the arguments."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Does it, and returns the exit status. Raises StetError for what the user has to be told."""


@dataclass(frozen=True, slots=True)
class CommandRow:
    """One sub-command: the module that holds it, and its line in the help."""

    module: str
    summary: str

    def load(self) -> Command:
        """Imports the module."""
        return importlib.import_module(f"stet_ls.server.cli.{self.module}")


COMMANDS: Mapping[str, CommandRow] = {
    "serve": CommandRow("serve", "start the language server (so does plain `stet --stdio`)"),
    "run": CommandRow("run", "do one action on a file and print the checked edit"),
    "check": CommandRow("check", "syntax findings, and with --lint lint findings, of files and folders"),
    "model": CommandRow("model", "list, fetch and probe models; let a server that was found have your code"),
    "doctor": CommandRow("doctor", "tell what works here and what does not"),
    "config": CommandRow(
        "config", "show the settings and their origins, trust a project's actions, or write a first file"
    ),
    "editor": CommandRow("editor", "print the configuration to paste for an editor"),
    "demo": CommandRow("demo.command", "watch every action at work on a small project with real flaws"),
    "stats": CommandRow("stats", "what jobs spent: calls, tokens and cost by day, model or action"),
    "trace": CommandRow("trace", "records of the last jobs: list, show, replay, export for a bug report"),
    "memory": CommandRow("memory", "solutions that stood: search, show, forget, export, import, learn"),
    "sandbox": CommandRow("sandbox", "run a command in the sandbox, or tell which walls stand here"),
}

EPILOG = (
    "Exit status: 0 done; 1 findings, no edit could be offered, a judge refuted the edit (with --apply, --diff, --json "
    "and without them), or nothing has that id; 2 usage or settings; 3 no model reachable; 4 refused by policy; "
    "70 a bug; 130 interrupted."
)


def build_parser(chosen: Iterable[str]) -> argparse.ArgumentParser:
    """The parser of the whole command. Only the `chosen` sub-commands are imported and can be parsed."""
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
    """Lets `-:14`, a place in standard input, be no option, as argparse lets -14."""
    parser._negative_number_matcher = re.compile(rf"{parser._negative_number_matcher.pattern}|^-:")


def _name_verbs(parser: argparse.ArgumentParser) -> None:
    """Lets the verbs of a sub-command say what they do in their own help, and a call without one list them."""
    # argparse offers no public way to read what was declared.
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            action.metavar = "|".join(action.choices)
            for verb in action._choices_actions:
                action.choices[verb.dest].description = sentence(verb.help or "")


def positive(text: str) -> int:
    """The type of an argument that is a whole number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number from 1 on")
    return int(text)


def unknown_argument(parser: argparse.ArgumentParser, name: str, word: str) -> UsageError:
    """The complaint about a word that the sub-command `name` does not take, with the option that may be meant."""
    near = difflib.get_close_matches(word.partition("=")[0], set(_options(parser)), n=1, cutoff=0.75)
    hint = f'did you mean "{near[0]}"?' if near else f"`stet {name} --help` lists what it takes"
    return UsageError(f'stet {name} takes no "{word}": {hint}')


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    # argparse offers no public way to read what was declared.
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for subparser in action.choices.values():
                yield from _options(subparser)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The tail of a message about an unknown name: the nearest known one, or all if they are few, or ""."""
    known = tuple(known)
    if near := difflib.get_close_matches(name, known, n=1):
        return f'did you mean "{near[0]}"?'
    return f"known are {', '.join(known)}" if len(known) <= _FEW else ""


_FEW = 12


def sentence(summary: str) -> str:
    """A line of the table as a sentence."""
    return f"{summary[0].upper()}{summary[1:]}."
