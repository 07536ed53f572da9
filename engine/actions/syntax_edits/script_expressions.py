"""Edits of expressions in JavaScript and TypeScript; `expressions.py` has those of Python."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from stet_ls.engine.actions.syntax_edits.edit import UNLIKELY, SyntaxEdit
from stet_ls.engine.actions.syntax_edits.script import EditedScript, function_around, is_async
from stet_ls.engine.actions.syntax_edits.table import SCRIPT_FUNCTIONS, SCRIPT_METHODS, SCRIPT_OPERATORS, SCRIPT_WRAPS
from stet_ls.validators.source import Span

if TYPE_CHECKING:
    import tree_sitter

_OPERATIONS = frozenset({"binary_expression", "augmented_assignment_expression", "update_expression"})
_COMPARISONS = frozenset({"<", "<=", ">", ">=", "===", "!==", "==", "!=", "in", "instanceof"})
_LOOPS = frozenset({"while_statement", "do_statement", "for_statement"})
_CONDITIONS = frozenset({"if_statement", "ternary_expression", *_LOOPS})
_AROUND = frozenset({"parenthesized_expression", "expression_statement", "binary_expression"})
_TIGHT = frozenset({"binary_expression", "unary_expression", "member_expression", "subscript_expression"})
_LOOSE = frozenset({"ternary_expression", "arrow_function", "assignment_expression", "augmented_assignment_expression",
                    "yield_expression", "sequence_expression", "spread_element"})  # fmt: skip
_SIMPLE = frozenset({"identifier", "call_expression", "member_expression", "subscript_expression"})
_ALIKE = 0.7
_LONGEST_NUMBER = 15
_USUAL = ("0", "1", "2", "-1", "10", "100")


def operators(of: EditedScript, node: tree_sitter.Node) -> Iterator[SyntaxEdit]:
    """Another operator, comparison or connective."""
    operator = node.child_by_field_name("operator") if node.type in _OPERATIONS else None
    if operator is None:
        return
    sign = "=" if node.type == "augmented_assignment_expression" else ""
    old = operator.type.removesuffix("=") if sign else operator.type
    for number, new in enumerate(SCRIPT_OPERATORS.get(old, ())):
        words = f"`{operator.type}` became `{new}{sign}`"
        yield of.at(of.span(operator), new + sign, node, 1 if number < 3 else 2, words, mutates=number == 0)
    if sign:
        yield of.at(of.span(operator), "=", node, 4)


def constants(of: EditedScript, node: tree_sitter.Node) -> Iterator[SyntaxEdit]:
    """A neighboring number, the other truth value, a text that stands nearby."""
    text = of.text(node)
    if node.type in ("true", "false"):
        new = "false" if text == "true" else "true"
        yield of.replaced(node, new, 1, f"{text} became {new}", mutates=True)
    elif node.type == "number" and len(text) <= _LONGEST_NUMBER:
        yield from _numbers(of, node, text)
    elif node.type == "string":
        yield from _texts(of, node, text)
    elif node.type in ("null", "undefined"):
        others = ("null", "undefined", "0", "[]", '""', "false", "-1", "{}")
        in_return = node.parent is not None and node.parent.type == "return_statement"
        for each in others if in_return else others[:2]:
            yield of.replaced(node, each, 3)


def _numbers(of: EditedScript, node: tree_sitter.Node, text: str) -> Iterator[SyntaxEdit]:
    if text.isdigit():
        for new in (int(text) + 1, int(text) - 1):
            yield of.replaced(node, str(new) if new >= 0 else f"({new})", 1, f"{text} became {new}", mutates=True)
        near = [*((each, 2.0) for each in of.numbers), *((each, 2.5) for each in _USUAL), (f"-{text}", 2.5),
                (str(int(text) + 2), 3.0), (str(int(text) - 2), 3.0)]  # fmt: skip
    else:
        near = [*((each, 2.0) for each in of.numbers), ("1", 2.5), ("0", 2.5), (f"(1 / {text})", 2.5)]
        if text.replace(".", "", 1).isdigit():
            near += [(f"{float(text) + 1:g}", 1.5), (f"{float(text) * 10:g}", 2.5), (f"{float(text) / 10:g}", 2.5)]
    for each, cost in near:
        yield of.replaced(node, f"({each})" if each[0] == "-" else each, cost, f"{text} became {each}")


def _texts(of: EditedScript, node: tree_sitter.Node, text: str) -> Iterator[SyntaxEdit]:
    quote, old = text[0], text[1:-1]
    yield of.replaced(node, f"{quote}{old}x{quote}", UNLIKELY, f"{text} became {quote}{old}x{quote}", mutates=True)
    alike = difflib.get_close_matches(old, of.words, n=4, cutoff=0.6) if len(old) > 2 else []
    short = [each for each in of.words if len(each) <= 2]
    values = [*((each, 2.0) for each in (*alike, *short)), (old.strip(), 2.0), (old.swapcase(), 2.5), (old[::-1], 2.5),
              ("", 2.5), (" ", 2.5), (f"{old} ", 3.0), (old[:-1], 3.0), (old[1:], 3.0)]  # fmt: skip
    for each in of.strings:
        yield of.replaced(node, each, 2, f"{text} became {each}")
    if "\\" not in old:
        for value, cost in values:
            if quote not in value:
                yield of.replaced(node, f"{quote}{value}{quote}", cost, f"{text} became {quote}{value}{quote}")


def names(of: EditedScript, node: tree_sitter.Node) -> Iterator[SyntaxEdit]:
    """Another variable of the function; another method of a known family; a property that its object has."""
    text = of.text(node)
    if node.type == "identifier" and not _binds(node):
        called = _is_called(node)
        known = text in of.names
        for each in SCRIPT_FUNCTIONS.get(text, ()) if not known else ():
            yield of.replaced(node, each, 1.5)
        alike = difflib.get_close_matches(text, of.names, n=3, cutoff=_ALIKE)
        for each in dict.fromkeys([*alike, *of.names]):
            if each != text:
                yield of.replaced(node, each, 0.5 if each in alike and not known and not called else 1.5)
    elif node.type == "shorthand_property_identifier":
        for each in of.names:
            if each != text:
                yield of.replaced(node, f"{text}: {each}", 2)
    elif node.type == "property_identifier" and node.parent is not None and node.parent.type == "member_expression":
        owner = node.parent.child_by_field_name("object")
        siblings = of.properties.get(of.text(owner), ()) if owner is not None else ()
        alike = [] if text in SCRIPT_METHODS else difflib.get_close_matches(text, SCRIPT_METHODS, n=2, cutoff=_ALIKE)
        rows = [*((each, 1.0) for each in (*SCRIPT_METHODS.get(text, ()), *alike)),
                *((each, 2.0) for each in siblings if each != text)]  # fmt: skip
        rows += [("size", 1.5)] if text == "length" else [("length", 1.5)] if text == "size" else []
        for each, cost in rows:
            yield of.replaced(node, each, cost)


def calls(of: EditedScript, node: tree_sitter.Node) -> Iterator[SyntaxEdit]:
    """Other arguments, or their order; an await that is missing."""
    if node.type not in ("call_expression", "new_expression"):
        return
    listed = node.child_by_field_name("arguments")
    given = list(listed.named_children) if listed is not None and listed.type == "arguments" else []
    for left, right in pairwise(given):
        yield of.swapped(left, right, 1.5)
    for number in range(len(given)) if len(given) > 1 else ():
        yield of.removed(given, number, 2, "the argument")
    called = node.child_by_field_name("function")
    name = of.text(called).rpartition(".")[2] if called is not None else ""
    for each in _MISSING.get(name, ()):
        if listed is not None and listed.type == "arguments" and len(given) == each.count(",") - (not given):
            text = each.lstrip(", ") if not given else each
            place = Span(listed.end_byte - 1, listed.end_byte - 1)
            yield of.at(place, text, node, 2, f"added `{text.strip(', ')}`")
    if is_async(function_around(node)) and node.parent is not None and node.parent.type != "await_expression":
        text = f"await {of.text(node)}"
        yield of.replaced(node, f"({text})" if node.parent.type in _TIGHT else text, 1.5)


_MISSING = {
    "sort": ("(a, b) => a - b", "(a, b) => b - a"),
    "parseInt": (", 10",),
    "reduce": (", 0",),
    "filter": ("Boolean",),
    "join": ('""', '" "', '", "'),
    "split": ('""', '" "'),
    "toString": ("2", "16"),
}
"""Arguments that may be missing."""


def orders(of: EditedScript, node: tree_sitter.Node) -> Iterator[SyntaxEdit]:
    """Operands, items or branches that were swapped."""
    if node.type == "binary_expression":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if left is not None and right is not None and operator is not None and operator.type in "-+/**%":
            yield of.swapped(left, right, 1.5)
    elif node.type in ("array", "array_pattern") and len(node.named_children) < 5:
        for first, second in pairwise(node.named_children):
            yield of.swapped(first, second, 2)
    elif node.type == "ternary_expression":
        yes, no = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
        if yes is not None and no is not None:
            yield of.swapped(yes, no, 2)
    elif node.type in ("return_statement", "expression_statement", "variable_declarator"):
        yield from _exchanged(of, node)
    elif node.type in ("object", "object_pattern") and len(node.named_children) < 5:
        for first, second in pairwise(node.named_children):
            if "spread_element" in (first.type, second.type):
                yield of.swapped(first, second, 1.5)


def _exchanged(of: EditedScript, node: tree_sitter.Node) -> Iterator[SyntaxEdit]:
    """Two variables in each other's place, if either is used once in a statement."""
    used = [each for each in EditedScript(of.source, node).nodes if each.type == "identifier" and not _binds(each)]
    once = [each for each in used if [of.text(other) for other in used].count(of.text(each)) == 1]
    own = [each for each in once if of.text(each) in of.names][:6]
    for number, left in enumerate(own):
        for right in own[number + 1 :]:
            yield of.swapped(left, right, 2.5)


