"""The settings: one model from which the reference, the JSON schema and the error messages are made.

Where the values come from, and which source may set what, is the business of `configuration`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from string import Formatter
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, SecretStr, field_validator
from pydantic.config import JsonDict

from stet_ls.validators.languages import LANGUAGES, language

# Who may set a key beside its user, who may set them all. Everybody else is a project's file, and whatever an editor
# sends: an editor reads settings from the opened folder too. Each key of `Settings` has one of these marks.

Anyone: JsonDict = {"set_by": "anyone"}
"""How something is shown or worded: no value lets an edit go unjudged, and none allows, sends or starts anything."""
UserOnly: JsonDict = {"set_by": "user"}
"""Programs, endpoints, folders, and what is judged, sent, kept or spent: either direction can do harm."""
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


class Section(BaseModel):
    """A table of settings. Immutable, and an unknown key is an error that the loader turns into a did-you-mean."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Provider(Section):
    """One OpenAI-compatible endpoint."""

    name: str = Field(description="How messages call it.")
    base_url: str = Field(description="Its address with the version path, such as http://127.0.0.1:11434/v1.")
    model: str = Field(default="", description="The model's name there; empty takes the first that it lists.")
    api_key_env: str = Field(default="", description="The environment variable that holds its key.")
    api_key_keyring: str = Field(
        default="",
        description="The entry of the system's keyring that holds its key: SERVICE or SERVICE/USER (extra `keyring`).",
    )
    api_key: SecretStr | None = Field(
        default=None, exclude=True, description="Filled from the environment, never from a file."
    )
    organization: str = Field(
        default="", description="The organization to bill, where the endpoint knows such a thing."
    )
    context: int = Field(default=0, ge=0, description="Its context window in tokens; 0 asks the model's profile.")
    price_in: float | None = Field(
        default=None,
        ge=0,
        description="Price of a million prompt tokens, in any currency; unset: 0 on this machine, else unknown.",
    )
    price_cached: float | None = Field(
        default=None, ge=0, description="Price of a million prompt tokens that it had in its cache; unset: price_in."
    )
    price_out: float | None = Field(default=None, ge=0, description="Price of a million answered tokens.")
    timeout_first_token: float = Field(default=30.0, gt=0, description="Seconds to wait for the first token, at least.")
    timeout_token: float = Field(
        default=20.0, gt=0, description="Seconds between two tokens before it counts as stalled."
    )

    @field_validator("base_url")
    @classmethod
    def _http_address(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("expected an http or https address")
        return url.rstrip("/")


class ModelRow(Section):
    """What the user knows better about models of a name."""

    name: str = Field(description='The model\'s name, or a pattern such as "qwen2.5-coder*".')
    role: Literal["any", "generator", "reviewer"] = Field(
        default="any", description="The reviewer explains and analyzes, the generator writes code and tests."
    )
    temperature: float | None = Field(default=None, ge=0, le=2, description="Its temperature.")
    max_tokens: int | None = Field(default=None, ge=16, description="Most tokens of one of its replies.")
    context: int | None = Field(default=None, ge=512, description="Its context window in tokens.")
    samples: int | None = Field(default=None, ge=1, le=8, description="Most replies to choose from.")
    repairs: int | None = Field(default=None, ge=0, le=5, description="Most repairs of one job.")


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
        description="An endpoint that failed so many calls in a row is left alone for a while.",
    )
    breaker_seconds: float = Field(
        default=30,
        gt=0,
        json_schema_extra=UserOnly,
        description="Seconds for which it is left alone before one call tries it again.",
    )


class CheckerRow(Section):
    """A checker, linter or formatter that the user adds to the built-in ones."""

    language: str = Field(description='The language\'s LSP id, such as "python" or "terraform".')
    argv: tuple[str, ...] = Field(
        min_length=1,
        description="Program and arguments, started without a shell; {file} is the path of a private copy of the text, "
        "which else comes on standard input.",
    )
    kind: Literal["syntax", "lint", "format"] = Field(
        default="syntax", description="Errors that block an edit, findings that are told, or the formatted text."
    )
    name: str = Field(default="", description="How findings and messages call it; empty: the program's name.")
    pattern: str = Field(
        default="",
        description="A regular expression for a line of its output, with the groups (?P<line>), (?P<message>) and "
        "perhaps column, severity and code; empty: it writes JSON objects with these fields.",
    )
    authoritative: bool = Field(default=True, description="Whether its errors alone may block an edit.")
    seconds: float = Field(default=5.0, gt=0, le=60, description="Seconds that it may take.")

    @field_validator("pattern")
    @classmethod
    def _groups(cls, pattern: str) -> str:
        try:
            groups = re.compile(pattern).groupindex
        except re.error as error:
            raise ValueError(f"expected a regular expression: {error}") from None
        if pattern and not {"line", "message"} <= set(groups):
            raise ValueError("expected a regular expression with the groups (?P<line>...) and (?P<message>...)")
        return pattern


class ProgramRow(Section):
    """Where the program of a built-in tool is."""

    name: str = Field(description="The tool, as `stet doctor` calls it.")
    path: str = Field(description="The file to start for it; for an npm parser the folder of its package.")


@dataclass(frozen=True, slots=True)
class ActionOrigin:
    """Where an action's table was found. `project` is the folder whose file holds it, None for the user's own file.

    `digest` is the hash of all tables of that file: who trusts them, trusts these and no others.
    """

    place: str = ""
    project: Path | None = None
    digest: str = ""
    trusted: bool = True


