"""A request, its workspace, and the target that it resolves to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from stet_ls.engine.api.actions import ActionSpec, spec_of
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.plan import TaskOptions
from stet_ls.validators.findings import Severity
from stet_ls.validators.source import Source, Span


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding of any tool for the job to fix. `span` is in bytes of the request's text."""

    span: Span
    message: str
    severity: Severity = Severity.ERROR
    source: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class Buffer:
    """An unsaved document of the workspace, as in the editor."""

    path: Path
    version: int
    text: str


@dataclass(frozen=True, slots=True)
class Workspace:
    """The open folders, and the buffers that differ from the disk."""

    roots: tuple[Path, ...] = ()
    buffers: tuple[Buffer, ...] = ()

    def root_of(self, path: Path | None) -> Path | None:
        """The innermost open folder that contains a file."""
        holding = [root for root in self.roots if path is not None and path.is_relative_to(root)]
        return max(holding, key=lambda root: len(root.parts), default=None)


@dataclass(frozen=True, slots=True)
class Selection:
    """The user's selection in bytes: a range or a position. `unit` was named instead (qualified), "" otherwise."""

    span: Span
    unit: str = ""

    @property
    def is_position(self) -> bool:
        """True if only the cursor position is known."""
        return self.span.empty


@dataclass(frozen=True, slots=True)
class Request:
    """One job that a front end asks for."""

    action: str
    """Name of the action, a row of `ACTIONS`."""
    language: str
    """LSP language id."""
    source: Source
    """The document's text when the job was requested."""
    selection: Selection | None = None
    """What the user selected; None for the whole document."""
    path: Path | None = None
    """The document's file; None if it was never saved."""
    instruction: str = ""
    """What the user wants, "" if the action says it all."""
    constraints: tuple[str, ...] = ()
    """Further requirements, a sentence each."""
    context: Mapping[str, str] = field(default_factory=dict)
    """Further texts for the prompt, by title."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """What the editor's tools report at the target."""
    budget: Budget = Budget.STANDARD
    """How many calls and how much time the job may use."""
    workspace: Workspace = field(default_factory=Workspace)
    """The open folders and unsaved documents."""
    hidden: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Placeholders and their secret values, whatever their form; a replayed record has such placeholders."""
    user_words: str | None = None
    """The user's own words if `instruction` is a model's, a step of a plan: only they allow code to be removed."""
    task: TaskOptions | None = None
    """How a task is to be done; None if the user did not say."""
    candidate: str = field(default="", repr=False)
    """Code of an earlier answer; it is the answer if what has been stated since proves it."""
    fresh: bool = False
    """Whether no reply may come from the cache."""

    @property
    def spec(self) -> ActionSpec:
        """The row of its action."""
        return spec_of(self.action)

    @property
    def rank(self) -> int:
        """The rank of its task's priority: calls of a higher one go first."""
        return self.task.priority.rank if self.task is not None and self.task.priority is not None else 0


class TargetKind(StrEnum):
    """The kind of a target. An INSERTION replaces nothing: its span is a position."""

    UNIT = "unit"
    STATEMENTS = "statements"
    DOCUMENT = "document"
    INSERTION = "insertion"


@dataclass(frozen=True, slots=True)
class Target:
    """The part of the request's text that a job changes, widened to whole units.

    `span` runs from column 0 of the first line to the end of the last, without its line end. `name` is the unit's
    qualified name ("Parser.parse_date"), "" if there is none. `indent` is the white space before its first line.
    `selection` is the user's selection.
    """

    kind: TargetKind
    span: Span
    name: str = ""
    indent: str = ""
    selection: Span | None = None