def parts(of: EditedScript, node: tree_sitter.Node) -> Iterator[SyntaxEdit]:
    """A part in place of the whole: what is too much is left out."""
    inner = {
        "binary_expression": ("left", "right"),
        "unary_expression": ("argument",),
        "ternary_expression": ("consequence", "alternative"),
        "subscript_expression": ("object",),
        "await_expression": (),
    }.get(node.type)
    for number, field in enumerate(inner or ()):
        part = node.child_by_field_name(field)
        if part is not None:
            yield of.replaced(node, of.text(part), 1.5 if field == "argument" else 2 + number / 2)
    if node.type == "call_expression" and node.parent is not None and node.parent.type != "expression_statement":
        called, listed = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if (
            called is not None
            and called.type == "member_expression"
            and (owner := called.child_by_field_name("object"))
        ):
            yield of.replaced(node, of.text(owner), 2)
        given = listed.named_children if listed is not None and listed.type == "arguments" else []
        if len(given) == 1 and given[0].type not in _LOOSE:
            yield of.replaced(node, of.text(given[0]), 2)
    elif node.type == "array" and len(node.named_children) > 1:
        for number in range(len(node.named_children)):
            yield of.removed(node.named_children, number, 3, "the item")


def bounds(of: EditedScript, node: tree_sitter.Node) -> Iterator[SyntaxEdit]:
    """Off by one: at an index, in a comparison, in an argument, in what is returned."""
    for each, cost in _counted(node):
        if each.type in ("number", "string", "true", "false", "array", "object", "template_string", *_LOOSE):
            continue
        text = of.text(each)
        for sign in "+-":
            yield of.replaced(each, f"{text} {sign} 1", cost)


