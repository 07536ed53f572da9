"""Infers the type of an unannotated parameter from its use in the function."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from stet_ls.engine.execution.javascript.inputs.values.linked_kinds import linked
from stet_ls.engine.execution.javascript.inputs.values.value_kinds import (
    ANY,
    BOOLEAN,
    CALLBACK,
    FUNCTION,
    METHOD,
    NULL,
    NUMBER,
    STRING,
    UNDEFINED,
    ValueKind,
    arguments_of,
    descendants,
    part_of,
    text_of,
    union,
)

if TYPE_CHECKING:
    import tree_sitter

_STRING = frozenset({
    "split", "slice", "substring", "substr", "charAt", "charCodeAt", "codePointAt", "toUpperCase", "toLowerCase",
    "startsWith", "endsWith", "replace", "replaceAll", "trim", "trimStart", "trimEnd", "padStart", "padEnd",
    "match", "matchAll", "localeCompare", "repeat", "search", "normalize",
})  # fmt: skip
_ARRAY = frozenset({
    "map", "filter", "reduce", "reduceRight", "forEach", "push", "pop", "shift", "unshift", "sort", "reverse",
    "some", "every", "find", "findIndex", "findLast", "join", "flat", "flatMap", "splice", "fill", "entries",
    "keys", "values", "toSorted", "toReversed", "concat",
})  # fmt: skip
_EACH = frozenset({"map", "filter", "forEach", "some", "every", "find", "findIndex", "flatMap", "findLast"})
_ORDER = frozenset({"sort", "toSorted"})
_MAP = frozenset({"get", "set", "has", "delete"})
_EITHER = frozenset({"length", "indexOf", "includes", "at", "lastIndexOf"})
_ARITHMETIC = frozenset({
    "-", "*", "/", "%", "**", "<", ">", "<=", ">=", "-=", "*=", "/=", "%=", "&", "|", "^", "<<", ">>", ">>>",
})  # fmt: skip
_WHOLE = ValueKind("int")
_NAMES: tuple[tuple[str, ValueKind], ...] = (
    (r"^(count|size|limit|index|depth|level|\w+(Count|Size|Limit|Index))\d*$", _WHOLE),
    (r"^(n|m|k|x|y|z|i|j|a|b|c|d|num|number|age|year|start|end|min|max|step|total|amount|price"
     r"|threshold|width|height)\d*$", NUMBER),
    (r"^(s|str|string|text|word|name|char|ch|line|key|msg|message|sentence|path|url|email|title|prefix|suffix|input"
     r"|label|date|brackets|parens?)\d*$", STRING),
    (r"^(strings|words|names|lines|keys)$", ValueKind("array", (STRING,))),
    (r"^(numbers|nums|arr|array|list|lst|l|items|values|xs|ys|data|prices|operands?|grid|matrix)\d*$",
     ValueKind("array", (NUMBER,))),
    (r"^(rows|records|users|people|orders|products|events|tasks|posts|entries|elements)$",
     ValueKind("array", (union((NUMBER, STRING)),))),
    (r"^(is|has|should|can)[A-Z]|^(flag|reverse|strict|enabled)$", BOOLEAN),
    (r"^(fn|cb|callback|func|predicate|compare|comparator|mapper|iteratee)$", FUNCTION),
)  # fmt: skip
_METHODS_OF_ALL = frozenset({"toString", "toFixed", "valueOf"})
_SINGLE = frozenset({"any", "number", "int", "string"})
_MORE_KEYS = ("b", "a", "c")
_NAMED_KINDS = {"string": STRING, "number": NUMBER, "boolean": BOOLEAN, "undefined": UNDEFINED, "function": FUNCTION}
"""The kinds named by `typeof`."""
_NOTHING = {
    ("null", 2): {NULL, UNDEFINED}, ("undefined", 2): {NULL, UNDEFINED}, ("null", 3): {NULL},
    ("undefined", 3): {UNDEFINED},
}  # fmt: skip
"""What a comparison with null or undefined checks, by the operator's length: `==` treats the two alike."""


