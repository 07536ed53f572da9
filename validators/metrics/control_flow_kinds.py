"""The node kinds of branches, loops and logical operators in each grammar: one row per language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields


@dataclass(frozen=True, slots=True)
class Control:
    """Node kinds of one grammar. Kinds that a release of the grammar does not have are ignored.

    `ifs` and `elifs` are the two forms of a condition; an `if` directly behind `else` is recognized by its position.
    `guards` are one-line conditions. `cases` are the branches of `switches` (the default one is recognized by its
    text). `tries` only nest. `logic` maps a node kind to the operators of it that count. `closures` nest but are not
    separate functions. With `as_ruff` paths are counted as ruff's C901 counts them, on statements only.
    """

    ifs: frozenset[str] = frozenset()
    elifs: frozenset[str] = frozenset()
    loops: frozenset[str] = frozenset()
    guards: frozenset[str] = frozenset()
    ternaries: frozenset[str] = frozenset()
    switches: frozenset[str] = frozenset()
    cases: frozenset[str] = frozenset()
    catches: frozenset[str] = frozenset()
    tries: frozenset[str] = frozenset()
    endless: frozenset[str] = frozenset()
    closures: frozenset[str] = frozenset()
    logic: Mapping[str, frozenset[str]] = field(default_factory=dict)
    as_ruff: bool = False

    @property
    def roles(self) -> dict[str, str]:
        """The field that names each node kind of the row."""
        kinds = (field.name for field in fields(self) if field.name != "as_ruff")
        return {kind: name for name in kinds for kind in getattr(self, name)}


def _kinds(names: str) -> frozenset[str]:
    return frozenset(names.split())


_BINARY = {"binary_expression": _kinds("&& ||")}

_ECMASCRIPT = Control(
    ifs=_kinds("if_statement"),
    loops=_kinds("for_statement for_in_statement while_statement do_statement"),
    ternaries=_kinds("ternary_expression"),
    switches=_kinds("switch_statement"),
    cases=_kinds("switch_case"),
    catches=_kinds("catch_clause"),
    tries=_kinds("try_statement"),
    closures=_kinds("arrow_function function_expression"),
    logic={"binary_expression": _kinds("&& || ??")},
)

_C_FAMILY = Control(
    ifs=_kinds("if_statement"),
    loops=_kinds("for_statement for_range_loop while_statement do_statement"),
    ternaries=_kinds("conditional_expression"),
    switches=_kinds("switch_statement"),
    cases=_kinds("case_statement"),
    catches=_kinds("catch_clause"),
    tries=_kinds("try_statement"),
    closures=_kinds("lambda_expression"),
    logic={"binary_expression": _kinds("&& || and or")},
)

CONTROL: Mapping[str, Control] = {
    "python": Control(
        ifs=_kinds("if_statement"),
        elifs=_kinds("elif_clause"),
        loops=_kinds("for_statement while_statement"),
        ternaries=_kinds("conditional_expression"),
        switches=_kinds("match_statement"),
        cases=_kinds("case_clause"),
        catches=_kinds("except_clause except_group_clause"),
        tries=_kinds("try_statement"),
        closures=_kinds("lambda"),
        logic={"boolean_operator": _kinds("and or")},
        as_ruff=True,
    ),
    "javascript": _ECMASCRIPT,
    "javascriptreact": _ECMASCRIPT,
    "typescript": _ECMASCRIPT,
    "typescriptreact": _ECMASCRIPT,
    "go": Control(
        ifs=_kinds("if_statement"),
        loops=_kinds("for_statement"),
        switches=_kinds("expression_switch_statement type_switch_statement select_statement"),
        cases=_kinds("expression_case type_case communication_case"),
        closures=_kinds("func_literal"),
        logic=_BINARY,
    ),
    "rust": Control(
        ifs=_kinds("if_expression"),
        loops=_kinds("for_expression while_expression"),
        endless=_kinds("loop_expression"),
        switches=_kinds("match_expression"),
        cases=_kinds("match_arm"),
        closures=_kinds("closure_expression"),
        logic={**_BINARY, "let_chain": _kinds("&&")},
    ),
    "java": Control(
        ifs=_kinds("if_statement"),
        loops=_kinds("for_statement enhanced_for_statement while_statement do_statement"),
        ternaries=_kinds("ternary_expression"),
        switches=_kinds("switch_expression switch_statement"),
        cases=_kinds("switch_label"),
        catches=_kinds("catch_clause"),
        tries=_kinds("try_statement try_with_resources_statement"),
        closures=_kinds("lambda_expression"),
        logic=_BINARY,
    ),
    "c": _C_FAMILY,
    "cpp": _C_FAMILY,
    "csharp": Control(
        ifs=_kinds("if_statement"),
        loops=_kinds("for_statement foreach_statement while_statement do_statement"),
        ternaries=_kinds("conditional_expression"),
        switches=_kinds("switch_statement switch_expression"),
        cases=_kinds("switch_section switch_expression_arm"),
        catches=_kinds("catch_clause"),
        tries=_kinds("try_statement"),
        closures=_kinds("lambda_expression anonymous_method_expression"),
        logic={"binary_expression": _kinds("&& || ??")},
    ),
    "shellscript": Control(
        ifs=_kinds("if_statement"),
        elifs=_kinds("elif_clause"),
        loops=_kinds("for_statement c_style_for_statement while_statement"),
        switches=_kinds("case_statement"),
        cases=_kinds("case_item"),
        logic={"list": _kinds("&& ||")},
    ),
    "ruby": Control(
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
    "php": Control(
        ifs=_kinds("if_statement"),
        elifs=_kinds("else_if_clause"),
        loops=_kinds("for_statement foreach_statement while_statement do_statement"),
        ternaries=_kinds("conditional_expression"),
        switches=_kinds("switch_statement match_expression"),
        cases=_kinds("case_statement match_conditional_expression"),
        catches=_kinds("catch_clause"),
        tries=_kinds("try_statement"),
        closures=_kinds("anonymous_function arrow_function"),
        logic={"binary_expression": _kinds("&& || and or ??")},
    ),
    "kotlin": Control(
        ifs=_kinds("if_expression"),
        loops=_kinds("for_statement while_statement do_while_statement"),
        switches=_kinds("when_expression"),
        cases=_kinds("when_entry"),
        catches=_kinds("catch_block"),
        tries=_kinds("try_expression"),
        closures=_kinds("lambda_literal anonymous_function"),
        logic={"binary_expression": _kinds("&& || ?:")},
    ),
    "swift": Control(
        ifs=_kinds("if_statement"),
        guards=_kinds("guard_statement"),
        loops=_kinds("for_statement while_statement repeat_while_statement"),
        ternaries=_kinds("ternary_expression"),
        switches=_kinds("switch_statement"),
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
    "lua": Control(
        ifs=_kinds("if_statement"),
        elifs=_kinds("elseif_statement"),
        loops=_kinds("for_statement while_statement repeat_statement"),
        logic={"binary_expression": _kinds("and or")},
    ),
}
"""Rows by language id; a language without one has no complexity."""
