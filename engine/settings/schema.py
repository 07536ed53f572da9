"""The settings: one model behind the reference, the JSON schema and the error messages.

`load` decides where the values come from, and `keys` which source may set what.
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

# Which sources other than the user may set a key. These are a project's file and all that an editor sends, since an
# editor reads settings from the opened folder too. Each key of `Settings` has one of these marks.

Anyone: JsonDict = {"set_by": "anyone"}
"""Display or wording: no value skips a check, and none allows, sends or starts anything."""
OnTrust: JsonDict = {"set_by": "trust"}
"""A project's value has no effect until the user has seen and trusted it."""
LowerOnly: JsonDict = {"set_by": "tighten", "stricter": "lower"}
"""A limit: other sources may lower it."""
HigherOnly: JsonDict = {"set_by": "tighten", "stricter": "higher"}
"""A threshold: other sources may raise it."""
OffOnly: JsonDict = {"set_by": "tighten", "stricter": [True, False]}
"""Features that spend calls or start programs: other sources may switch them off."""
FewerRepairs: JsonDict = {"set_by": "tighten", "stricter": "lower", "unset": 0}
"""A limit that the model's profile sets by default: while it is unset, other sources may only set it to 0."""
MoreQuestions: JsonDict = {"set_by": "tighten", "stricter": ["never", "auto", "always"]}
"""From the loosest to the strictest."""


class ModelSettings(Section):
    """Model calls."""

    temperature: float | None = Field(
        default=None,
        ge=0,
        le=2,
        json_schema_extra=Anyone,
        description="Temperature of every action; unset: 0.2 for generate, 0.1 otherwise.",
    )
    max_tokens: int = Field(
        default=4000, ge=16, json_schema_extra=LowerOnly, description="Maximum tokens of one reply."
    )
    embedded: Literal["auto", "tiny", "small", "off"] = Field(
        default="auto", json_schema_extra=UserOnly, description="Embedded model to use without an endpoint."
    )
    discover: bool = Field(
        default=True,
        json_schema_extra=UserOnly,
        description="Look for model servers on this machine if no endpoint is configured.",
    )
    idle_seconds: float = Field(
        default=600,
        ge=10,
        json_schema_extra=LowerOnly,
        description="Idle seconds after which the embedded model exits.",
    )
    threads: int = Field(
        default=0,
        ge=0,
        json_schema_extra=UserOnly,
        description="Threads of the embedded model; 0: one less than the number of processors.",
    )
    breaker_failures: int = Field(
        default=5,
        ge=1,
        json_schema_extra=UserOnly,
        description="Consecutive failed calls after which an endpoint is temporarily disabled.",
    )
    breaker_seconds: float = Field(
        default=30,
        gt=0,
        json_schema_extra=UserOnly,
        description="Seconds until a disabled endpoint is tried again.",
    )


class Checks(Section):
    """Checks and repairs."""

    validation: bool = Field(
        default=True,
        json_schema_extra=UserOnly,
        description="Check every edit; if false, edits are marked unchecked.",
    )
    auto_fix: bool = Field(
        default=True, json_schema_extra=OffOnly, description="Use model calls to repair what a check found."
    )
    fix_attempts: int | None = Field(
        default=None,
        ge=0,
        le=5,
        json_schema_extra=FewerRepairs,
        description="Maximum repairs per job; unset: from the model's profile, usually 2.",
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
        description="Hide syntax errors of languages for which another language server reports errors.",
    )
    format_edits: bool = Field(
        default=True,
        json_schema_extra=OffOnly,
        description="Format the changed lines of an edit in the project's style, if its files define one.",
    )
    disabled_tools: tuple[str, ...] = Field(
        default=(), json_schema_extra=UserOnly, description="Checkers, linters and formatters to disable."
    )
    trusted_workspaces: tuple[str, ...] = Field(
        default=(),
        json_schema_extra=UserOnly,
        description="Folders whose own programs may run: parsers and formatters in node_modules.",
    )
    findings: bool = Field(
        default=True,
        json_schema_extra=Anyone,
        description="Show the findings of analyze as diagnostics, not only in its report.",
    )