def used_as(node: tree_sitter.Node, name: str) -> ValueKind:
    """The kind that the uses of `name` within a function suggest, its name last; ANY if nothing does."""
    body = node.child_by_field_name("body") or node
    kind = _of_uses(body, _uses(body, name), name, 3)
    return linked(kind, node, name, _by_name)


def _of_uses(body: tree_sitter.Node, uses: list[tree_sitter.Node], name: str, deepest: int) -> ValueKind:
    members: set[str] = set()
    called: dict[str, ValueKind] = {}
    compared: dict[str, list[str]] = {}
    parts: dict[str, list[tree_sitter.Node]] = {}
    elements: list[tree_sitter.Node] = []
    plain: set[str] = set()
    asked: set[ValueKind] = set()
    is_indexed, awaited = False, set[str]()
    for each in _through_copies(uses):
        around = each.parent
        if around is None:
            continue
        asked |= _asked(each, around)
        if around.type == "member_expression" and around.child_by_field_name("object") == each:
            member = text_of(part_of(around, "property"))
            members.add(member)
            parts.setdefault(member, []).append(around)
            if around.parent is not None and around.parent.child_by_field_name("function") == around:
                called.setdefault(member, _method_of(body, around.parent, deepest))
                holder = around.parent.parent
                awaited |= {member} if holder is not None and holder.type == "await_expression" else set()
            other = _other_side(around, around.parent) if around.parent is not None else None
            if other is not None and other.type in ("string", "number"):
                compared.setdefault(member, []).append(text_of(other))
            elements += _given_to_callback(body, around)
        elif around.type == "subscript_expression" and around.child_by_field_name("object") == each:
            is_indexed = True
            elements += [around, *_named_by(body, around)]
        elif around.type == "call_expression" and around.child_by_field_name("function") == each:
            is_statement = around.parent is not None and around.parent.type == "expression_statement"
            return CALLBACK if is_statement else FUNCTION
        elif around.type == "for_in_statement" and around.child_by_field_name("right") == each:
            is_indexed = True
            if "of" in map(text_of, around.children):
                elements += _uses(body, text_of(part_of(around, "left")))
        else:
            plain |= _as_plain(each, around)
    element = _of_uses(body, elements, "", deepest - 1) if elements and deepest else ANY
    kind = _decided(name, members, element, plain, awaited, is_indexed=is_indexed)
    if kind.name == "object" and kind.fields:
        kind = replace(
            kind,
            fields=tuple(
                (
                    each,
                    called.get(each) or _one_of(compared.get(each, []), _part(body, parts, each, deepest, field)),
                    optional,
                )
                for each, field, optional in kind.fields
            ),
        )
    return union((kind, *sorted(asked, key=str))) if asked else kind


def _part(
    body: tree_sitter.Node, parts: dict[str, list[tree_sitter.Node]], name: str, deepest: int, otherwise: ValueKind
) -> ValueKind:
    """The kind that the uses of an object's field suggest."""
    return _of_uses(body, parts[name], name, deepest - 1) if deepest and name in parts else otherwise


def _one_of(literals: list[str], kind: ValueKind) -> ValueKind:
    """The literals that a field is compared with, and anything of its kind."""
    return union((*(ValueKind("literal", text=each) for each in dict.fromkeys(literals)), kind)) if literals else kind


_NAMING = {"variable_declarator": "name", "assignment_expression": "left"}
"""What gives a result a name, by the field that holds it."""


