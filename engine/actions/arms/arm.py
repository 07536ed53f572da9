"""An arm as the router sees it, what it gets of a step, and the schemas of what goes in and out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from pydantic import BaseModel, ConfigDict, Field

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.arms import ArmHealth, ArmSpec
from stet_ls.engine.api.plan import Plan, PlanStep
from stet_ls.engine.job.job import Job

if TYPE_CHECKING:
    from stet_ls.engine.actions.planning.workspace_overlay import WorkspaceOverlay
    from stet_ls.engine.execution.runtime_provider import RuntimeProvider
    from stet_ls.engine.model.model_source import ModelSource
    from stet_ls.engine.workspace.symbol_index import SymbolIndex


class StepInput(BaseModel):
    """What an arm gets of a step."""

    model_config = ConfigDict(frozen=True)

    action: str = Field(description="What to do: one of the steps that `stet.capabilities` lists.")
    instruction: str = Field(description="What to do there, as text.")
    file: str = Field(description="The file to work on, relative to the root.")
    unit: str = Field(default="", description="The function, method or class to change; empty for a new one.")
    language: str = Field(default="", description="The language of the file, as an LSP language id.")
    files: dict[str, str] = Field(default_factory=dict, description="The texts of the files of the step, by path.")
    constraints: tuple[str, ...] = Field(default=(), description="What the result must meet.")
    context: dict[str, str] = Field(default_factory=dict, description="What earlier steps found, by name.")


class StepOutput(BaseModel):
    """What an arm returns: new texts of files, which are judged, and what it found."""

    model_config = ConfigDict(frozen=True)

    summary: str = Field(default="", description="What was done, in a sentence.")
    files: dict[str, str] = Field(default_factory=dict, description="New texts of files, by path relative to the root.")
    report: str = Field(default="", description="What was found, as Markdown, for later steps and the user.")


@dataclass(frozen=True, slots=True)
class StepRun:
    """One step as an arm gets it: `job` is the step's own, with the texts as earlier steps left them.

    `notes` are the reports of earlier steps, by a name for the prompt.
    """

    job: Job
    step: PlanStep
    plan: Plan
    overlay: WorkspaceOverlay
    notes: Mapping[str, str] = field(default_factory=dict)


class ArmNeeds(Protocol):
    """What the health of an arm depends on: a job has it, and the engine."""

    @property
    def models(self) -> ModelSource:
        """The models that answer calls."""

    @property
    def runtimes(self) -> RuntimeProvider | None:
        """Where code runs; None if none may."""

    @property
    def index(self) -> SymbolIndex | None:
        """The symbols of the workspace."""


async def healthy(needs: ArmNeeds) -> ArmHealth:
    """The health of an arm that needs nothing but the engine."""
    return ArmHealth()


@dataclass(frozen=True, slots=True)
class Arm:
    """An arm: what it declares, what it does, and whether it can work now."""

    spec: ArmSpec
    run: Callable[[StepRun], Awaitable[Answer]]
    health: Callable[[ArmNeeds], Awaitable[ArmHealth]] = healthy
    source: str = "built in"
