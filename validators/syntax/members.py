"""Class members without a type: the grammars of Java and C# take them for constructors and lambdas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stet_ls.validators.findings import Finding
from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.source import Span
from stet_ls.validators.structure.units import captures

if TYPE_CHECKING:
    import tree_sitter

UNTYPED = "missing-type"

_CONSTRUCTORS = frozenset({"constructor_declaration"})
_PARAMETERS = frozenset({"parameter"})
_DECLARATORS = frozenset({"bracketed_argument_list"})
_CLASSES = ("class_declaration", "enum_declaration", "record_declaration", "struct_declaration")
_LAMBDAS = ("lambda_expression", "anonymous_method_expression")


def constructors(parsed: Parsed) -> tuple[Finding, ...]:
    """Constructors whose name differs from their class's: methods without a type."""
    found = []
    for node in captures(parsed, _CONSTRUCTORS):
        name, owner = node.child_by_field_name("name"), _owner(node)
        if name is None or owner is None or node.has_error or parsed.text(name) == parsed.text(owner):
            continue
        message = f"expected a type before '{parsed.text(name)}': a constructor would be called '{parsed.text(owner)}'"
        found.append(_finding(parsed, name, message))
    return tuple(found)


def _owner(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The name of the class that holds a member."""
    above = node.parent
    while above is not None and (above.type.endswith(("body", "declarations")) or above.type == "declaration_list"):
        above = above.parent
    return above.child_by_field_name("name") if above is not None and above.type in _CLASSES else None


def parameters(parsed: Parsed) -> tuple[Finding, ...]:
    """C#: parameters of methods without a type, which only a lambda's may be."""
    found = []
    for node in captures(parsed, _PARAMETERS):
        above = node.parent.parent if node.parent else None
        name = node.child_by_field_name("name")
        if (
            above is None
            or name is None
            or above.type in _LAMBDAS
            or node.child_by_field_name("type")
            or node.has_error
        ):
            continue
        if above.type.endswith(("declaration", "local_function_statement")):
            found.append(_finding(parsed, name, f"expected a type and a name, found only '{parsed.text(name)}'"))
    return tuple(found)


def arrays(parsed: Parsed) -> tuple[Finding, ...]:
    """C#: `sum first[i];`, an expression without its operator that looks like an array of C."""
    found = []
    for node in captures(parsed, _DECLARATORS):
        declarator = node.parent
        above = declarator.parent if declarator else None
        if declarator is None or above is None or declarator.type != "variable_declarator":
            continue
        if above.parent is not None and above.parent.type == "local_declaration_statement":
            found.append(_finding(parsed, node, "unexpected '[' behind the name of a variable", code="unexpected"))
    return tuple(found)


def _finding(parsed: Parsed, node: tree_sitter.Node, message: str, code: str = UNTYPED) -> Finding:
    span = parsed.span(node)
    line = parsed.source.line_of(span.start)
    signature = f"{code} {parsed.source.line_text(line).strip()[:40]}"
    return Finding(Span(span.start, span.end), message, code=code, line=line, signature=signature)
