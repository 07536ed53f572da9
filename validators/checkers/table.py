"""The checkers and linters: one row each. A new one is a function that answers `CheckerRequest`, plus a row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from stet_ls.validators import languages
from stet_ls.validators.checkers import user_tools
from stet_ls.validators.checkers.checker_request import CheckerRequest, CheckerResult, CheckFunction, Unavailable
from stet_ls.validators.checkers.toolbox import BUILT_IN, AddedTool, Role, Toolbox
from stet_ls.validators.checkers.tools import (
    biome,
    clang,
    go,
    java,
    lizard,
    node,
    oxlint,
    python,
    rust,
    shell,
    typescript,
)


def _waits(_request: CheckerRequest) -> CheckerResult:
    """The answer of a tool that would run a project's code, until it can run in a sandbox."""
    return Unavailable("runs the project's code; needs the sandbox", missing=True)


RULES, NAMES, COMPLEXITY = "rules", "names", "complexity"
"""The subjects of linters."""


@dataclass(frozen=True, slots=True)
class Checker:
    """A tool for some languages, by their ids.

    `authoritative`: its errors count alone; those of another only add to the grammar's findings. `seconds` is the most
    it gets; `slow` ones (a JVM, a compiler with all headers) are not run while the user types. A linter runs unless an
    earlier one `covers` one of its subjects. `source` is the origin of the program, `note` its particulars; both are
    for people.
    """

    name: str
    role: Role
    languages: tuple[str, ...]
    check: CheckFunction
    source: str = "PATH"
    authoritative: bool = True
    seconds: float = 2.0
    slow: bool = False
    executes_project_code: bool = False
    covers: tuple[str, ...] = (RULES,)
    note: str = ""


_JS = ("javascript", "javascriptreact")
_TS = ("typescript", "typescriptreact")
_COUNTED = ("go", "rust", "java", "c", "cpp", "csharp", "ruby", "php", "kotlin", "swift", "lua", "scala", *_JS, *_TS)
_S, _L = Role.SYNTAX, Role.LINT
_NPM = "user setting, or node_modules of a trusted workspace"

CHECKERS: tuple[Checker, ...] = (
    Checker("ruff", _S, ("python",), python.syntax, "installed with Stet", note="with the project's target version"),
    Checker("ast", _S, ("python",), python.own_parser, "installed with Stet", authoritative=False,
            note="this interpreter's version of the language, so it only advises"),
    Checker("oxlint", _S, (*_JS, *_TS), oxlint.syntax, "extra full, or PATH"),
    Checker("oxc-parser", _S, (*_JS, *_TS), typescript.oxc, _NPM, note="needs node"),
    Checker("typescript", _S, (*_JS, *_TS), typescript.typescript, _NPM, seconds=6.0, slow=True,
            note="needs node"),
    Checker("node", _S, ("javascript",), node.check, note="no JSX"),
    Checker("gofmt", _S, ("go",), go.gofmt),
    Checker("bash", _S, ("shellscript",), shell.bash, note="reads the script, runs none of it"),
    Checker("rustfmt", _S, ("rust",), rust.rustfmt, note="with the crate's edition"),
    Checker("javac", _S, ("java",), java.javac, seconds=8.0, slow=True,
            note="parser only: no annotation processors, no classes of the project"),
    Checker("clang", _S, ("c", "cpp"), clang.clang, seconds=10.0, slow=True,
            note="types too; harmless flags of compile_commands.json; no verdict where a header is missing"),
    Checker("ruff", _L, ("python",), python.lint, "installed with Stet",
            covers=(RULES, NAMES, COMPLEXITY),
            note="PEP 8, likely bugs, names, complexity; the project's line length and target version"),
    Checker("oxlint", _L, (*_JS, *_TS), oxlint.lint, "extra full, or PATH",
            note="its rules for wrong or useless code"),
    Checker("biome", _L, (*_JS, *_TS, "json", "css"), biome.lint, note="its recommended rules"),
    Checker("lizard", _L, _COUNTED, lizard.lizard, "installed with Stet", seconds=5.0, covers=(COMPLEXITY,),
            note="complexity of functions"),
    Checker("eslint", _L, (*_JS, *_TS), _waits, executes_project_code=True, note="its settings are code"),
    Checker("go vet", _L, ("go",), _waits, executes_project_code=True,
            note="builds the package, cgo included; in the sandbox, for analyze and reviews"),
    Checker("clippy", _L, ("rust",), _waits, executes_project_code=True,
            note="runs build scripts and macros; in the sandbox, for analyze and reviews"),
    Checker("dotnet build", _L, ("csharp",), _waits, executes_project_code=True, note="runs targets of the project"),
)  # fmt: skip
"""The best first for each role and language."""


def checkers(language: str, role: Role, tools: Toolbox = BUILT_IN) -> tuple[Checker, ...]:
    """The rows for a language that may run, those that the user added before the built-in ones."""
    name = languages.id_of(language)
    own = (_row(tool) for tool in tools.added if tool.role is role and tool.language == name)
    built_in = (row for row in CHECKERS if row.role is role and name in row.languages)
    return tuple(row for row in (*own, *built_in) if tools.allows(row.name) and not row.executes_project_code)


def _row(tool: AddedTool) -> Checker:
    check = partial(user_tools.check, tool)
    return Checker(
        tool.name, tool.role, (tool.language,), check, "user setting", tool.authoritative, tool.deadline,
        slow=tool.deadline > SLOW, covers=(),
    )  # fmt: skip


SLOW = 4.0
"""Minimum seconds of a deadline for running slow tools: more than while the user types."""