def _method_of(body: tree_sitter.Node, call: tree_sitter.Node, deepest: int) -> ValueKind:
    """A method that gives what the code uses of its result: `const { state } = await api.job(id)`."""
    holder = call.parent
    is_later = holder is not None and holder.type == "await_expression"
    holder = holder.parent if holder is not None and is_later else holder
    if holder is None or not deepest:
        return METHOD
    result = ANY
    name = holder.child_by_field_name(_NAMING[holder.type]) if holder.type in _NAMING else None
    chained = holder.child_by_field_name("property") if holder.type == "member_expression" and not is_later else None
    if chained is not None and text_of(chained) != "then":
        further = holder.parent if holder.parent is not None and holder.parent.type == "call_expression" else None
        method = _method_of(body, further, deepest - 1) if further is not None else _by_name(text_of(chained))
        result = ValueKind("object", fields=((text_of(chained), method, False),))
    elif name is not None:
        result = _of_pattern(name) or _of_uses(body, _uses(body, text_of(name)), "", deepest - 1)
    elif holder.type == "member_expression" and text_of(holder).endswith(".then") and holder.parent is not None:
        is_later = True
        function = next(iter(arguments_of(holder.parent)), None)
        single, inner = part_of(function, "parameter", "parameters"), part_of(function, "body")
        if single is not None and inner is not None:
            parameter = text_of(single).strip("()")
            result = _of_uses(inner, _uses(inner, parameter), "", deepest - 1)
    if result.name == "any":
        return METHOD
    return replace(METHOD, items=(result,), text="async" if is_later else "")


def _of_pattern(pattern: tree_sitter.Node) -> ValueKind | None:
    """The object that `{ state, result: found }` takes apart."""
    if pattern.type != "object_pattern":
        return None
    names = (re.match(r"[\w$]+", text_of(each)) for each in pattern.named_children)
    return ValueKind("object", fields=tuple((each[0], _by_name(each[0]), False) for each in names if each))


_COPIES = frozenset({"filter", "slice", "sort", "reverse", "toSorted", "toReversed", "concat"})
"""Methods whose result has the same items."""


def _through_copies(uses: list[tree_sitter.Node]) -> list[tree_sitter.Node]:
    """The uses, and those of copies: `[...rows]`, `rows.slice()`."""
    found = list(uses)
    for each in found:
        around = each.parent
        if around is None:
            continue
        copied = around.parent
        if around.type == "spread_element" and copied is not None and copied.type == "array":
            found.append(copied)
        elif around.type == "member_expression" and around.child_by_field_name("object") == each:
            is_called = copied is not None and copied.child_by_field_name("function") == around
            if copied is not None and is_called and text_of(part_of(around, "property")) in _COPIES:
                found.append(copied)
    return found


def _asked(each: tree_sitter.Node, around: tree_sitter.Node) -> set[ValueKind]:
    """The kinds that the code tests a value for: it is meant for those, and for others."""
    sign = text_of(part_of(around, "operator"))
    if sign == "??" and around.child_by_field_name("left") == each:
        return {NULL, UNDEFINED}
    if around.type == "member_expression" and around.child_by_field_name("optional_chain") is not None:
        return {NULL, UNDEFINED} if around.child_by_field_name("object") == each else set()
    if around.type == "arguments" and text_of(around.parent).startswith("Array.isArray"):
        return {NUMBER, ValueKind("array", (NUMBER,))}
    compared = around.parent if sign == "typeof" else around
    other = _other_side(around if sign == "typeof" else each, compared) if compared is not None else None
    if other is None:
        return set()
    if sign == "typeof":
        return {_NAMED_KINDS[text_of(other)[1:-1]], NUMBER, STRING} if text_of(other)[1:-1] in _NAMED_KINDS else set()
    return _NOTHING.get((other.type, len(sign)), set())


def _other_side(each: tree_sitter.Node, around: tree_sitter.Node) -> tree_sitter.Node | None:
    """The other operand of a node's comparison."""
    if text_of(part_of(around, "operator")) not in ("==", "!=", "===", "!=="):
        return None
    sides = [around.child_by_field_name("left"), around.child_by_field_name("right")]
    return next((side for side in sides if side is not None and side != each), None)


