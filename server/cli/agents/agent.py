"""What a row of the table of agents says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol


class HookEvent(StrEnum):
    """When a hook is called: a session or a prompt begins, a file was edited, a turn ends, a commit begins."""

    START = "start"
    PROMPT = "prompt"
    EDIT = "edit"
    STOP = "stop"
    COMMIT = "commit"


@dataclass(frozen=True, slots=True)
class StetProgram:
    """How `stet` is started on this machine, by an absolute path."""

    words: tuple[str, ...]

    def hook(self, agent: str, event: HookEvent) -> str:
        """The shell command of a hook."""
        import shlex

        return shlex.join([*self.words, "hook", "run", agent, event.value])


class ConfigFormat(Protocol):
    """How entries of Stet are written into a file of an agent, and found in it."""

    def add(self, text: str, program: StetProgram) -> str:
        """The text with Stet's entries and all that was there. Raises ValueError where that cannot be done."""

    def remove(self, text: str) -> str:
        """The text without Stet's entries; "" for a file that held nothing else. Raises ValueError."""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file of an agent: below a project's top folder, below the home; "" where the agent has none."""

    format: ConfigFormat
    project: str = ""
    user: str = ""
    user_variable: str = ""
    """The environment variable that replaces the first folder of `user`."""
    no_user: str = ""
    """What to do instead of a file for the user."""
    no_project: str = ""
    executable: bool = False


Answer = Mapping[str, Any]


def _nothing(_text: str) -> Answer:
    return {}


def _system_message(text: str) -> Answer:
    return {"systemMessage": text}


@dataclass(frozen=True, slots=True)
class HookOutput:
    """The answers that an agent reads on standard output, as JSON with exit status 0.

    `context` informs the model after an edit, `refuse` keeps it working at the end of its turn, `notify` reaches the
    user and decides nothing.
    """

    context: Callable[[str], Answer] = _nothing
    refuse: Callable[[str], Answer] = _nothing
    notify: Callable[[str], Answer] = _system_message
    is_text: bool = False
    """Plain text and an exit status in place of JSON."""


@dataclass(frozen=True, slots=True)
class Agent:
    """A coding agent. `trust` is what the user has to do before the hooks run, and what to know about them."""

    name: str
    title: str
    hooks: ConfigFile
    output: HookOutput
    trust: str
    seconds_at_stop: float = 60.0
    also_reads: tuple[str, ...] = ()
    """Agents whose files it runs, too: one of the two hooks answers."""
    mcp: ConfigFile | None = None
    no_mcp: str = ""
    shown: Mapping[HookEvent, str] = field(default_factory=dict)
    """The agent's own name of each event that is used, for documentation and status."""

    @property
    def events(self) -> Sequence[HookEvent]:
        """The events at which the agent calls Stet."""
        return tuple(self.shown)


def home_of(file: ConfigFile, home: Path, variables: Mapping[str, str]) -> Path:
    """The path of the user's own file."""
    first, _, rest = file.user.partition("/")
    folder = variables.get(file.user_variable, "") if file.user_variable else ""
    return Path(folder, rest) if folder else home / first / rest
