"""What the metrics know of a language: one row each."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields

from stet_ls.validators.languages import lookup
from stet_ls.validators.metrics import pep8, private_units
from stet_ls.validators.metrics.private_units import IsPrivate


@dataclass(frozen=True, slots=True)
class ControlFlow:
    """Node kinds of one grammar, those of C by default. Kinds that the grammar does not have are ignored.

    `ifs` and `elifs` are the two forms of a condition; an `if` directly behind `else` is recognized by its position.
    `guards` are one-line conditions. `cases` are the branches of `switches` (the default one is recognized by its
    text). `tries` only nest. `logic` maps a node kind to the operators of it that count. `closures` nest but are not
    separate functions. With `as_ruff` paths are counted as ruff's C901 counts them, on statements only.
    """

    ifs: frozenset[str] = frozenset({"if_statement"})
    elifs: frozenset[str] = frozenset()
    loops: frozenset[str] = frozenset()
    guards: frozenset[str] = frozenset()
    ternaries: frozenset[str] = frozenset({"conditional_expression"})
    switches: frozenset[str] = frozenset({"switch_statement"})
    cases: frozenset[str] = frozenset()
    catches: frozenset[str] = frozenset({"catch_clause"})
    tries: frozenset[str] = frozenset({"try_statement"})
    endless: frozenset[str] = frozenset()
    closures: frozenset[str] = frozenset()
    logic: Mapping[str, frozenset[str]] = field(default_factory=dict)
    as_ruff: bool = False

    @property
    def roles(self) -> dict[str, str]:
        """The field that names each node kind of the row."""
        kinds = (field.name for field in fields(self) if field.name != "as_ruff")
        return {kind: name for name in kinds for kind in getattr(self, name)}


@dataclass(frozen=True, slots=True)
class Hazard:
    """The start of a call, without blanks, and what to check."""

    code: str
    look: re.Pattern[str]
    why: str


@dataclass(frozen=True, slots=True)
class MetricsLanguage:
    """The control flow of a language, which units and variables are for their own file alone, and dangerous calls.

    `style_guide` measures a text by the language's own guide, for one that a tool can check.
    """

    control: ControlFlow
    is_private: IsPrivate | None = None
    private_variables: re.Pattern[bytes] | None = None
    hazards: tuple[Hazard, ...] = ()
    style_guide: Callable[..., pep8.Pep8 | None] | None = None


def _kinds(names: str) -> frozenset[str]:
    return frozenset(names.split())


def _hazard(code: str, look: str, why: str) -> Hazard:
    return Hazard(code, re.compile(look), why)


_BINARY = {"binary_expression": _kinds("&& ||")}

_SHELL = "a shell reads its argument: check that no input of a user can be part of it"
_WEAK = "MD5 and SHA-1 can be forged: use SHA-256 where it guards something"
_TEXT_AS_CODE = "runs text as code"
_SQL = "SQL put together out of text: pass parameters"
_UNDEFINED = "undefined behavior if its condition does not hold"
_DATA_AS_CODE = "can build any object out of the data: never give it data of others"

ROWS: Mapping[str, MetricsLanguage | None] = {
    "python": MetricsLanguage(
        ControlFlow(
            elifs=_kinds("elif_clause"),
            loops=_kinds("for_statement while_statement"),
            switches=_kinds("match_statement"),
            cases=_kinds("case_clause"),
            catches=_kinds("except_clause except_group_clause"),
            closures=_kinds("lambda"),
            logic={"boolean_operator": _kinds("and or")},
            as_ruff=True,
        ),
        is_private=private_units.python,
        private_variables=private_units.PYTHON_VARIABLE,
        style_guide=pep8.review,
    ),
    "javascript": MetricsLanguage(
        ControlFlow(
            loops=_kinds("for_statement for_in_statement while_statement do_statement"),
            ternaries=_kinds("ternary_expression"),
            cases=_kinds("switch_case"),
            closures=_kinds("arrow_function function_expression"),
            logic={"binary_expression": _kinds("&& || ??")},
        ),
        is_private=private_units.ecmascript,
        hazards=(
            _hazard("text-as-code", r"(?:window\.|globalThis\.)?eval\((?!['\"`][^+]*\)$)|newFunction\(", _TEXT_AS_CODE),
            _hazard("text-as-code", r"set(?:Timeout|Interval)\(['\"`]", _TEXT_AS_CODE),
            _hazard("shell", r"(?:child_process\.|cp\.)?exec(?:Sync)?\((?:`[^`]*\$\{|['\"][^'\"]*['\"]\+)", _SHELL),
            _hazard(
                "html",
                r"document\.write(?:ln)?\((?!['\"`][^+$]*\)$)|.*\.insertAdjacentHTML\(",
                "what it writes is read as HTML: escape it",
            ),
            _hazard("weak-hash", r"(?:crypto\.)?createHash\(['\"](?:md5|sha1)['\"]", _WEAK),
        ),
    ),
    "go": MetricsLanguage(
        ControlFlow(
            loops=_kinds("for_statement"),
            switches=_kinds("expression_switch_statement type_switch_statement select_statement"),
            cases=_kinds("expression_case type_case communication_case"),
            closures=_kinds("func_literal"),
            logic=_BINARY,
        ),
        is_private=private_units.go,
        hazards=(
            _hazard(
                "shell",
                r"exec\.Command(?:Context)?\((?:\w+,)?\"(?:sh|bash|/bin/sh|/bin/bash|cmd)\",\"[-/]c\",(?!\"[^\"]*\"\))",
                _SHELL,
            ),
            _hazard("weak-hash", r"(?:md5|sha1)\.(?:New|Sum)\(", _WEAK),
            _hazard("sql", r".*\.(?:Query|Exec|QueryRow)(?:Context)?\((?:\w+,)?(?:fmt\.Sprintf\(|\"[^\"]*\"\+)", _SQL),
        ),
    ),
    "rust": MetricsLanguage(
        ControlFlow(
            ifs=_kinds("if_expression"),
            loops=_kinds("for_expression while_expression"),
            endless=_kinds("loop_expression"),
            switches=_kinds("match_expression"),
            cases=_kinds("match_arm"),
            closures=_kinds("closure_expression"),
            logic={**_BINARY, "let_chain": _kinds("&&")},
        ),
        is_private=private_units.rust,
        hazards=(
            _hazard("unchecked", r".*(?:get_unchecked(?:_mut)?|unwrap_unchecked|from_utf8_unchecked)\(", _UNDEFINED),
            _hazard("unchecked", r"(?:std::)?mem::(?:transmute|uninitialized|zeroed)(?:::<.*>)?\(", _UNDEFINED),
        ),
    ),
    "java": MetricsLanguage(
        ControlFlow(
            loops=_kinds("for_statement enhanced_for_statement while_statement do_statement"),
            ternaries=_kinds("ternary_expression"),
            switches=_kinds("switch_expression switch_statement"),
            cases=_kinds("switch_label"),
            tries=_kinds("try_statement try_with_resources_statement"),
            closures=_kinds("lambda_expression"),
            logic=_BINARY,
        ),
        is_private=private_units.by_keyword,
        hazards=(
            _hazard(
                "shell",
                r"Runtime\.getRuntime\(\)\.exec\((?!\"[^\"]*\"\))",
                "starts a process out of text: use ProcessBuilder with a list",
            ),
            _hazard("data-as-code", r".*\.readObject\(\)", _DATA_AS_CODE),
            _hazard("weak-hash", r"MessageDigest\.getInstance\(\"(?i:md5|sha-?1)\"", _WEAK),
            _hazard("sql", r".*\.(?:executeQuery|executeUpdate|prepareStatement)\(\"[^\"]*\"\+", _SQL),
        ),
    ),
    "c": MetricsLanguage(
        ControlFlow(
            loops=_kinds("for_statement for_range_loop while_statement do_statement"),
            cases=_kinds("case_statement"),
            closures=_kinds("lambda_expression"),
            logic={"binary_expression": _kinds("&& || and or")},
        ),
        is_private=private_units.c,
        hazards=(
            _hazard(
                "buffer-overflow",
                r"(?:std::)?(?:gets|strcpy|strcat|sprintf|vsprintf|stpcpy)\(",
                "knows no end of its buffer",
            ),
            _hazard(
                "buffer-overflow",
                r"(?:std::)?[fs]?scanf\((?:[^,\"]+,)?\"[^\"]*%s",
                "`%s` without a width knows no end of its buffer",
            ),
            _hazard(
                "format-string", r"(?:std::)?printf\([A-Za-z_]\w*\)", 'its format is no literal: use printf("%s", …)'
            ),
            _hazard("shell", r"(?:std::)?(?:system|popen)\((?!\")", _SHELL),
            _hazard(
                "temporary-file", r"(?:mktemp|tmpnam|tempnam)\(", "another process can take the name first: use mkstemp"
            ),
        ),
    ),
    "csharp": MetricsLanguage(
        ControlFlow(
            loops=_kinds("for_statement foreach_statement while_statement do_statement"),
            switches=_kinds("switch_statement switch_expression"),
            cases=_kinds("switch_section switch_expression_arm"),
            closures=_kinds("lambda_expression anonymous_method_expression"),
            logic={"binary_expression": _kinds("&& || ??")},
        ),
        is_private=private_units.csharp,
        hazards=(
            _hazard("data-as-code", r"newBinaryFormatter\(", _DATA_AS_CODE),
            _hazard("weak-hash", r"(?:MD5|SHA1)\.Create\(", _WEAK),
            _hazard("sql", r"new(?:Sql|Npgsql|MySql|Sqlite)Command\((?:\$\"[^\"]*\{|\"[^\"]*\"\+)", _SQL),
        ),
    ),
    "shellscript": MetricsLanguage(
        ControlFlow(
            elifs=_kinds("elif_clause"),
            loops=_kinds("for_statement c_style_for_statement while_statement"),
            switches=_kinds("case_statement"),
            cases=_kinds("case_item"),
            logic={"list": _kinds("&& ||")},
        ),
        hazards=(_hazard("text-as-code", r"eval['\"]?\$", _TEXT_AS_CODE),),
    ),
    "ruby": MetricsLanguage(
        ControlFlow(
            ifs=_kinds("if unless"),
            elifs=_kinds("elsif"),
            guards=_kinds("if_modifier unless_modifier while_modifier until_modifier rescue_modifier"),
            loops=_kinds("while until for"),
            ternaries=_kinds("conditional"),
            switches=_kinds("case case_match"),
            cases=_kinds("when in_clause"),
            catches=_kinds("rescue"),
            tries=_kinds("begin"),
            closures=_kinds("block do_block lambda"),
            logic={"binary": _kinds("&& || and or")},
        ),
        hazards=(
            _hazard(
                "text-as-code", r"(?:\w+\.)?(?:eval|instance_eval|class_eval)\((?!['\"][^#]*['\"]\)$)", _TEXT_AS_CODE
            ),
            _hazard("shell", r"(?:Kernel\.)?(?:system|exec|spawn)\(\"[^\"]*#\{", _SHELL),
            _hazard("data-as-code", r"(?:Marshal|YAML)\.(?:load|unsafe_load)\(", _DATA_AS_CODE),
        ),
    ),
    "php": MetricsLanguage(
        ControlFlow(
            elifs=_kinds("else_if_clause"),
            loops=_kinds("for_statement foreach_statement while_statement do_statement"),
            switches=_kinds("switch_statement match_expression"),
            cases=_kinds("case_statement match_conditional_expression"),
            closures=_kinds("anonymous_function arrow_function"),
            logic={"binary_expression": _kinds("&& || and or ??")},
        ),
        is_private=private_units.by_keyword,
        hazards=(
            _hazard("text-as-code", r"(?:eval|create_function|assert)\(['\"]?\$", _TEXT_AS_CODE),
            _hazard("shell", r"(?:exec|shell_exec|system|passthru|popen|proc_open)\((?!['\"][^'\"$]*['\"])", _SHELL),
            _hazard("data-as-code", r"unserialize\(", _DATA_AS_CODE),
            _hazard("weak-hash", r"(?:md5|sha1)\(", _WEAK),
        ),
    ),
    "kotlin": MetricsLanguage(
        ControlFlow(
            ifs=_kinds("if_expression"),
            loops=_kinds("for_statement while_statement do_while_statement"),
            switches=_kinds("when_expression"),
            cases=_kinds("when_entry"),
            catches=_kinds("catch_block"),
            tries=_kinds("try_expression"),
            closures=_kinds("lambda_literal anonymous_function"),
            logic={"binary_expression": _kinds("&& || ?:")},
        ),
        is_private=private_units.by_keyword,
    ),
    "swift": MetricsLanguage(
        ControlFlow(
            guards=_kinds("guard_statement"),
            loops=_kinds("for_statement while_statement repeat_while_statement"),
            ternaries=_kinds("ternary_expression"),
            cases=_kinds("switch_entry"),
            catches=_kinds("catch_block"),
            tries=_kinds("do_statement"),
            closures=_kinds("lambda_literal"),
            logic={
                "conjunction_expression": _kinds("&&"),
                "disjunction_expression": _kinds("||"),
                "nil_coalescing_expression": _kinds("??"),
            },
        ),
        is_private=private_units.by_keyword,
    ),
    "lua": MetricsLanguage(
        ControlFlow(
            elifs=_kinds("elseif_statement"),
            loops=_kinds("for_statement while_statement repeat_statement"),
            logic={"binary_expression": _kinds("and or")},
        ),
        is_private=private_units.lua,
    ),
}
"""Rows by language id. One without a row has no complexity and is only searched for unreachable code and copies."""

language_row = lookup(ROWS, None)
"""The row of a language, of its family, or None."""
