"""The settings: one model from which the reference, the JSON schema and the error messages are made.

Where the values come from, and which source may set what, is the business of `configuration`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from pydantic.config import JsonDict

from stet_ls.engine.settings.table_schemas import (
    ActionRow,
    CheckerRow,
    ModelRow,
    ProgramRow,
    Provider,
    Section,
    UserOnly,
)

# Who may set a key beside its user, who may set them all. Everybody else is a project's file, and whatever an editor
# sends: an editor reads settings from the opened folder too. Each key of `Settings` has one of these marks.

Anyone: JsonDict = {"set_by": "anyone"}
"""How something is shown or worded: no value lets an edit go unjudged, and none allows, sends or starts anything."""
OnTrust: JsonDict = {"set_by": "trust"}
"""A project's value waits until its user has seen and trusted it."""
LowerOnly: JsonDict = {"set_by": "tighten", "stricter": "lower"}
"""A limit: others may lower it."""
HigherOnly: JsonDict = {"set_by": "tighten", "stricter": "higher"}
"""A threshold: others may raise it."""
OffOnly: JsonDict = {"set_by": "tighten", "stricter": [True, False]}
"""What spends calls or starts programs: others may switch it off."""
FewerRepairs: JsonDict = {"set_by": "tighten", "stricter": "lower", "unset": 0}
"""A limit that the model's profile knows where it is unset: then others may only set it to 0."""
MoreQuestions: JsonDict = {"set_by": "tighten", "stricter": ["never", "auto", "always"]}
"""From the loosest to the strictest."""


class ModelSettings(Section):
    """How models are asked."""

    temperature: float | None = Field(
        default=None,
        ge=0,
        le=2,
        json_schema_extra=Anyone,
        description="Overrides the temperature of every action; unset: 0.2 to generate, 0.1 otherwise.",
    )
    max_tokens: int = Field(default=4000, ge=16, json_schema_extra=LowerOnly, description="Most tokens of one reply.")
    embedded: Literal["auto", "tiny", "small", "off"] = Field(
        default="auto", json_schema_extra=UserOnly, description="Which embedded model serves when no endpoint does."
    )
    discover: bool = Field(
        default=True,
        json_schema_extra=UserOnly,
        description="Look for model servers on loopback when none is configured.",
    )
    idle_seconds: float = Field(
        default=600,
        ge=10,
        json_schema_extra=LowerOnly,
        description="The embedded model leaves after this long without work.",
    )
    threads: int = Field(
        default=0,
        ge=0,
        json_schema_extra=UserOnly,
        description="Threads of the embedded model; 0 takes all processors but one, at least one.",
    )
    breaker_failures: int = Field(
        default=5,
        ge=1,
        json_schema_extra=UserOnly,
        description="Disable an endpoint temporarily after this many failed calls in a row.",
    )
    breaker_seconds: float = Field(
        default=30,
        gt=0,
        json_schema_extra=UserOnly,
        description="Seconds for which it is disabled before one call retries it.",
    )


class Checks(Section):
    """Validation and repair."""

    validation: bool = Field(
        default=True,
        json_schema_extra=UserOnly,
        description="Judge every candidate; without it edits say that they are unchecked.",
    )
    auto_fix: bool = Field(
        default=True, json_schema_extra=OffOnly, description="Spend model calls on repairing what a judge found."
    )
    fix_attempts: int | None = Field(
        default=None,
        ge=0,
        le=5,
        json_schema_extra=FewerRepairs,
        description="Most repairs of one job; unset: what the model's profile says, mostly 2.",
    )
    live: bool = Field(default=True, json_schema_extra=Anyone, description="Show syntax errors while typing.")
    live_off: tuple[str, ...] = Field(
        default=(),
        json_schema_extra=Anyone,
        description="Languages without live syntax errors, for example because another server reports them.",
    )
    live_yield: bool = Field(
        default=True,
        json_schema_extra=Anyone,
        description="Show no syntax errors of a language whose errors another server of the editor was seen to report.",
    )
    format_edits: bool = Field(
        default=True,
        json_schema_extra=OffOnly,
        description="Format the changed lines of an edit as the project does, where its files show how.",
    )
    disabled_tools: tuple[str, ...] = Field(
        default=(), json_schema_extra=UserOnly, description="Checkers, linters and formatters that are never started."
    )
    trusted_workspaces: tuple[str, ...] = Field(
        default=(),
        json_schema_extra=UserOnly,
        description="Folders whose own programs may be started: parsers and formatters in node_modules.",
    )
    findings: bool = Field(
        default=True,
        json_schema_extra=Anyone,
        description="Show what analyze found as diagnostics, not only in its report.",
    )


