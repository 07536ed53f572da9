"""The formatters of projects: each answers only if the project's files show that it is used.

Their settings are passed as plain values or as a private copy; a formatter whose settings are code is started only in a
workspace that the user declared trusted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stet_ls.validators import languages
from stet_ls.validators.checkers import programs
from stet_ls.validators.checkers.checker_request import (
    CheckerRequest,
    ToolCommand,
    Unavailable,
    run_tool_on,
    safe_name,
    within_seconds,
)
from stet_ls.validators.checkers.formatter_settings import above, contents, json_object, nearest, scalars, table
from stet_ls.validators.checkers.tool_process import PRIVATE, ToolResult
from stet_ls.validators.checkers.toolbox import BUILT_IN, AddedTool, Role, Toolbox
from stet_ls.validators.checkers.tools import ruff
from stet_ls.validators.checkers.tools.rust import edition, toolchain
from stet_ls.validators.project_files import inner_table

Formatted = str | Unavailable
Format = Callable[[CheckerRequest], Formatted]
"""The whole text as formatted, or why there is no answer."""


def _python(request: CheckerRequest) -> Formatted:
    for file in above(request.path, ("ruff.toml", ".ruff.toml", "pyproject.toml")):
        tool = table(file) if file.name != "pyproject.toml" else inner_table(table(file), "tool")
        if file.name != "pyproject.toml" or "ruff" in tool:
            own = tool if file.name != "pyproject.toml" else inner_table(tool, "ruff")
            return _ruff(
                request, [*_of(own, _RUFF), *((f"format.{k}", v) for k, v in _of(inner_table(own, "format"), _FORMAT))]
            )
        if "black" in tool:
            return _as_black(request, inner_table(tool, "black"))
    return _unused("ruff format")


_RUFF = ("line-length", "indent-width", "target-version", "preview")
_FORMAT = (
    "quote-style", "indent-style", "skip-magic-trailing-comma", "line-ending", "docstring-code-format",
    "docstring-code-line-length", "preview",
)  # fmt: skip


def _of(values: object, names: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(key, value) for key, value in scalars(values if isinstance(values, dict) else {}) if key in names]


def _as_black(request: CheckerRequest, black: object) -> Formatted:
    """Black's style, which ruff also writes: ruff is at hand, and where the two differ the edit is not formatted."""
    options = _of(black, ("line-length",)) or [("line-length", "88")]
    settings = black if isinstance(black, dict) else {}
    if settings.get("skip-string-normalization") is True:
        options.append(("format.quote-style", "'preserve'"))
    if settings.get("skip-magic-trailing-comma") is True:
        options.append(("format.skip-magic-trailing-comma", "true"))
    return _ruff(request, options)


def _ruff(request: CheckerRequest, options: list[tuple[str, str]]) -> Formatted:
    argv = ruff.command(ruff.SYNTAX, ())
    if argv is None:
        return Unavailable("ruff is not installed", missing=True)
    settings = (part for key, value in options for part in ("--config", f"{key}={value}"))
    name = ruff.file_name(request.path)
    return _run(
        request,
        ToolCommand(
            "ruff", ("format", "--isolated", "--no-cache", "--quiet", *settings, "--stdin-filename", name, "-"), argv[0]
        ),
    )


def _gofmt(request: CheckerRequest) -> Formatted:
    return _run(request, ToolCommand("gofmt", ()))


def _rustfmt(request: CheckerRequest) -> Formatted:
    file = nearest(request.path, ("rustfmt.toml", ".rustfmt.toml", "Cargo.toml"))
    if file is None:
        return _unused("rustfmt")
    style = {} if file.name == "Cargo.toml" else dict(scalars(table(file)))
    named = style.pop("edition", "").strip("'") or edition(request.path)
    options = ",".join(f"{key}={value.strip(chr(39))}" for key, value in style.items())
    arguments = ("--edition", named, "--emit", "stdout", "--quiet", *(("--config", options) if options else ()))
    return _run(request, ToolCommand("rustfmt", arguments, environment=toolchain()))


def _clang_format(request: CheckerRequest) -> Formatted:
    file = nearest(request.path, (".clang-format", "_clang-format"))
    style = contents(file) if file else None
    if style is None:
        return _unused("clang-format")
    name = safe_name(request.path, request.language)
    arguments = (f"--style=file:{PRIVATE}/style", f"--assume-filename={name}")
    return _run(request, ToolCommand("clang-format", arguments, files=(("style", style),)))


