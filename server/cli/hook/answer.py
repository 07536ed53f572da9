"""Answers one call of a hook. Whatever fails here is shown to the user, and the agent continues."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from stet_ls.engine.errors import StetError
from stet_ls.server.cli.agents.agent import Agent, Answer, HookEvent
from stet_ls.server.cli.hook.payload import MOST_BYTES, Payload, read

_GRACE = 15.0
"""Seconds beyond an agent's budget after which the hook gives up."""


def answer(agent: Agent, event: HookEvent, files: Sequence[str]) -> int:
    """Reads standard input, prints the answer and returns the exit status: 0 for every agent that reads JSON."""
    given: Answer
    try:
        with contextlib.redirect_stdout(sys.stderr):  # one stray line would void the answer
            payload = _payload(agent, files)
            given = asyncio.run(_within_time(agent, event, payload))
    except Exception as error:  # noqa: BLE001 - a broken hook must not break the agent's turn: it is shown instead
        _log(error)
        reason = str(error) if isinstance(error, StetError | ValueError) else type(error).__name__
        message = f"Stet's hook failed, nothing was checked: {reason or type(error).__name__}"
        print(message, file=sys.stderr)
        given = {} if agent.output.is_text else agent.output.notify(message)
    if agent.output.is_text:
        text = given.get("reason", "")
        print(text, end="\n" if text else "")
        return 1 if text else 0
    print(json.dumps(given, ensure_ascii=False))
    return 0


def _log(error: Exception) -> None:
    from stet_ls.engine.storage.paths import user_paths
    from stet_ls.server.observability.log import ROOT, start_log

    with contextlib.suppress(OSError):
        start_log(user_paths().log_file, "info")
        logging.getLogger(ROOT).error("a hook failed", exc_info=error)


def _payload(agent: Agent, files: Sequence[str]) -> Payload:
    """The call; agents without JSON name the edited files as arguments, and work in the current folder."""
    here = Path.cwd()
    if agent.output.is_text:
        return Payload("", here, tuple(here / name for name in files))
    payload = read(sys.stdin.buffer.read(MOST_BYTES))
    return payload if payload.folder else Payload(payload.session, here, payload.files, payload.prompt, payload.loops)


async def _within_time(agent: Agent, event: HookEvent, payload: Payload) -> Answer:
    from stet_ls.server.cli.hook import events

    try:
        async with asyncio.timeout(agent.seconds_at_stop + _GRACE):
            return await events.HANDLERS[event](agent, payload)
    except TimeoutError:
        raise StetError(f"not finished after {agent.seconds_at_stop + _GRACE:g} s") from None
