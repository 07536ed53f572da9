"""Entries of Stet in JSON files: hooks in arrays, an MCP server as a member."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stet_ls.server.cli.agents.agent import HookEvent, StetProgram
from stet_ls.server.cli.agents.config_files import jsonc

HookEntries = Callable[[StetProgram], Sequence[tuple[tuple[str, ...], Any]]]
"""Paths of arrays, and the element that each of them gets."""


def grouped_hooks(
    agent: str, events: Mapping[HookEvent, str], matcher: str, *, unit: int = 1, **more: str
) -> HookEntries:
    """A group of one hook for each event; `matcher` are the tools that edit. `unit`: parts of a second in timeouts."""

    def hook(program: StetProgram, event: HookEvent) -> Mapping[str, Any]:
        # One string in place of `command` and `args`: Cursor and Copilot run Claude Code's and may not know `args`.
        seconds = 120 if event is HookEvent.STOP else 20
        return {**more, "type": "command", "command": program.hook(agent, event), "timeout": seconds * unit}

    def entries(program: StetProgram) -> Sequence[tuple[tuple[str, ...], Any]]:
        tools = {HookEvent.EDIT: {"matcher": matcher}}
        return [
            (("hooks", name), {**tools.get(event, {}), "hooks": [hook(program, event)]})
            for event, name in events.items()
        ]

    return entries


_COMMANDS = ("command", "bash")


@dataclass(frozen=True, slots=True)
class JsonHooks:
    """Elements of arrays, known as Stet's by their command. `skeleton` is what a new file holds besides them."""

    agent: str
    entries: HookEntries
    skeleton: Mapping[str, Any] = field(default_factory=dict)

    def add(self, text: str, program: StetProgram) -> str:
        """Replaces Stet's entries by those of this version."""
        text = self.remove(text) or json.dumps(self.skeleton, indent=2) + "\n"
        top = jsonc.parse(text)
        for key, value in self.skeleton.items():
            if top.opening == "{" and top.get(key) is None:
                text = jsonc.add(text, (key,), value, to_array=False)
        for path, value in self.entries(program):
            text = jsonc.add(text, path, value, to_array=True)
        return text

    def remove(self, text: str) -> str:
        """Removes each object whose command is a hook of Stet's for this agent."""
        return _removed(text, lambda chain: self._is_ours(chain[-1]), self.skeleton)

    def _is_ours(self, node: jsonc.JsonNode) -> bool:
        commands = [child.scalar for child in node.children if node.opening == "{" and child.key in _COMMANDS]
        mark = rf"\bhook run {re.escape(self.agent)} (?:start|prompt|edit|stop)$"
        return any(isinstance(command, str) and re.search(mark, command) for command in commands)


@dataclass(frozen=True, slots=True)
class JsonServer:
    """The MCP server `stet` as a member of an object."""

    path: tuple[str, ...]
    entry: Callable[[StetProgram], Mapping[str, Any]]

    def add(self, text: str, program: StetProgram) -> str:
        """Replaces Stet's entry. Another server of that name is an error."""
        text = self.remove(text) or "{}\n"
        return jsonc.add(text, self.path, self.entry(program), to_array=False)

    def remove(self, text: str) -> str:
        """Removes the member if it starts `stet mcp`."""
        return _removed(text, self._is_ours, {})

    def _is_ours(self, chain: Sequence[jsonc.JsonNode]) -> bool:
        if tuple(node.key for node in chain[1:]) != self.path:
            return False
        value = chain[-1].value
        words = [value.get("command"), value.get("args")] if isinstance(value, dict) else []
        flat = [word for part in words if part for word in (part if isinstance(part, list) else [part])]
        return flat[-1:] == ["mcp"]


def _removed(text: str, is_ours: Callable[[Sequence[jsonc.JsonNode]], bool], skeleton: Mapping[str, Any]) -> str:
    if not text.strip():
        return ""
    while found := next((each for each in jsonc.chains(jsonc.parse(text)) if len(each) > 1 and is_ours(each)), None):
        text = jsonc.remove(text, found)
    rest = jsonc.parse(text)
    is_empty = rest.value in ({}, dict(skeleton)) and not re.search(r"//|/\*", text)
    return "" if is_empty else text
