"""The type checkers that projects use, one row each: how one is configured and started, and how its output reads."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from stet_ls.engine.judges.types import configurations, programs
from stet_ls.engine.judges.types.configurations import Configured
from stet_ls.engine.judges.types.programs import Find
from stet_ls.engine.runners.languages import go, java, rust
from stet_ls.engine.sandbox.spec import Limits

_MIB = 1 << 20
_OUTPUT = 4 * _MIB
"""Bytes of output kept: some 20,000 errors."""
_WALL_FACTOR = 1.5
"""A busy machine makes a job wait for a checker half as long again as an idle one, at most."""
_LIMITS = Limits(
    seconds=8.0, wall_factor=_WALL_FACTOR, output=_OUTPUT, processes=256, scratch=256 * _MIB, scratch_files=20_000
)
_BUILDING = 20.0
"""Seconds for a checker that compiles what the project depends on."""


@dataclass(frozen=True, slots=True)
class TypeChecker:
    """One type checker.

    `configured` finds its configuration for a file; `find` says how it is started there. `pattern` matches a finding in
    its output, with the groups path, line, severity, message and code. `errors` are the severities that count as
    errors, the others are only reported. A `soft` code is about missing annotations, packages that its environment
    lacks, or unused things: it is only reported, too. `ends` are the exit statuses of a completed run. `keeps_cache`:
    it keeps a cache in the folder `@CACHE@`, for the next run; `own_cache` is where the project's is, if it has one.
    `by_date`: its cache recognizes a text by its size and its date in seconds. A `blinding` error hides others of its
    text: then nothing is known of that text.
    `planted` is code with errors that it reports at any strictness, for the end of a text.
    """

    name: str
    languages: tuple[str, ...]
    configured: Configured
    find: Find
    pattern: re.Pattern[str]
    soft: str = r"(?!)"
    errors: Collection[str] = ("error",)
    ends: Collection[int] = (0, 1)
    limits: Limits = _LIMITS
    is_fast: bool = False
    keeps_cache: bool = False
    own_cache: str = ""
    by_date: bool = False
    blinding: str = r"(?!)"
    planted: str = ""


def _lines(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"^{pattern}$", re.MULTILINE)


_TS = ("typescript", "typescriptreact")
_JS = ("javascript", "javascriptreact")
_PLACE = r"(?P<path>[^\s:(][^:(\n]*?):(?P<line>\d+):"
_CODE = r"\[(?P<code>[\w-]+)\]"
_PYRIGHT = _lines(
    r"[ ]*(?P<path>[^\s:][^:\n]*?):(?P<line>\d+):\d+ - (?P<severity>error|warning): "
    r"(?P<message>.*?(?:\n[ \xa0]{4,}.*?)*?) \((?P<code>report\w+)\)"
)
_PYRIGHT_SOFT = r"report(?:Missing|Unknown|Unused|Unnecessary|Private|Any|Explicit|Implicit)"
_TSC = _lines(r"(?P<path>[^\s(][^(\n]*)\((?P<line>\d+),\d+\): (?P<severity>error) (?P<code>TS\d+): (?P<message>.*)")
_TSC_SOFT = r"TS(?:2307|2792|6133|6192|6196|6198|7\d{3}|18003)$"

_PLANTED_PYTHON = "\n\ndef _stet_planted() -> int:\n    planted: int = ''\n    return [planted].gone\n"
_PLANTED_SCRIPT = "\n/** @type {number} */\nexport const stetPlanted = '';\n"
_PLANTED_TYPED = "\nexport const stetPlanted: number = '';\n"

TY = TypeChecker(
    "ty",
    ("python",),
    configurations.ty,
    programs.of_python(
        "ty", ("check", "--output-format", "concise", "--color", "never"), module="ty", interpreter="--python"
    ),
    _lines(rf"{_PLACE}\d+: (?P<severity>error|warning){_CODE} (?P<message>.*)"),
    soft="import|unused-|redundant-",
    is_fast=True,
    planted=_PLANTED_PYTHON,
)
"""Also for Python without a configured checker: `docs/evidence.md` has the numbers of that decision."""

CHECKERS: tuple[TypeChecker, ...] = (
    TypeChecker(
        "mypy",
        ("python",),
        configurations.mypy,
        programs.of_python(
            "mypy",
            ("--show-column-numbers", "--no-pretty", "--no-color-output", "--no-error-summary", "--hide-error-context",
             "--show-error-codes", "--cache-dir", "@CACHE@"),
            module="mypy", interpreter="--python-executable",
        ),
        _lines(rf"{_PLACE}(?:\d+:)? (?P<severity>error): (?P<message>.*?)(?:  {_CODE})?"),
        soft="import|no-untyped|no-any|type-arg|unused-|var-annotated|has-type|redundant-|explicit-override",
        keeps_cache=True,
        own_cache=".mypy_cache",
        by_date=True,
        planted=_PLANTED_PYTHON,
    ),
    TypeChecker(
        "basedpyright", ("python",), configurations.basedpyright,
        programs.of_python("basedpyright", ("--level", "error"), module="basedpyright", node="basedpyright/index.js",
                           interpreter="--pythonpath"),
        _PYRIGHT, soft=_PYRIGHT_SOFT, planted=_PLANTED_PYTHON,
    ),
    # PyPI's `pyright` downloads the program when it is started first; npm's is the program.
    TypeChecker(
        "pyright", ("python",), configurations.pyright,
        programs.of_python("basedpyright", ("--level", "error"), module="basedpyright", node="pyright/index.js",
                           interpreter="--pythonpath"),
        _PYRIGHT, soft=_PYRIGHT_SOFT, planted=_PLANTED_PYTHON,
    ),
    TY,
    TypeChecker(
        "pyrefly", ("python",), configurations.pyrefly,
        programs.of_python("pyrefly", ("check", "--output-format", "min-text", "--summary=none", "--color=never"),
                           module="pyrefly", interpreter="--python-interpreter-path"),
        _lines(r"[ ]*(?P<severity>ERROR|WARN) (?P<path>[^:\n]+):(?P<line>\d+):[\d:-]+: (?P<message>.*?)"
               rf"(?: {_CODE})?"),
        soft="import|untyped|unused|implicit-any|unannotated|redundant", errors=("ERROR",), is_fast=True,
        planted=_PLANTED_PYTHON,
    ),
    TypeChecker("tsc", _TS, configurations.typescript, programs.tsc, _TSC, soft=_TSC_SOFT, ends=(0, 1, 2),
                keeps_cache=True, planted=_PLANTED_TYPED),
    TypeChecker("tsc", _JS, configurations.javascript, programs.tsc, _TSC, soft=_TSC_SOFT, ends=(0, 1, 2),
                keeps_cache=True, planted=_PLANTED_SCRIPT),
    TypeChecker(
        "go vet", ("go",), configurations.go, programs.go_vet,
        _lines(r"(?:vet: )?(?P<path>[^\s:][^:\n]*\.go):(?P<line>\d+):(?:\d+:)? (?P<message>.*)"),
        limits=replace(go.LIMITS, seconds=_BUILDING, wall_factor=_WALL_FACTOR, output=_OUTPUT), ends=(0, 1, 2),
    ),
    TypeChecker(
        "clippy", ("rust",), configurations.rust, programs.clippy,
        _lines(rf"{_PLACE}\d+: (?P<severity>error|warning)(?:\[(?P<code>\w+)\])?: (?P<message>.*)"),
        limits=replace(rust.LIMITS, seconds=_BUILDING, wall_factor=_WALL_FACTOR, output=_OUTPUT), ends=(0, 101),
    ),
    TypeChecker(
        "javac", ("java",), configurations.java, programs.javac,
        _lines(rf"{_PLACE} (?P<severity>error|warning): (?:{_CODE} )?(?P<message>.*)"),
        limits=replace(java.LIMITS, seconds=_BUILDING, wall_factor=_WALL_FACTOR, output=_OUTPUT),
        blinding=r"package [\w.]+ does not exist|cannot find symbol|cannot access",
    ),
)  # fmt: skip
"""For a language, the first that is configured and installed checks."""