def _counted(node: tree_sitter.Node) -> Iterator[tuple[tree_sitter.Node, float]]:
    if node.type == "arguments" and node.parent is not None:
        called = node.parent.child_by_field_name("function")
        is_part = called is not None and (called.text or b"").endswith((b".slice", b".substring", b".splice", b".at"))
        yield from ((each, 1.0 if is_part else 3.0) for each in node.named_children)
    elif node.type == "subscript_expression" and (index := node.child_by_field_name("index")) is not None:
        yield index, 1.5
    elif node.type == "binary_expression":
        operator = node.child_by_field_name("operator")
        sides = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        if operator is not None and operator.type in _COMPARISONS:
            yield from ((each, 2.0) for each in sides if each is not None)
    elif node.type == "return_statement" and node.named_children:
        yield node.named_children[0], 2.0
    elif node.type == "variable_declarator" and (value := node.child_by_field_name("value")) is not None:
        yield value, 3.0


def wraps(of: EditedScript, node: tree_sitter.Node) -> Iterator[SyntaxEdit]:
    """A call that is missing around a value, a copy that is missing."""
    parent = node.parent
    values = {"return_statement", "variable_declarator", "assignment_expression", "arguments", "arrow_function"}
    if parent is None or parent.type not in values or node.type in ("statement_block", "number", "string", *_LOOSE):
        return
    fields = [parent.child_by_field_name(each) for each in ("name", "left", "type", "parameter", "parameters")]
    if any(each is not None and each.id == node.id for each in fields) or node.type.endswith(
        ("_annotation", "pattern")
    ):
        return
    text = of.text(node)
    for each in SCRIPT_WRAPS:
        if not text.startswith(each.partition("{")[0]):
            yield of.replaced(node, each.format(text), 2 if each[:5] == "Math." else 3)
    if node.type == "identifier":
        yield of.replaced(node, f"{{ ...{text} }}", 3)


