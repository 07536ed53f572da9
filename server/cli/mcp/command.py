"""The arguments of `stet mcp`."""

from __future__ import annotations

import argparse
from pathlib import Path

from stet_ls.engine.errors import UsageError
from stet_ls.server.cli.agents.agent import Agent
from stet_ls.server.cli.agents.agent_table import AGENTS
from stet_ls.server.cli.agents.config_files.change_config import clear, write
from stet_ls.validators.install_hints import install_command


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    verbs = parser.add_subparsers(dest="verb")
    names = [name for name, agent in AGENTS.items() if agent.mcp]
    for verb, summary in (
        ("install", "register the server with an agent"),
        ("remove", "remove the server from an agent's configuration"),
    ):
        each = verbs.add_parser(verb, help=summary)
        each.add_argument("agent", choices=tuple(AGENTS), metavar="AGENT", help=", ".join(names))
        each.add_argument("--user", action="store_true", help="for all projects of this user [default: this project]")


def run(arguments: argparse.Namespace) -> int:
    """Registers the server, or serves until standard input ends."""
    if arguments.verb is None:
        return _serve()
    agent: Agent = AGENTS[arguments.agent]
    if agent.mcp is None:
        raise UsageError(agent.no_mcp)
    if arguments.verb == "install":
        print(f"{agent.title}: server `stet` written to {write(agent.mcp, user=arguments.user)}")
    else:
        path, was = clear(agent.mcp, user=arguments.user)
        print(f"{agent.title}: {'server `stet` removed from' if was else 'no server `stet` in'} {path}")
    return 0


def _serve() -> int:
    try:
        from stet_ls.server.cli.mcp import server
    except ImportError as error:
        raise UsageError(f"`stet mcp` needs the package mcp: {install_command('mcp')}") from error
    return server.serve(Path.cwd())
