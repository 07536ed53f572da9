"""The settings: one model behind the reference, the JSON schema and the error messages."""

from __future__ import annotations

from typing import Any, Literal

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


def _key(default: Any, set_by: JsonDict, description: str, **limits: Any) -> Any:
    """One setting; `set_by` is one of the marks above, `limits` are pydantic's."""
    return Field(default, json_schema_extra=set_by, description=description, **limits)


class ModelSettings(Section):
    """Model calls."""

    temperature: float | None = _key(
        None, Anyone, "Temperature of every action; unset: 0.2 for generate, 0.1 otherwise.", ge=0, le=2
    )
    max_tokens: int = _key(4000, LowerOnly, "Maximum tokens of one reply.", ge=16)
    cache: bool = _key(True, OffOnly, "Answer a request that is identical to an earlier one with the same reply.")
    cache_days: float = _key(30, LowerOnly, "Days after which a reply in the cache expires and is deleted.", gt=0)
    embedded: str = _key(
        "auto",
        UserOnly,
        'Embedded model to use without an endpoint: a name that `stet model list` shows, "auto" for your own or the '
        'largest that is installed, or "off".',
    )
    discover: bool = _key(True, UserOnly, "Look for model servers on this machine if no endpoint is configured.")
    idle_seconds: float = _key(600, LowerOnly, "Idle seconds after which the embedded model exits.", ge=10)
    threads: int = _key(
        0, UserOnly, "Threads of the embedded model; 0: all of two processors, else one less than there are.", ge=0
    )
    breaker_failures: int = _key(
        5, UserOnly, "Consecutive failed calls after which an endpoint is temporarily disabled.", ge=1
    )
    breaker_seconds: float = _key(30, UserOnly, "Seconds until a disabled endpoint is tried again.", gt=0)


class Checks(Section):
    """Checks and repairs."""

    validation: bool = _key(True, UserOnly, "Check every edit; if false, edits are marked unchecked.")
    auto_fix: bool = _key(True, OffOnly, "Use model calls to repair what a check found.")
    fix_attempts: int | None = _key(
        None, FewerRepairs, "Maximum repairs per job; unset: from the model's profile, usually 2.", ge=0, le=5
    )
    live: bool = _key(True, Anyone, "Show syntax errors while typing.")
    live_off: tuple[str, ...] = _key(
        (), Anyone, "Languages without live syntax errors, for example because another server reports them."
    )
    live_yield: bool = _key(
        True, Anyone, "Hide syntax errors of languages for which another language server reports errors."
    )
    search: bool = _key(True, OffOnly, "Search small edits that fix a reproduced failure before a model is asked.")
    example_calls: bool = _key(
        True,
        OffOnly,
        "Ask the model for example calls if all other inputs of a comparison reach less than half of a change.",
    )
    format_edits: bool = _key(
        True, OffOnly, "Format the changed lines of an edit in the project's style, if its files define one."
    )
    coverage: bool = _key(
        False, UserOnly, "Analyze runs the tests that use a file, in the sandbox, and measures which lines they reach."
    )
    review: Literal["off", "thorough", "task"] = _key(
        "thorough",
        UserOnly,
        'When a reviewer reads an edit and may have it refined: "thorough" at that budget, "task" in the steps of '
        'tasks too, "off" never.',
    )
    disabled_tools: tuple[str, ...] = _key((), UserOnly, "Checkers, linters and formatters to disable.")
    trusted_workspaces: tuple[str, ...] = _key(
        (), UserOnly, "Folders whose own programs may run: parsers and formatters in node_modules."
    )
    findings: bool = _key(True, Anyone, "Show the findings of analyze as diagnostics, not only in its report.")


class Spending(Section):
    """Spending limits of jobs; 0 is no limit. Days are in UTC; costs are in the currency of the providers' prices."""

    daily_tokens: int = _key(0, UserOnly, "Maximum tokens per day, sent and received, of all jobs.", ge=0)
    daily_cost: float = _key(0.0, UserOnly, "Maximum cost per day of all jobs.", ge=0)
    job_cost: float = _key(0.0, UserOnly, "Maximum cost per job.", ge=0)


Rule = Literal["redact", "refuse", "allow"]


class Privacy(Section):
    """What leaves with a prompt. The three rules are for endpoints by where their address is."""

    loopback: Rule = _key(
        "redact",
        UserOnly,
        'Secrets in prompts to a model on this machine: "redact" replaces them with placeholders, "refuse" '
        'sends no prompt that contains one, "allow" sends them unchanged.',
    )
    private: Rule = _key("redact", UserOnly, "The same for a model in a private network.")
    public: Rule = _key("redact", UserOnly, "The same for any other model.")
    ignore: tuple[str, ...] = _key(
        (),
        UserOnly,
        "Files that are not shown to a model unless they are the target, as in a .gitignore; in addition to "
        "common secret files and a project's .stetignore.",
    )

    @property
    def differs_by_address(self) -> bool:
        """True if the rules differ by where an endpoint is."""
        return {self.loopback, self.private, self.public} != {"redact"}