_BIOME = ("biome.json", "biome.jsonc")
_PRETTIER = (
    ".prettierrc", ".prettierrc.json", ".prettierrc.yaml", ".prettierrc.yml", ".prettierrc.json5", ".prettierrc.toml",
    ".prettierrc.js", ".prettierrc.mjs", ".prettierrc.cjs", "prettier.config.js", "prettier.config.mjs",
    "prettier.config.cjs",
)  # fmt: skip


def _biome(request: CheckerRequest) -> Formatted:
    file = nearest(request.path, _BIOME)
    if file is None:
        return _unused("biome")
    return _npm(request, "biome", ("format", f"--config-path={file.parent}", f"--stdin-file-path={request.path}"))


def _prettier(request: CheckerRequest) -> Formatted:
    shown = nearest(request.path, _PRETTIER)
    package = nearest(request.path, ("package.json",))
    if shown is None and not (package and "prettier" in json_object(package)):
        return _unused("prettier")
    return _npm(request, "prettier", ("--stdin-filepath", str(request.path)))


def _npm(request: CheckerRequest, tool: str, arguments: tuple[str, ...]) -> Formatted:
    """Such a tool loads plug-ins and settings that are programs: it runs only with the user's trust."""
    chosen = dict(request.tools.programs).get(tool)
    program = chosen or programs.of_workspace(f"node_modules/.bin/{tool}", request.path, request.tools)
    if program is None:
        return Unavailable(f"{tool} runs code of the project: trust the workspace or set its path")
    # Its settings are in many files, so its answers are not cached.
    return _run(request, ToolCommand(tool, arguments, program=str(program), pure=False))


def _unused(tool: str) -> Unavailable:
    return Unavailable(f"the project's files do not show that it uses {tool}", missing=True)


def _run(request: CheckerRequest, run: ToolCommand) -> Formatted:
    def read(result: ToolResult) -> Formatted:
        if result.status != 0:
            return Unavailable(f"{run.tool} failed (exit status {result.status})")
        try:
            return result.stdout.decode("utf-8")
        except UnicodeDecodeError:
            return Unavailable(f"{run.tool} output is not UTF-8")

    return run_tool_on(request, run, read)


@dataclass(frozen=True, slots=True)
class Formatter:
    """A formatter for some languages. `settings` are the files that show that a project uses it."""

    name: str
    languages: tuple[str, ...]
    format: Format
    settings: str
    source: str = "PATH"
    seconds: float = 2.0
    note: str = ""


_WEB = ("javascript", "javascriptreact", "typescript", "typescriptreact", "json", "jsonc", "css")
_NPM = "user setting, or node_modules of a trusted workspace"

FORMATTERS: tuple[Formatter, ...] = (
    Formatter("ruff", ("python",), _python, "ruff.toml, [tool.ruff] or [tool.black] in pyproject.toml",
              "installed with Stet", note="black's style by ruff"),
    Formatter("gofmt", ("go",), _gofmt, "none: all Go is formatted so"),
    Formatter("rustfmt", ("rust",), _rustfmt, "rustfmt.toml or Cargo.toml"),
    Formatter("clang-format", ("c", "cpp", "java", "csharp", "objective-c", "proto"), _clang_format, ".clang-format"),
    Formatter("biome", _WEB, _biome, "biome.json", _NPM),
    Formatter("prettier", (*_WEB, "scss", "less", "html", "vue", "markdown", "yaml", "graphql"), _prettier,
              ".prettierrc, prettier.config.js, or package.json", _NPM, seconds=5.0,
              note="runs plug-ins of the project"),
)  # fmt: skip


def formatters(language: str, tools: Toolbox = BUILT_IN) -> tuple[Formatter, ...]:
    """The formatters that may run, those of the user first."""
    name = languages.id_of(language)
    own = (_row(tool) for tool in tools.added if tool.role is Role.FORMAT and tool.language == name)
    if not tools.formats:
        return ()
    rows = (*own, *(one for one in FORMATTERS if name in one.languages))
    return tuple(one for one in rows if tools.allows(one.name))


def _row(tool: AddedTool) -> Formatter:
    run = ToolCommand(tool.name, tool.argv[1:], program=tool.argv[0])
    return Formatter(
        tool.name, (tool.language,), lambda request: _run(within_seconds(request, tool.deadline), run),
        "none: the user's word", "user setting", tool.deadline,
    )  # fmt: skip
