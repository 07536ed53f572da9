"""What functions, classes, imports and calls are called in each grammar: one row a language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

# Where a language has its own form of doc comment, a plain comment above a function is a remark and not part of it.
ANY_COMMENT = re.compile("")
DOC_COMMENT = re.compile(r"/\*\*|///")
NO_COMMENT = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class NodeKinds:
    """Node kinds of one grammar. Kinds that a release of the grammar does not know are passed over.

    `values` are functions and classes without a name of their own: they count where a variable, field or key gives
    them one. `wrappers` are parents that belong to what they hold (a decorator's, an export's, a declaration's).
    `leading` are siblings above a unit that belong to it; `docs` says which comments above it do. `calls` maps the
    kind of a call to the field of what is called ("" takes its first child). `requires` are calls that import.
    With `bare_bodies` an empty body has no node.
    """

    functions: frozenset[str]
    classes: frozenset[str]
    values: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    leading: frozenset[str] = frozenset()
    docs: re.Pattern[str] = ANY_COMMENT
    imports: frozenset[str] = frozenset()
    requires: re.Pattern[str] | None = None
    calls: Mapping[str, str] = field(default_factory=dict)
    bare_bodies: bool = False


def _kinds(names: str) -> frozenset[str]:
    return frozenset(names.split())


_ECMASCRIPT = NodeKinds(
    functions=_kinds("function_declaration generator_function_declaration method_definition"),
    classes=_kinds(
        "class_declaration abstract_class_declaration interface_declaration enum_declaration type_alias_declaration"
    ),
    values=_kinds("arrow_function function_expression generator_function class"),
    wrappers=_kinds(
        "export_statement lexical_declaration variable_declaration variable_declarator pair public_field_definition"
        " field_definition assignment_expression expression_statement ambient_declaration"
    ),
    leading=_kinds("decorator"),
    docs=DOC_COMMENT,
    imports=_kinds("import_statement import_alias"),
    requires=re.compile(r"(?:const|let|var)\s[^=]*=\s*require\s*\("),
    calls={"call_expression": "function", "new_expression": "constructor"},
)

_C_FAMILY = NodeKinds(
    functions=_kinds("function_definition"),
    classes=_kinds("class_specifier struct_specifier union_specifier enum_specifier concept_definition"),
    wrappers=_kinds("template_declaration type_definition declaration"),
    leading=_kinds("attribute_declaration"),
    imports=_kinds("preproc_include using_declaration import_declaration"),
    calls={"call_expression": "function", "new_expression": "type"},
)

NODE_KINDS: Mapping[str, NodeKinds] = {
    "python": NodeKinds(
        functions=_kinds("function_definition"),
        classes=_kinds("class_definition"),
        wrappers=_kinds("decorated_definition"),
        docs=NO_COMMENT,
        imports=_kinds("import_statement import_from_statement future_import_statement"),
        calls={"call": "function"},
    ),
    "javascript": _ECMASCRIPT,
    "javascriptreact": _ECMASCRIPT,
    "typescript": _ECMASCRIPT,
    "typescriptreact": _ECMASCRIPT,
    "go": NodeKinds(
        functions=_kinds("function_declaration method_declaration"),
        classes=_kinds("type_spec"),
        values=_kinds("func_literal"),
        wrappers=_kinds("type_declaration var_declaration var_spec short_var_declaration expression_list"),
        imports=_kinds("import_declaration"),
        calls={"call_expression": "function"},
    ),
    "rust": NodeKinds(
        functions=_kinds("function_item macro_definition"),
        classes=_kinds("struct_item enum_item union_item trait_item impl_item"),
        leading=_kinds("attribute_item"),
        docs=DOC_COMMENT,
        imports=_kinds("use_declaration extern_crate_declaration"),
        calls={"call_expression": "function", "macro_invocation": "macro"},
    ),
    "java": NodeKinds(
        functions=_kinds("method_declaration constructor_declaration compact_constructor_declaration"),
        classes=_kinds(
            "class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration"
        ),
        docs=DOC_COMMENT,
        imports=_kinds("import_declaration"),
        calls={"method_invocation": "name", "object_creation_expression": "type"},
    ),
    "c": _C_FAMILY,
    "cpp": _C_FAMILY,
    "csharp": NodeKinds(
        functions=_kinds(
            "method_declaration constructor_declaration destructor_declaration operator_declaration"
            " conversion_operator_declaration local_function_statement property_declaration indexer_declaration"
        ),
        classes=_kinds(
            "class_declaration interface_declaration enum_declaration record_declaration struct_declaration"
        ),
        wrappers=_kinds("global_statement"),
        leading=_kinds("attribute_list"),
        docs=DOC_COMMENT,
        imports=_kinds("using_directive extern_alias_directive"),
        calls={"invocation_expression": "function", "object_creation_expression": "type"},
    ),
    "shellscript": NodeKinds(
        functions=_kinds("function_definition"),
        classes=frozenset(),
        requires=re.compile(r"(?:source|\.)\s"),
        calls={"command": "name"},
    ),
    "ruby": NodeKinds(
        functions=_kinds("method singleton_method"),
        classes=_kinds("class module"),
        requires=re.compile(r"(?:require|require_relative|load|autoload)\b"),
        calls={"call": "method"},
        bare_bodies=True,
    ),
    "php": NodeKinds(
        functions=_kinds("function_definition method_declaration"),
        classes=_kinds("class_declaration interface_declaration trait_declaration enum_declaration"),
        leading=_kinds("attribute_list"),
        docs=DOC_COMMENT,
        imports=_kinds("namespace_use_declaration"),
        calls={
            "function_call_expression": "function",
            "member_call_expression": "name",
            "scoped_call_expression": "name",
            "object_creation_expression": "",
        },
    ),
    "kotlin": NodeKinds(
        functions=_kinds("function_declaration secondary_constructor"),
        classes=_kinds("class_declaration object_declaration companion_object"),
        docs=DOC_COMMENT,
        imports=_kinds("import import_header import_list"),
        calls={"call_expression": ""},
    ),
    "swift": NodeKinds(
        functions=_kinds("function_declaration init_declaration deinit_declaration"),
        classes=_kinds("class_declaration protocol_declaration"),
        docs=DOC_COMMENT,
        imports=_kinds("import_declaration"),
        calls={"call_expression": ""},
    ),
    "lua": NodeKinds(
        functions=_kinds("function_declaration"),
        classes=frozenset(),
        values=_kinds("function_definition"),
        wrappers=_kinds("expression_list assignment_statement variable_declaration field"),
        requires=re.compile(r"(?:local\s[^=]*=\s*)?require\b"),
        calls={"function_call": "name"},
        bare_bodies=True,
    ),
}
"""Rows by language id. A language without one has no units: its targets are top-level statements or lines."""
