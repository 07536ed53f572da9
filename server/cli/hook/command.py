"""The arguments of `stet hook`."""

from __future__ import annotations

import argparse
import json

from stet_ls.engine.errors import UsageError
from stet_ls.server.cli.agents.agent import Agent, HookEvent, StetProgram
from stet_ls.server.cli.agents.agent_table import AGENTS
from stet_ls.server.cli.agents.config_files import config_place
from stet_ls.server.cli.agents.config_files.change_config import changed, clear, write


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb, summary in (
        ("install", "write Stet's hooks into an agent's configuration"),
        ("remove", "remove Stet's hooks from an agent's configuration"),
        ("status", "show where Stet's hooks are installed"),
    ):
        each = verbs.add_parser(verb, help=summary)
        each.add_argument(
            "agent", choices=tuple(AGENTS), metavar="AGENT", help=", ".join(AGENTS),
            nargs="?" if verb == "status" else None,
        )  # fmt: skip
        if verb != "status":
            each.add_argument(
                "--user", action="store_true", help="for all projects of this user [default: this project]"
            )
    run = verbs.add_parser("run", help="answer a hook: agents call this, with the event on standard input")
    run.add_argument("agent", choices=tuple(AGENTS), metavar="AGENT")
    run.add_argument(
        "event", choices=tuple(each.value for each in HookEvent), metavar="EVENT", help=", ".join(HookEvent)
    )
    run.add_argument("files", nargs="*", metavar="FILE", help="edited files, from agents that name them as arguments")


def run(arguments: argparse.Namespace) -> int:
    """Runs the verb."""
    if arguments.verb == "run":
        from stet_ls.server.cli.hook.answer import answer

        return answer(AGENTS[arguments.agent], HookEvent(arguments.event), arguments.files)
    if arguments.verb == "status":
        return _status([AGENTS[arguments.agent]] if arguments.agent else list(AGENTS.values()))
    agent = AGENTS[arguments.agent]
    if arguments.verb == "install":
        path = write(agent.hooks, user=arguments.user)
        print(f"{agent.title}: hooks written to {path}")
        print(agent.trust)
    else:
        path, was = clear(agent.hooks, user=arguments.user)
        print(f"{agent.title}: {'hooks removed from' if was else 'no hooks of Stet in'} {path}")
    return 0


def _status(agents: list[Agent]) -> int:
    program = config_place.this_program()
    for agent in agents:
        for scope, user in (("project", False), ("user", True)):
            if (agent.hooks.user if user else agent.hooks.project) and (line := _state(agent, program, user=user)):
                print(f"{agent.name:12} {scope:8} {line}")
    return 0


def _state(agent: Agent, program: StetProgram, *, user: bool) -> str:
    try:
        path, before, without = changed(agent.hooks, agent.hooks.format.remove, user=user)
    except UsageError as error:
        return f"unknown: {error}"
    if before == without:
        return f"not installed ({path})"
    commands = (json.dumps(program.hook(agent.name, event))[1:-1] for event in agent.events)
    is_current = agent.hooks.format.add(before, program) == before or all(each in before for each in commands)
    return f"installed ({path})" if is_current else f"written by another version of Stet: install again ({path})"