def conditions(of: EditedScript, node: tree_sitter.Node) -> Iterator[SyntaxEdit]:
    """A condition negated."""
    if (test := _condition(node)) is not None:
        text = of.text(test)
        negated = f"!{text}" if test.type in _SIMPLE else f"!({text})"
        yield of.replaced(test, negated, 1.5, "condition negated", mutates=True)
    operator = node.child_by_field_name("operator") if node.type == "binary_expression" else None
    if operator is not None and operator.type in ("&&", "||"):
        for side in (node.child_by_field_name("left"), node.child_by_field_name("right")):
            if side is not None:
                yield of.replaced(side, f"!({of.text(side)})", 2)


def decided(of: EditedScript, node: tree_sitter.Node) -> Iterator[SyntaxEdit]:
    """A condition that is always true or always false; one of a loop does not become always true."""
    test = _condition(node)
    operator = node.child_by_field_name("operator") if node.type == "binary_expression" else None
    if operator is not None and operator.type in _COMPARISONS:
        test = node
    elif test is None or test.type == "binary_expression":
        return
    above = test.parent
    while above is not None and above.type in _AROUND:
        above = above.parent
    values = ("false",) if above is not None and above.type in _LOOPS else ("true", "false")
    for value in values:
        yield of.replaced(test, value, UNLIKELY, f"`{of.text(test)}` is always {value}", mutates=True)


def _condition(node: tree_sitter.Node) -> tree_sitter.Node | None:
    test = node.child_by_field_name("condition") if node.type in _CONDITIONS else None
    if test is not None and test.type in ("parenthesized_expression", "expression_statement"):
        return test.named_children[0] if test.named_children else None
    return test if test is not None and test.is_named else None


def _binds(node: tree_sitter.Node) -> bool:
    """Whether a name is declared here rather than used."""
    parent = node.parent
    if parent is None or parent.type.endswith(("parameter", "parameters", "pattern", "_specifier", "_clause")):
        return True
    fields = [parent.child_by_field_name(each) for each in ("name", "parameter")]
    is_loop = parent.type == "for_in_statement" and parent.child_by_field_name("left") == node
    return is_loop or any(each is not None and each.id == node.id for each in fields)


def _is_called(node: tree_sitter.Node) -> bool:
    called = node.parent.child_by_field_name("function") if node.parent is not None else None
    return called is not None and called.id == node.id