class Spending(Section):
    """What jobs may spend; 0 is no limit. Days are those of UTC; costs are in the currency of the providers' prices."""

    daily_tokens: int = Field(
        default=0, ge=0, json_schema_extra=UserOnly, description="Most tokens of a day, sent and received, of all jobs."
    )
    daily_cost: float = Field(
        default=0.0, ge=0, json_schema_extra=UserOnly, description="Most that the jobs of a day may cost together."
    )
    job_cost: float = Field(default=0.0, ge=0, json_schema_extra=UserOnly, description="Most that one job may cost.")


Rule = Literal["redact", "refuse", "allow"]


class Privacy(Section):
    """What leaves with a prompt. The three rules are for endpoints by where their address is."""

    loopback: Rule = Field(
        default="redact",
        json_schema_extra=UserOnly,
        description='What a model on this machine gets of secrets: "redact" replaces them by placeholders, "refuse" '
        'sends no prompt that holds one, "allow" sends them as they are.',
    )
    private: Rule = Field(
        default="redact", json_schema_extra=UserOnly, description="The same for a model in a private network."
    )
    public: Rule = Field(default="redact", json_schema_extra=UserOnly, description="The same for any other model.")
    ignore: tuple[str, ...] = Field(
        default=(),
        json_schema_extra=UserOnly,
        description="Files that are never shown to a model unless they are the target, as in a .gitignore; beside them "
        "the common names of secret files, and those that a project's .stetignore names.",
    )

    @property
    def tells_apart(self) -> bool:
        """True if it matters where an endpoint is."""
        return {self.loopback, self.private, self.public} != {"redact"}


class SandboxSettings(Section):
    """Running untrusted code."""

    minimum_level: Literal["none", "partial", "strong", "full"] = Field(
        default="strong", json_schema_extra=UserOnly, description="The weakest isolation in which code may run."
    )
    backend: str = Field(
        default="",
        json_schema_extra=UserOnly,
        description="The sandbox backend: bubblewrap, landlock, sandbox-exec, podman:IMAGE or docker:IMAGE; "
        "empty: the strongest that works here.",
    )
    python: str = Field(
        default="",
        json_schema_extra=UserOnly,
        description="The Python, or the virtual environment, that code is run with; empty: the first that works of the "
        "workspace's environment and those of poetry, conda, pyenv and the PATH.",
    )
    packages: tuple[str, ...] = Field(
        default=(),
        json_schema_extra=UserOnly,
        description="Packages that may be installed for a run without a question, beside the project's dependencies "
        "and well-known ones. Wheels only, never outside of Stet's own folder.",
    )
    package_days: int = Field(
        default=7,
        ge=0,
        json_schema_extra=UserOnly,
        description="Days that a package which is none of the project's must have been on the index; 0: none.",
    )
    environments_mb: int = Field(
        default=2048, ge=64, json_schema_extra=UserOnly, description="Most megabytes of packages that are kept."
    )


class MemorySettings(Section):
    """Remembered solutions."""

    enabled: bool = Field(default=True, json_schema_extra=UserOnly, description="Remember solutions and use them.")
    uri: str = Field(
        default="",
        json_schema_extra=UserOnly,
        description="The folder of the store; empty: in the user's data folder. An object store's address is taken "
        "for team_uri.",
    )
    team_uri: str = Field(
        default="",
        json_schema_extra=UserOnly,
        description="A team's table, searched beside one's own: a shared folder, or an object store's address "
        "(s3://, gs://, az://), with the keys of the environment.",
    )
    team_access: Literal["read", "write"] = Field(
        default="read",
        json_schema_extra=UserOnly,
        description="Whether jobs only search the team's table, or also add kept solutions to it.",
    )
    stands_seconds: float = Field(
        default=60,
        ge=0,
        json_schema_extra=UserOnly,
        description="After this long without an undo an edit counts as what its user wanted.",
    )
    scope: Literal["workspace", "global"] = Field(
        default="workspace",
        json_schema_extra=UserOnly,
        description="Whose solutions are used, and for whom they are kept.",
    )
    max_solutions: int = Field(default=10000, ge=1, json_schema_extra=UserOnly, description="Most solutions kept.")
    min_score: float = Field(
        default=0.70,
        ge=0,
        le=1,
        json_schema_extra=HigherOnly,
        description="Least similarity for a solution to enter a prompt.",
    )
    embedder: Literal["auto", "onnx", "sentence-transformers", "endpoint", "none"] = Field(
        default="auto",
        json_schema_extra=UserOnly,
        description='What turns text into vectors: "auto" takes onnx or sentence-transformers, whichever is installed; '
        '"endpoint" asks embedding_url; "none" compares words.',
    )
    embedding_model: str = Field(
        default="all-MiniLM-L6-v2",
        json_schema_extra=UserOnly,
        description="The embedder's model: its name at the endpoint, or a folder for sentence-transformers.",
    )
    embedding_url: str = Field(
        default="",
        json_schema_extra=UserOnly,
        description="An OpenAI-compatible endpoint for embeddings, with its version path. Stored texts and searches "
        "go there.",
    )
    embedding_key_env: str = Field(
        default="", json_schema_extra=UserOnly, description="The environment variable that holds its key."
    )
    idle_seconds: float = Field(
        default=600,
        ge=10,
        json_schema_extra=UserOnly,
        description="The memory's process leaves after this long without work.",
    )