class SandboxSettings(Section):
    """Running untrusted code."""

    minimum_level: Literal["none", "partial", "strong", "full"] = _key(
        "strong", UserOnly, "The weakest isolation in which code may run."
    )
    backend: str = _key(
        "",
        UserOnly,
        "The sandbox backend: bubblewrap, landlock, sandbox-exec, podman:IMAGE or docker:IMAGE; empty: the "
        "strongest available.",
    )
    python: str = _key(
        "",
        UserOnly,
        "Python or virtual environment for running code; empty: the first usable one of the workspace, "
        "poetry, conda, pyenv and the PATH.",
    )
    packages: tuple[str, ...] = _key(
        (),
        UserOnly,
        "Packages to install for runs without a question, besides the project's dependencies and well-known "
        "ones; as wheels, in Stet's own folder.",
    )
    package_days: int = _key(
        7, UserOnly, "Minimum age in days of packages outside the project's dependencies; 0: none.", ge=0
    )
    environments_mb: int = _key(2048, UserOnly, "Maximum megabytes of cached packages.", ge=64)


class MemorySettings(Section):
    """Remembered solutions."""

    enabled: bool = _key(True, UserOnly, "Remember solutions and use them.")
    uri: str = _key(
        "",
        UserOnly,
        "Folder of the store; empty: in the user's data folder. An object store's address is used as team_uri.",
    )
    team_uri: str = _key(
        "",
        UserOnly,
        "A team's table, searched in addition to your own: a shared folder, or an object store's address "
        "(s3://, gs://, az://), with the keys of the environment.",
    )
    team_access: Literal["read", "write"] = _key(
        "read", UserOnly, "Whether jobs only search the team's table, or also add kept solutions to it."
    )
    stands_seconds: float = _key(60, UserOnly, "Time without an undo after which an edit counts as kept.", ge=0)
    scope: Literal["workspace", "global"] = _key("workspace", UserOnly, "Scope of the solutions to use and to keep.")
    max_solutions: int = _key(10000, UserOnly, "Maximum number of solutions.", ge=1)
    min_score: float = _key(0.70, HigherOnly, "Minimum similarity of a solution to be used in a prompt.", ge=0, le=1)
    embedder: Literal["auto", "onnx", "sentence-transformers", "endpoint", "none"] = _key(
        "auto",
        UserOnly,
        'Embedder: "auto" uses onnx or sentence-transformers, if installed; "endpoint" uses embedding_url; '
        '"none" compares words.',
    )
    embedding_model: str = _key(
        "all-MiniLM-L6-v2",
        UserOnly,
        "Embedding model: its name at the endpoint, or a folder for sentence-transformers.",
    )
    embedding_url: str = _key(
        "",
        UserOnly,
        "OpenAI-compatible endpoint for embeddings, with its version path. It receives stored texts and searches.",
    )
    embedding_key_env: str = _key("", UserOnly, "Environment variable with its key.")
    idle_seconds: float = _key(600, UserOnly, "Idle seconds after which the memory's process exits.", ge=10)


class LogSettings(Section):
    """The log file."""

    level: Literal["debug", "info", "warning", "error"] = _key("info", UserOnly, "Minimum log level.")
    prompts: bool = _key(False, UserOnly, "Log prompts and replies, too.")
    format: Literal["text", "json"] = _key("text", UserOnly, "Text, or one JSON object per line.")


class TraceSettings(Section):
    """The records of jobs on this machine; see `stet trace`."""

    enabled: bool = _key(True, UserOnly, "Keep a record of each job.")
    keep: int = _key(200, UserOnly, "Number of records to keep.", ge=1, le=10000)


class EditorSettings(Section):
    """Editor integration."""

    preview: Literal["auto", "always", "never"] = _key("auto", MoreQuestions, "When to ask before an edit is applied.")
    code_lens: bool = _key(True, Anyone, "Show evidence above code that an edit changed, until the code changes again.")
    verify_on_save: bool = _key(False, UserOnly, "Verify the changes of a file when it is saved; see docs/verify.md.")
    inline_completion: bool = _key(
        False, UserOnly, "Suggest code at the cursor while typing; checked for syntax and names. Asks the model often."
    )


class Settings(Section):
    """All settings."""

    providers: tuple[Provider, ...] = _key((), UserOnly, "Endpoints, in the order of use.")
    models: tuple[ModelRow, ...] = _key((), UserOnly, "Settings of single models; the last match wins.")
    checkers: tuple[CheckerRow, ...] = _key(
        (), UserOnly, "Additional checkers, linters and formatters; they run before the built-in ones."
    )
    programs: tuple[ProgramRow, ...] = _key((), UserOnly, "Programs to run instead of those on PATH.")
    actions: tuple[ActionRow, ...] = _key(
        (), OnTrust, "Additional actions, from the user's file or the project's (which needs trust)."
    )
    deadline: float = _key(
        30.0, LowerOnly, "Maximum seconds per job on a fast endpoint; more for a slow one, by its measured speed.", gt=0
    )
    jobs_at_once: int = _key(
        4, UserOnly, "Jobs that may call models at the same time; others wait. The embedded model runs one.", ge=1
    )
    spending: Spending = Field(default=Spending(), description="Limits on tokens and cost.")
    model: ModelSettings = Field(default=ModelSettings(), description="Model calls.")
    checks: Checks = Field(default=Checks(), description="Checks and repairs.")
    privacy: Privacy = Field(default=Privacy(), description="Contents of prompts.")
    sandbox: SandboxSettings = Field(default=SandboxSettings(), description="Running untrusted code.")
    memory: MemorySettings = Field(default=MemorySettings(), description="Remembered solutions.")
    log: LogSettings = Field(default=LogSettings(), description="The log file.")
    trace: TraceSettings = Field(default=TraceSettings(), description="Job records.")
    metrics_port: int = _key(0, UserOnly, "Port on 127.0.0.1 for Prometheus metrics; 0 disables it.", ge=0, le=65535)
    editor: EditorSettings = Field(default=EditorSettings(), description="Editor integration.")
