"""The validated arguments of the commands. Imported late: pydantic takes too long for the handshake."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from stet_ls.engine.api.budget import Budget

Natural = Annotated[int, Field(ge=0, strict=True)]


class Params(BaseModel):
    """The single argument object of a command. The error for an unknown field names the most similar one."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _only_known_fields(cls, data: Any) -> Any:
        if isinstance(data, Mapping):
            for key in data:
                if key not in cls.model_fields:
                    raise PydanticCustomError("unknown_field", "{hint}", {"hint": _unknown(str(key), cls.model_fields)})
        return data


class Position(BaseModel):
    """A position in a document: line and column from 0, the column in units of the negotiated encoding."""

    model_config = ConfigDict(frozen=True)

    line: Natural
    character: Natural


class Range(BaseModel):
    """A half-open range of a document."""

    model_config = ConfigDict(frozen=True)

    start: Position
    end: Position


class DiagnosticParams(BaseModel):
    """A diagnostic of any server, as the client passes it on; other fields are ignored."""

    model_config = ConfigDict(frozen=True)

    range: Range
    message: str
    severity: int | None = None
    source: str | None = None
    code: int | str | None = None


class TargetParams(Params):
    """Selects a place in a document."""

    uri: str | None = Field(default=None, min_length=1, description="The document; default: the one last used.")
    range: Range | None = Field(default=None, description="The selection.")
    position: Position | None = Field(default=None, description="The cursor, if nothing is selected.")


class ActionParams(TargetParams):
    """The argument of every command that starts a job."""

    instruction: str = Field(default="", description="What to do, as text.")
    constraints: tuple[str, ...] = Field(default=(), description="Conditions for the result.")
    context: dict[str, str] = Field(default_factory=dict, description="More context for the model, by name.")
    diagnostics: tuple[DiagnosticParams, ...] = Field(default=(), description="The diagnostics to fix.")
    budget: Budget = Field(default=Budget.STANDARD, description="The job's budget.")
    preview: Literal["auto", "always", "never"] | None = Field(
        default=None, description="When to ask before the edit is applied; default: the setting."
    )
    fresh: bool = Field(default=False, description="Whether to ask the model even if it was asked the same before.")


class TaskParams(ActionParams):
    """The argument of the commands that start a task."""

    plan: str = Field(default="", description="The plan to do, as `stet.plan` returns it; default: the model's.")
    files: tuple[str, ...] = Field(
        default=(), description="Further files that the task is about, as paths, relative ones from the open folder."
    )
    libraries: tuple[str, ...] = Field(default=(), description="Packages that the task requires.")
    after: tuple[str, ...] = Field(default=(), description="Ids of earlier tasks whose results are context.")
    task: str = Field(default="", description="Id of an earlier task to resume.")
    plan_only: bool = Field(default=False, strict=True, description="Return the plan and do nothing.")
    priority: Literal["low", "normal", "high"] | None = Field(
        default=None, description="Whose model calls go first; default: what the plan says, or normal."
    )
    deadline: float | None = Field(
        default=None, gt=0, description="Seconds after which no further step starts; default: what the plan says."
    )


class TaskIdParams(Params):
    """Selects a task."""

    id: str = Field(min_length=1, description="The task's id, or its beginning.")


class ResumeParams(TaskIdParams):
    """Selects a task to resume."""

    plan: str = Field(default="", description="The plan as the user edited it; default: the one of the task.")


class CustomParams(ActionParams):
    """Any action by its name; `stet.showPrompt` takes the same."""

    action: str = Field(min_length=1, description="The action's name, as stet.capabilities lists it.")


class JobParams(Params):
    """A job by its id."""

    job: str = Field(min_length=1, description="The id that the start command returned.")


class ResultParams(JobParams):
    """Asks for a job's result."""

    wait: bool = Field(default=False, strict=True, description="Respond only when the job has ended.")


class EvidenceParams(Params):
    """Selects the evidence to show."""

    job: str | None = Field(default=None, min_length=1, description="The job; default: the last one with evidence.")
    check: str = Field(
        default="", description=("One check (tests, differential …), whose files open, too; default: all.")
    )


class ApplyParams(Params):
    """Selects the edit to apply."""

    job: str | None = Field(
        default=None, min_length=1, description="The job; default: the last one that waits for confirmation."
    )
    files: tuple[str, ...] = Field(default=(), description="The files to change, by name or path; default: all.")
    steps: tuple[int, ...] = Field(default=(), description="The steps of a task to apply; default: all.")


class RetryParams(JobParams):
    """Runs a job again on the current document."""

    instruction: str = Field(default="", description="Replaces the job's instruction.")


class ClearParams(Params):
    """Selects the findings of analyze to remove."""

    uri: str | None = Field(default=None, min_length=1, description="The document; default: all.")


class VerifyParams(Params):
    """Selects the change to verify."""

    uri: str | None = Field(default=None, min_length=1, description="The document; default: the one last used.")
    scope: Literal["file", "workspace", "staged"] = Field(
        default="file", description="The changes of the document, of its whole project, or what is staged."
    )
    intent: Literal["", "docs", "feature", "fix", "perf", "refactor", "test"] = Field(
        default="", description="What the change claims to be."
    )
    quiet: bool = Field(default=False, strict=True, description="Show no message, as after a file was saved.")


class MemorySearchParams(Params):
    """A search among remembered solutions."""

    query: str = Field(min_length=1, description="The search text.")
    language: str | None = Field(default=None, description="Only solutions in this language.")
    limit: int = Field(default=5, ge=1, le=100, strict=True, description="Most results.")


class MemoryForgetParams(Params):
    """Forgets one solution."""

    id: str = Field(min_length=1, description="The solution's id.")


class DownloadParams(Params):
    """Selects an embedded model."""

    name: str = Field(min_length=1, description="The model's name, as `stet.models` lists it.")


class SetupParams(Params):
    """Chooses a model; without fields the user is asked."""

    embedded: str | None = Field(default=None, description="The embedded model, as `stet.models` lists it.")
    url: str | None = Field(default=None, pattern=r"^https?://\S+$", description="An endpoint, with its version path.")
    model: str = Field(default="", description="The endpoint's model.")
    key: str = Field(default="", description="The endpoint's key, for the system's keyring; or `$NAME` of a variable.")
    forget: bool = Field(default=False, description="Go back to what the user's settings say.")


class NoParams(Params):
    """The argument of commands that take none: an empty object is accepted."""


def _unknown(key: str, known: Mapping[str, object]) -> str:
    close = get_close_matches(key, known, n=1)
    if close:
        return f"{key}: unknown field; did you mean {close[0]!r}?"
    return (
        f"{key}: unknown field; expected one of {', '.join(known)}." if known else f"{key}: this command has no fields."
    )