class Spending(Section):
    """Spending limits of jobs; 0 is no limit. Days are in UTC; costs are in the currency of the providers' prices."""

    daily_tokens: int = Field(
        default=0,
        ge=0,
        json_schema_extra=UserOnly,
        description=("Maximum tokens per day, sent and received, of all jobs."),
    )
    daily_cost: float = Field(
        default=0.0, ge=0, json_schema_extra=UserOnly, description="Maximum cost per day of all jobs."
    )
    job_cost: float = Field(default=0.0, ge=0, json_schema_extra=UserOnly, description="Maximum cost per job.")


Rule = Literal["redact", "refuse", "allow"]


class Privacy(Section):
    """What leaves with a prompt. The three rules are for endpoints by where their address is."""

    loopback: Rule = Field(
        default="redact",
        json_schema_extra=UserOnly,
        description='Secrets in prompts to a model on this machine: "redact" replaces them with placeholders, "refuse" '
        'sends no prompt that contains one, "allow" sends them unchanged.',
    )
    private: Rule = Field(
        default="redact", json_schema_extra=UserOnly, description="The same for a model in a private network."
    )
    public: Rule = Field(default="redact", json_schema_extra=UserOnly, description="The same for any other model.")
    ignore: tuple[str, ...] = Field(
        default=(),
        json_schema_extra=UserOnly,
        description=(
            "Files that are not shown to a model unless they are the target, as in a .gitignore; in "
            "addition to common secret files and a project's .stetignore."
        ),
    )

    @property
    def tells_apart(self) -> bool:
        """True if the rules differ by where an endpoint is."""
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
        "empty: the strongest available.",
    )
    python: str = Field(
        default="",
        json_schema_extra=UserOnly,
        description=(
            "Python or virtual environment for running code; empty: the first usable one of the "
            "workspace, poetry, conda, pyenv and the PATH."
        ),
    )
    packages: tuple[str, ...] = Field(
        default=(),
        json_schema_extra=UserOnly,
        description=(
            "Packages to install for runs without a question, besides the project's dependencies and "
            "well-known ones; as wheels, in Stet's own folder."
        ),
    )
    package_days: int = Field(
        default=7,
        ge=0,
        json_schema_extra=UserOnly,
        description="Minimum age in days of packages outside the project's dependencies; 0: none.",
    )
    environments_mb: int = Field(
        default=2048, ge=64, json_schema_extra=UserOnly, description="Maximum megabytes of cached packages."
    )


class MemorySettings(Section):
    """Remembered solutions."""

    enabled: bool = Field(default=True, json_schema_extra=UserOnly, description="Remember solutions and use them.")
    uri: str = Field(
        default="",
        json_schema_extra=UserOnly,
        description=(
            "Folder of the store; empty: in the user's data folder. An object store's address is used as team_uri."
        ),
    )
    team_uri: str = Field(
        default="",
        json_schema_extra=UserOnly,
        description="A team's table, searched in addition to your own: a shared folder, or an object store's address "
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
        description="Time without an undo after which an edit counts as kept.",
    )
    scope: Literal["workspace", "global"] = Field(
        default="workspace",
        json_schema_extra=UserOnly,
        description="Scope of the solutions to use and to keep.",
    )
    max_solutions: int = Field(
        default=10000, ge=1, json_schema_extra=UserOnly, description="Maximum number of solutions."
    )
    min_score: float = Field(
        default=0.70,
        ge=0,
        le=1,
        json_schema_extra=HigherOnly,
        description="Minimum similarity of a solution to be used in a prompt.",
    )
    embedder: Literal["auto", "onnx", "sentence-transformers", "endpoint", "none"] = Field(
        default="auto",
        json_schema_extra=UserOnly,
        description='Embedder: "auto" uses onnx or sentence-transformers, if installed; "endpoint" uses embedding_url; '
        '"none" compares words.',
    )
    embedding_model: str = Field(
        default="all-MiniLM-L6-v2",
        json_schema_extra=UserOnly,
        description="Embedding model: its name at the endpoint, or a folder for sentence-transformers.",
    )
    embedding_url: str = Field(
        default="",
        json_schema_extra=UserOnly,
        description=(
            "OpenAI-compatible endpoint for embeddings, with its version path. It receives stored texts and searches."
        ),
    )
    embedding_key_env: str = Field(
        default="", json_schema_extra=UserOnly, description="Environment variable with its key."
    )
    idle_seconds: float = Field(
        default=600,
        ge=10,
        json_schema_extra=UserOnly,
        description="Idle seconds after which the memory's process exits.",
    )


