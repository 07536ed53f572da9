"""git's own hook before a commit: the staged tree."""

from __future__ import annotations

from stet_ls.server.cli.agents.agent import Agent, ConfigFile, HookEvent, HookOutput
from stet_ls.server.cli.agents.config_files.text_config import MarkedBlock

EVENTS = {HookEvent.COMMIT: "pre-commit"}
_NAME = "git"

AGENT = Agent(
    _NAME,
    "git",
    ConfigFile(
        MarkedBlock(
            lambda program: f"{program.hook(_NAME, HookEvent.COMMIT)} || exit $?\n",
            r"\A(?!#!.*\b(?:sh|bash|dash|zsh|ksh)\b)(?=.)",
            "the hook is not a shell script; let it run",
            shebang="#!/bin/sh",
        ),
        project=".git/hooks/pre-commit",
        no_user="git has hooks for each repository: leave out `--user`",
        executable=True,
    ),
    HookOutput(is_text=True),
    "The hook runs before each commit of this clone; `git commit --no-verify` skips it.",
    no_mcp="git is not an agent",
    shown=EVENTS,
)