class LogSettings(Section):
    """The log file."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", json_schema_extra=UserOnly, description="Least severity that is written."
    )
    prompts: bool = Field(
        default=False, json_schema_extra=UserOnly, description="Write prompts and replies to the log too."
    )
    format: Literal["text", "json"] = Field(
        default="text",
        json_schema_extra=UserOnly,
        description="Lines for people, or a JSON object on each line for programs.",
    )


class TraceSettings(Section):
    """The records that jobs leave on this machine; see `stet trace`."""

    enabled: bool = Field(default=True, json_schema_extra=UserOnly, description="Keep a record of each job.")
    keep: int = Field(default=200, ge=1, le=10000, json_schema_extra=UserOnly, description="The last so many are kept.")


class EditorSettings(Section):
    """How answers reach the editor."""

    preview: Literal["auto", "always", "never"] = Field(
        default="auto", json_schema_extra=MoreQuestions, description="When to ask before an edit is applied."
    )
    code_lens: bool = Field(
        default=True,
        json_schema_extra=Anyone,
        description="Show what was proven above code that an edit changed, until it changes again.",
    )


class Settings(Section):
    """Everything that can be set."""

    providers: tuple[Provider, ...] = Field(
        default=(), json_schema_extra=UserOnly, description="Endpoints in the order in which they are asked."
    )
    models: tuple[ModelRow, ...] = Field(
        default=(), json_schema_extra=UserOnly, description="Settings of single models; the last row that fits wins."
    )
    checkers: tuple[CheckerRow, ...] = Field(
        default=(),
        json_schema_extra=UserOnly,
        description="Checkers, linters and formatters beside the built-in ones; they come first.",
    )
    programs: tuple[ProgramRow, ...] = Field(
        default=(), json_schema_extra=UserOnly, description="Programs to start instead of those on PATH."
    )
    actions: tuple[ActionRow, ...] = Field(
        default=(),
        json_schema_extra=OnTrust,
        description="Actions beside the built-in ones, of the user's file and of the project's, which asks for trust.",
    )
    deadline: Annotated[float, Field(gt=0)] = Field(
        default=30.0,
        json_schema_extra=LowerOnly,
        description="Seconds a job may take on a fast endpoint; stretched by the measured speed of a slow one.",
    )
    jobs_at_once: int = Field(
        default=4,
        ge=1,
        json_schema_extra=UserOnly,
        description="Jobs that may ask models at the same time; others wait in line. The embedded model takes one.",
    )
    spending: Spending = Field(default=Spending(), description="What jobs may spend.")
    model: ModelSettings = Field(default=ModelSettings(), description="How models are asked.")
    checks: Checks = Field(default=Checks(), description="Validation and repair.")
    privacy: Privacy = Field(default=Privacy(), description="What leaves with a prompt.")
    sandbox: SandboxSettings = Field(default=SandboxSettings(), description="Running untrusted code.")
    memory: MemorySettings = Field(default=MemorySettings(), description="Remembered solutions.")
    log: LogSettings = Field(default=LogSettings(), description="The log file.")
    trace: TraceSettings = Field(default=TraceSettings(), description="The records that jobs leave.")
    metrics_port: int = Field(
        default=0,
        ge=0,
        le=65535,
        json_schema_extra=UserOnly,
        description="Port on 127.0.0.1 for Prometheus metrics; 0 disables it.",
    )
    editor: EditorSettings = Field(default=EditorSettings(), description="How answers reach the editor.")