def _as_plain(each: tree_sitter.Node, around: tree_sitter.Node) -> set[str]:
    """What an operator or a call of `Math` implies about its operand."""
    if around.type == "arguments":
        called = text_of(around.parent)
        if called.startswith("Math."):
            return {"number"}
        if called.startswith(("Object.keys", "Object.values", "Object.entries")):
            return {"record"}
    operator = around.child_by_field_name("operator")
    if operator is None or around.type == "assignment_expression":
        return set()
    if text_of(operator) in (*_ARITHMETIC, "++", "--"):
        return {"number"}
    sides = [around.child_by_field_name("left"), around.child_by_field_name("right")]
    return {side.type for side in sides if side is not None and side != each and side.type in ("string", "number")}


def _given_to_callback(body: tree_sitter.Node, member: tree_sitter.Node) -> list[tree_sitter.Node]:
    """The uses of the parameter that `xs.map(x => …)` and the like pass to their function."""
    method, call = text_of(part_of(member, "property")), member.parent
    given = arguments_of(call) if call is not None and call.type == "call_expression" else []
    if method not in _EACH | _ORDER or not given:
        return []
    names = re.findall(r"[A-Za-z_$][\w$]*", text_of(part_of(given[0], "parameter", "parameters")))
    inner = part_of(given[0], "body") or body
    return [use for name in names[: 2 if method in _ORDER else 1] for use in _uses(inner, name)]


def _named_by(body: tree_sitter.Node, item: tree_sitter.Node) -> list[tree_sitter.Node]:
    """The uses of the variable that an item is bound to: `const row = rows[i]`."""
    holder = item.parent
    name = part_of(holder, "name") if holder is not None and holder.type == "variable_declarator" else None
    return _uses(body, text_of(name)) if name is not None and name.type == "identifier" else []


def _decided(
    name: str, members: set[str], element: ValueKind, plain: set[str], awaited: set[str], *, is_indexed: bool
) -> ValueKind:
    """The kind of what has such members; methods that are `awaited` are those of no text and no array."""
    named = _by_name(name)
    fields = sorted(member for member in members if re.fullmatch(r"[A-Za-z_$][\w$]*", member))
    if "record" in plain:  # with any keys, and those that the code names
        named_ones = tuple((each, _by_name(each), True) for each in fields if each not in _METHODS_OF_ALL)
        value = union((NUMBER, STRING)) if element.name in _SINGLE else element
        more = tuple((each, value, True) for each in _MORE_KEYS)
        return ValueKind("object", fields=(*named_ones, *more))
    if members & _STRING and not members & (_ARRAY - {"concat"}) and not awaited:
        return STRING
    if members & _ARRAY - awaited:
        return ValueKind("array", (element if element.name != "any" else _element_of(named),))
    if is_indexed or members & _EITHER - awaited:
        if element.name not in ("any", "string"):
            return ValueKind("array", (element,))
        if named.name in ("string", "array"):
            return ValueKind("array", (element,)) if named.name == "array" and element.name != "any" else named
        parts = (STRING, ValueKind("array", (NUMBER,)), ValueKind("array", (STRING,)))
        return union(parts)
    if len(members & _MAP) > 1:
        return ValueKind("map", (STRING, NUMBER))
    if plain:
        number = named if named == _WHOLE else NUMBER
        return union(tuple(STRING if each == "string" else number for each in sorted(plain)))
    if fields and not members & _METHODS_OF_ALL:
        return ValueKind("object", fields=tuple((each, _by_name(each), False) for each in fields))
    return NUMBER if "toFixed" in members else named


def _by_name(name: str) -> ValueKind:
    return next((kind for pattern, kind in _NAMES if re.search(pattern, name)), ANY)


def _element_of(kind: ValueKind) -> ValueKind:
    return kind.items[0] if kind.name == "array" else union((NUMBER, STRING))


def _uses(body: tree_sitter.Node, name: str) -> list[tree_sitter.Node]:
    name = re.sub(r"^(?:const|let|var)\s+", "", name)
    return [each for each in descendants(body) if each.type == "identifier" and text_of(each) == name]