TARGETS = ("unit", "statements", "document")
"""What an action can work on."""
JUDGES = ("noop", "syntax", "danger", "names", "signature", "lint", "comments")
"""The judges that an action can name."""


class ActionRow(Section):
    """An action that the user or the project adds to the built-in ones."""

    name: str = Field(description="How commands call it: small letters, digits and hyphens, a letter first.")
    title: str = Field(min_length=1, max_length=60, description='What menus show, in the imperative, such as "Tidy".')
    description: str = Field(default="", max_length=300, description="One sentence about it, for lists.")
    instruction: str = Field(
        min_length=1,
        max_length=4000,
        description="What the model is asked; {name}, {language}, {file} and {instruction} (what its user said) are "
        "filled in, and {{ is a brace. With {instruction} it cannot be run without one.",
    )
    targets: tuple[str, ...] = Field(
        default=TARGETS, min_length=1, description='What it works on: "unit", "statements" or "document".'
    )
    languages: tuple[str, ...] = Field(default=(), description="LSP language ids; empty: all languages.")
    rules: tuple[str, ...] = Field(default=(), max_length=20, description="What the result has to keep, in sentences.")
    judges: tuple[str, ...] = Field(
        default=("names", "lint"),
        description="Who judges its edit beside noop, syntax and danger: names, signature, lint, and comments, for "
        "which nothing but comments and docstrings may change.",
    )
    wants: Literal["unit", "markdown"] = Field(default="unit", description="A new text of the target, or words.")
    temperature: float = Field(default=0.1, ge=0, le=2, description="The model's temperature.")
    _origin: ActionOrigin = PrivateAttr(default=ActionOrigin())

    @field_validator("name")
    @classmethod
    def _callable_name(cls, name: str) -> str:
        if not re.fullmatch(r"[a-z][a-z0-9-]{0,39}", name):
            raise ValueError(f"expected small letters, digits and hyphens, a letter first, 40 at most; found {name!r}")
        return name

    @field_validator("title", "description")
    @classmethod
    def _one_line(cls, text: str) -> str:
        if not text.isprintable():
            raise ValueError("expected one line of visible characters")
        return text

    @field_validator("instruction")
    @classmethod
    def _placeholders(cls, template: str) -> str:
        check_template(template)
        return template

    @field_validator("targets")
    @classmethod
    def _known_targets(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return _among(names, TARGETS)

    @field_validator("judges")
    @classmethod
    def _known_judges(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return _among(names, JUDGES)

    @field_validator("languages")
    @classmethod
    def _known_languages(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        known = {each: row.id for each in names if (row := language(each)) is not None}
        _among(tuple(each for each in names if each not in known), tuple(row.id for row in LANGUAGES))
        return tuple(known.values())

    @property
    def origin(self) -> ActionOrigin:
        """Where it was found."""
        return self._origin

    def found_at(self, origin: ActionOrigin) -> ActionRow:
        """The same row with its origin."""
        row = self.model_copy()
        row._origin = origin
        return row


def _among(names: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    """The names, if all are known. ValueError names the one that is not, and the nearest that is."""
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            every = f"known are {', '.join(known)}" if len(known) < _FEW else "no such name is known"
            raise ValueError(f"found {name!r}; {f'did you mean {near[0]!r}?' if near else every}")
    return names


_FEW = 12
PLACEHOLDERS = ("name", "language", "file", "instruction")
"""What an action's instruction may name in braces."""


def check_template(template: str) -> None:
    """Raises ValueError, with the way out, for an instruction whose braces cannot be filled."""
    try:
        fields = list(Formatter().parse(template))
    except ValueError as error:
        raise ValueError(f"expected braces in pairs, {{{{ and }}}} for a brace itself ({error})") from None
    for _, name, form, conversion in fields:
        if name is None:
            continue
        if name not in PLACEHOLDERS or form or conversion:
            near = get_close_matches(name, PLACEHOLDERS, n=1)
            known = ", ".join(f"{{{each}}}" for each in PLACEHOLDERS)
            hint = f"did you mean {{{near[0]}}}?" if near and near[0] != name else f"known are {known}"
            raise ValueError(f"unknown placeholder {{{name}}}: {hint}; {{{{ is a brace itself")


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
    """Running code that nobody trusts."""

    minimum_level: Literal["none", "partial", "strong", "full"] = Field(
        default="strong", json_schema_extra=UserOnly, description="The weakest isolation in which code may run."
    )
    backend: str = Field(
        default="",
        json_schema_extra=UserOnly,
        description="What the box is built with: bubblewrap, landlock, sandbox-exec, podman:IMAGE or docker:IMAGE; "
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
    """Solutions that stood."""

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
        description="Whether the team's table is only searched, or what stood is added to it.",
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
    sandbox: SandboxSettings = Field(default=SandboxSettings(), description="Running code that nobody trusts.")
    memory: MemorySettings = Field(default=MemorySettings(), description="Solutions that stood.")
    log: LogSettings = Field(default=LogSettings(), description="The log file.")
    trace: TraceSettings = Field(default=TraceSettings(), description="The records that jobs leave.")
    metrics_port: int = Field(
        default=0,
        ge=0,
        le=65535,
        json_schema_extra=UserOnly,
        description="Port of 127.0.0.1 at which the server tells its metrics in Prometheus' form; 0 opens none.",
    )
    editor: EditorSettings = Field(default=EditorSettings(), description="How answers reach the editor.")
