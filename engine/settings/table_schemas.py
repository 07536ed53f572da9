"""The schemas of settings that are lists of tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from string import Formatter
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, SecretStr, field_validator
from pydantic.config import JsonDict

from stet_ls.engine.api.evidence import CHECKS, NAMEABLE, JudgedEdits
from stet_ls.validators.languages import LANGUAGES, language

UserOnly: JsonDict = {"set_by": "user"}
"""Programs, endpoints, folders, and what is judged, sent, kept or spent: a change in either direction can do harm."""


class Section(BaseModel):
    """A table of settings. Immutable; an unknown key is an error, to which the loader adds a "did you mean"."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Provider(Section):
    """One OpenAI-compatible endpoint."""

    name: str = Field(description="Name in messages.")
    base_url: str = Field(description="Its address with the version path, such as http://127.0.0.1:11434/v1.")
    model: str = Field(default="", description="Model name; empty: the first in its list.")
    role: Literal["any", "generator", "reviewer"] = Field(
        default="any",
        description="What it is asked for: the reviewer explains, analyzes and reviews, the generator does the rest.",
    )
    api_key_env: str = Field(default="", description="Environment variable with its key.")
    api_key_keyring: str = Field(
        default="",
        description="The entry of the system's keyring that holds its key: SERVICE or SERVICE/USER (extra `keyring`).",
    )
    api_key: SecretStr | None = Field(
        default=None, exclude=True, description="Filled from the environment, never from a file."
    )
    organization: str = Field(default="", description="Organization to bill, if the endpoint supports it.")
    context: int = Field(default=0, ge=0, description="Context window in tokens; 0: from the model's profile.")
    price_in: float | None = Field(
        default=None,
        ge=0,
        description="Price of a million prompt tokens, in any currency; unset: 0 on this machine, else unknown.",
    )
    price_cached: float | None = Field(
        default=None, ge=0, description="Price of a million cached prompt tokens; unset: price_in."
    )
    price_out: float | None = Field(default=None, ge=0, description="Price of a million reply tokens.")
    timeout_first_token: float = Field(default=30.0, gt=0, description="Minimum seconds to wait for the first token.")
    timeout_token: float = Field(default=20.0, gt=0, description="Maximum seconds between two tokens.")

    @field_validator("base_url")
    @classmethod
    def _http_address(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("expected an http or https address")
        return url.rstrip("/")


class ModelRow(Section):
    """What the user knows about models of a name."""

    name: str = Field(description='The model\'s name, or a pattern such as "qwen2.5-coder*".')
    role: Literal["any", "generator", "reviewer"] = Field(
        default="any", description="Role: the reviewer explains and analyzes, the generator writes code and tests."
    )
    temperature: float | None = Field(default=None, ge=0, le=2, description="Its temperature.")
    max_tokens: int | None = Field(default=None, ge=16, description="Maximum tokens of one reply.")
    context: int | None = Field(default=None, ge=512, description="Its context window in tokens.")
    samples: int | None = Field(default=None, ge=1, le=8, description="Maximum number of samples.")
    repairs: int | None = Field(default=None, ge=0, le=5, description="Maximum repairs per job.")


class CheckerRow(Section):
    """A checker, linter or formatter that the user adds to the built-in ones."""

    language: str = Field(description='The language\'s LSP id, such as "python" or "terraform".')
    argv: tuple[str, ...] = Field(
        min_length=1,
        description="Program and arguments, run without a shell; {file} is a private copy of the text. Without it, the "
        "text is on standard input.",
    )
    kind: Literal["syntax", "lint", "format"] = Field(
        default="syntax", description="Its output: errors that block an edit, lint findings, or the formatted text."
    )
    name: str = Field(default="", description="Name in findings and messages; empty: the program's name.")
    pattern: str = Field(
        default="",
        description="Regular expression for a line of output, with the groups (?P<line>), (?P<message>) and optionally "
        "column, severity and code; empty: JSON objects with these fields.",
    )
    authoritative: bool = Field(default=True, description="Whether its errors block an edit.")
    seconds: float = Field(default=5.0, gt=0, le=60, description="Maximum seconds per run.")

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
    """The path of a built-in tool's program."""

    name: str = Field(description="Tool name, as shown by `stet doctor`.")
    path: str = Field(description="Program to run; for an npm parser the folder of its package.")


@dataclass(frozen=True, slots=True)
class ActionOrigin:
    """Where a table is from: `project` is None for the user's file; trust is for exactly the tables of a `digest`."""

    place: str = ""
    project: Path | None = None
    digest: str = ""
    trusted: bool = True


TARGETS = ("unit", "statements", "document")
"""What an action can work on."""


JUDGES = tuple(
    check.value for check, row in CHECKS.items() if check in NAMEABLE or row.judged_edits is JudgedEdits.EVERY_EDIT
)
"""The judges that an action can name: some of them always judge it."""


class ActionRow(Section):
    """An action that the user or the project adds to the built-in ones."""

    name: str = Field(description="Name in commands: lowercase letters, digits and hyphens, starting with a letter.")
    title: str = Field(min_length=1, max_length=60, description='Menu title, in the imperative, such as "Tidy".')
    description: str = Field(default="", max_length=300, description="Description in one sentence, for lists.")
    instruction: str = Field(
        min_length=1,
        max_length=4000,
        description="Prompt; {name}, {language}, {file} and {instruction} (the user's) are filled in, and {{ is "
        "a brace. "
        "With {instruction}, the action requires one.",
    )
    targets: tuple[str, ...] = Field(
        default=TARGETS, min_length=1, description='Target: "unit", "statements" or "document".'
    )
    languages: tuple[str, ...] = Field(default=(), description="LSP language ids; empty: all languages.")
    rules: tuple[str, ...] = Field(default=(), max_length=20, description="Conditions for the result, in sentences.")
    judges: tuple[str, ...] = Field(
        default=("names", "lint"),
        description="Checks of its edit besides `noop`, `syntax`, `danger` and `definitions`: `names`, `signature`, "
        "`lint`, `types`, and `comments` (only comments and docstrings may change).",
    )
    wants: Literal["unit", "markdown"] = Field(default="unit", description="Result: new code of the target, or text.")
    temperature: float = Field(default=0.1, ge=0, le=2, description="Temperature.")
    _origin: ActionOrigin = PrivateAttr(default=ActionOrigin())

    @field_validator("name")
    @classmethod
    def _callable_name(cls, name: str) -> str:
        if not re.fullmatch(r"[a-z][a-z0-9-]{0,39}", name):
            raise ValueError(
                f"expected up to 40 lowercase letters, digits and hyphens, starting with a letter; found {name!r}"
            )
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
    """The names, if all are known. ValueError names the unknown one and the most similar known one."""
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            every = f"expected one of {', '.join(known)}" if len(known) < _FEW else "unknown name"
            raise ValueError(f"found {name!r}; {f'did you mean {near[0]!r}?' if near else every}")
    return names


_FEW = 12


PLACEHOLDERS = ("name", "language", "file", "instruction")
"""The placeholders in braces of an action's instruction."""


def check_template(template: str) -> None:
    """Raises ValueError, with the correction, for an instruction whose braces cannot be filled."""
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
            hint = f"did you mean {{{near[0]}}}?" if near and near[0] != name else f"known names: {known}"
            raise ValueError(f"unknown placeholder {{{name}}}: {hint}; {{{{ is a brace itself")
