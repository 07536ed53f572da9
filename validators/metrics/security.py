"""Calls of known danger in languages that no security linter here reads (Python has ruff's S rules).

A table of patterns of calls and what to check. It does no data-flow analysis: a finding is a place to check, and no
finding is no proof of safety.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from stet_ls.validators.findings import Finding, Severity
from stet_ls.validators.languages import NODE_KINDS
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure.units import captures, tree_of

_SEEN = 160
"""Bytes of a call that are matched; its arguments may be a whole program."""


@dataclass(frozen=True, slots=True)
class Hazard:
    """The start of a call, without blanks, and what to check."""

    code: str
    look: re.Pattern[str]
    why: str


def _hazard(code: str, look: str, why: str) -> Hazard:
    return Hazard(code, re.compile(look), why)


_SHELL = "a shell reads its argument: check that no input of a user can be part of it"
_WEAK = "MD5 and SHA-1 can be forged: use SHA-256 where it guards something"
_TEXT_AS_CODE = "runs text as code"
_SQL = "SQL put together out of text: pass parameters"
_UNDEFINED = "undefined behavior if its condition does not hold"
_DATA_AS_CODE = "can build any object out of the data: never give it data of others"

_C = (
    _hazard(
        "buffer-overflow", r"(?:std::)?(?:gets|strcpy|strcat|sprintf|vsprintf|stpcpy)\(", "knows no end of its buffer"
    ),
    _hazard(
        "buffer-overflow",
        r"(?:std::)?[fs]?scanf\((?:[^,\"]+,)?\"[^\"]*%s",
        "`%s` without a width knows no end of its buffer",
    ),
    _hazard("format-string", r"(?:std::)?printf\([A-Za-z_]\w*\)", 'its format is no literal: use printf("%s", …)'),
    _hazard("shell", r"(?:std::)?(?:system|popen)\((?!\")", _SHELL),
    _hazard("temporary-file", r"(?:mktemp|tmpnam|tempnam)\(", "another process can take the name first: use mkstemp"),
)

_ECMASCRIPT = (
    _hazard("text-as-code", r"(?:window\.|globalThis\.)?eval\((?!['\"`][^+]*\)$)|newFunction\(", _TEXT_AS_CODE),
    _hazard("text-as-code", r"set(?:Timeout|Interval)\(['\"`]", _TEXT_AS_CODE),
    _hazard("shell", r"(?:child_process\.|cp\.)?exec(?:Sync)?\((?:`[^`]*\$\{|['\"][^'\"]*['\"]\+)", _SHELL),
    _hazard(
        "html",
        r"document\.write(?:ln)?\((?!['\"`][^+$]*\)$)|.*\.insertAdjacentHTML\(",
        "what it writes is read as HTML: escape it",
    ),
    _hazard("weak-hash", r"(?:crypto\.)?createHash\(['\"](?:md5|sha1)['\"]", _WEAK),
)

HAZARDS: Mapping[str, tuple[Hazard, ...]] = {
    **dict.fromkeys(("javascript", "javascriptreact", "typescript", "typescriptreact"), _ECMASCRIPT),
    "c": _C,
    "cpp": _C,
    "go": (
        _hazard(
            "shell",
            r"exec\.Command(?:Context)?\((?:\w+,)?\"(?:sh|bash|/bin/sh|/bin/bash|cmd)\",\"[-/]c\",(?!\"[^\"]*\"\))",
            _SHELL,
        ),
        _hazard("weak-hash", r"(?:md5|sha1)\.(?:New|Sum)\(", _WEAK),
        _hazard("sql", r".*\.(?:Query|Exec|QueryRow)(?:Context)?\((?:\w+,)?(?:fmt\.Sprintf\(|\"[^\"]*\"\+)", _SQL),
    ),
    "rust": (
        _hazard("unchecked", r".*(?:get_unchecked(?:_mut)?|unwrap_unchecked|from_utf8_unchecked)\(", _UNDEFINED),
        _hazard("unchecked", r"(?:std::)?mem::(?:transmute|uninitialized|zeroed)(?:::<.*>)?\(", _UNDEFINED),
    ),
    "java": (
        _hazard(
            "shell",
            r"Runtime\.getRuntime\(\)\.exec\((?!\"[^\"]*\"\))",
            "starts a process out of text: use ProcessBuilder with a list",
        ),
        _hazard("data-as-code", r".*\.readObject\(\)", _DATA_AS_CODE),
        _hazard("weak-hash", r"MessageDigest\.getInstance\(\"(?i:md5|sha-?1)\"", _WEAK),
        _hazard("sql", r".*\.(?:executeQuery|executeUpdate|prepareStatement)\(\"[^\"]*\"\+", _SQL),
    ),
    "csharp": (
        _hazard("data-as-code", r"newBinaryFormatter\(", _DATA_AS_CODE),
        _hazard("weak-hash", r"(?:MD5|SHA1)\.Create\(", _WEAK),
        _hazard("sql", r"new(?:Sql|Npgsql|MySql|Sqlite)Command\((?:\$\"[^\"]*\{|\"[^\"]*\"\+)", _SQL),
    ),
    "php": (
        _hazard("text-as-code", r"(?:eval|create_function|assert)\(['\"]?\$", _TEXT_AS_CODE),
        _hazard("shell", r"(?:exec|shell_exec|system|passthru|popen|proc_open)\((?!['\"][^'\"$]*['\"])", _SHELL),
        _hazard("data-as-code", r"unserialize\(", _DATA_AS_CODE),
        _hazard("weak-hash", r"(?:md5|sha1)\(", _WEAK),
    ),
    "ruby": (
        _hazard("text-as-code", r"(?:\w+\.)?(?:eval|instance_eval|class_eval)\((?!['\"][^#]*['\"]\)$)", _TEXT_AS_CODE),
        _hazard("shell", r"(?:Kernel\.)?(?:system|exec|spawn)\(\"[^\"]*#\{", _SHELL),
        _hazard("data-as-code", r"(?:Marshal|YAML)\.(?:load|unsafe_load)\(", _DATA_AS_CODE),
    ),
    "shellscript": (_hazard("text-as-code", r"eval['\"]?\$", _TEXT_AS_CODE),),
}
"""Rows by language id; a language without one is not searched, and reports say so."""


def hazards(source: Source, language: str) -> tuple[Finding, ...] | None:
    """The calls to check; None for a language without a row or a tree."""
    parsed = tree_of(source, language)
    rows = HAZARDS.get(parsed.language) if parsed else None
    if parsed is None or rows is None:
        return None
    found = []
    for node in captures(parsed, frozenset(NODE_KINDS[parsed.language].calls)):
        text = parsed.data[node.start_byte : min(node.end_byte, node.start_byte + _SEEN)].decode("utf-8", "ignore")
        call = "".join(text.split())
        hazard = next((row for row in rows if row.look.match(call)), None)
        if hazard is not None:
            span = Span(node.start_byte, node.start_byte + len(text.split("(")[0].encode()))
            name = " ".join(text.split("(")[0].split())
            found.append(
                Finding(
                    span,
                    f"`{name}`: {hazard.why}",
                    kind="lint",
                    severity=Severity.INFORMATION,
                    source="stet",
                    code=hazard.code,
                    line=source.line_of(span.start),
                )
            )
    return tuple(dict.fromkeys(found))  # in `a(x).b()` both calls start with the same text