class LogSettings(Section):
    """The log file."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", json_schema_extra=UserOnly, description="Minimum log level."
    )
    prompts: bool = Field(default=False, json_schema_extra=UserOnly, description="Log prompts and replies, too.")
    format: Literal["text", "json"] = Field(
        default="text",
        json_schema_extra=UserOnly,
        description="Text, or one JSON object per line.",
    )


class TraceSettings(Section):
    """The records of jobs on this machine; see `stet trace`."""

    enabled: bool = Field(default=True, json_schema_extra=UserOnly, description="Keep a record of each job.")
    keep: int = Field(default=200, ge=1, le=10000, json_schema_extra=UserOnly, description="Number of records to keep.")


class EditorSettings(Section):
    """Editor integration."""

    preview: Literal["auto", "always", "never"] = Field(
        default="auto", json_schema_extra=MoreQuestions, description="When to ask before an edit is applied."
    )
    code_lens: bool = Field(
        default=True,
        json_schema_extra=Anyone,
        description="Show evidence above code that an edit changed, until the code changes again.",
    )


class Settings(Section):
    """All settings."""

    providers: tuple[Provider, ...] = Field(
        default=(), json_schema_extra=UserOnly, description="Endpoints, in the order of use."
    )
    models: tuple[ModelRow, ...] = Field(
        default=(), json_schema_extra=UserOnly, description="Settings of single models; the last match wins."
    )
    checkers: tuple[CheckerRow, ...] = Field(
        default=(),
        json_schema_extra=UserOnly,
        description="Additional checkers, linters and formatters; they run before the built-in ones.",
    )
    programs: tuple[ProgramRow, ...] = Field(
        default=(), json_schema_extra=UserOnly, description="Programs to run instead of those on PATH."
    )
    actions: tuple[ActionRow, ...] = Field(
        default=(),
        json_schema_extra=OnTrust,
        description="Additional actions, from the user's file or the project's (which needs trust).",
    )
    deadline: Annotated[float, Field(gt=0)] = Field(
        default=30.0,
        json_schema_extra=LowerOnly,
        description="Maximum seconds per job on a fast endpoint; more for a slow one, by its measured speed.",
    )
    jobs_at_once: int = Field(
        default=4,
        ge=1,
        json_schema_extra=UserOnly,
        description="Jobs that may call models at the same time; others wait. The embedded model runs one.",
    )
    spending: Spending = Field(default=Spending(), description="Limits on tokens and cost.")
    model: ModelSettings = Field(default=ModelSettings(), description="Model calls.")
    checks: Checks = Field(default=Checks(), description="Checks and repairs.")
    privacy: Privacy = Field(default=Privacy(), description="Contents of prompts.")
    sandbox: SandboxSettings = Field(default=SandboxSettings(), description="Running untrusted code.")
    memory: MemorySettings = Field(default=MemorySettings(), description="Remembered solutions.")
    log: LogSettings = Field(default=LogSettings(), description="The log file.")
    trace: TraceSettings = Field(default=TraceSettings(), description="Job records.")
    metrics_port: int = Field(
        default=0,
        ge=0,
        le=65535,
        json_schema_extra=UserOnly,
        description="Port on 127.0.0.1 for Prometheus metrics; 0 disables it.",
    )
    editor: EditorSettings = Field(default=EditorSettings(), description="Editor integration.")
