"""What a parameter accepts, read from its type, in the code or in JSDoc."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stet_ls.validators.source import Source
from stet_ls.validators.structure.units import tree_of

if TYPE_CHECKING:
    import tree_sitter

_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class ValueKind:
    """A set of values. `name`: a primitive type, array, tuple, object, record, map, set, union, literal, date, regexp,
    function, class, or any. `items` are its parts, `fields` an object's, each marked if it may be missing,
    `text` is a literal's source or a class' name. A function `returning` its one item is `async` by its text.
    """

    name: str
    items: tuple[ValueKind, ...] = ()
    fields: tuple[tuple[str, ValueKind, bool], ...] = ()
    text: str = ""

    @property
    def known(self) -> bool:
        """False if any part of it is a guess."""
        return self.name != "any" and all(each.known for each in (*self.items, *(kind for _, kind, _ in self.fields)))


ANY = ValueKind("any")
NUMBER, STRING, BOOLEAN = ValueKind("number"), ValueKind("string"), ValueKind("boolean")
NULL, UNDEFINED = ValueKind("null"), ValueKind("undefined")
FUNCTION, DATE, REGEXP = ValueKind("function"), ValueKind("date"), ValueKind("regexp")
CALLBACK = ValueKind("callback")
"""A function whose result is not used."""
METHOD = ValueKind("method")
"""A function that is called on an object: its calls are effects."""

_PLAIN = {
    "number": NUMBER,
    "string": STRING,
    "boolean": BOOLEAN,
    "bigint": ValueKind("bigint"),
    "null": NULL,
    "void": UNDEFINED,
    "undefined": UNDEFINED,
    "Number": NUMBER,
    "String": STRING,
    "Boolean": BOOLEAN,
    "Function": FUNCTION,
    "Date": DATE,
    "RegExp": REGEXP,
    "Array": ValueKind("array", (ANY,)),
    "int": ValueKind("int"),
    "integer": ValueKind("int"),
    "float": NUMBER,
    "bool": BOOLEAN,
    "function": FUNCTION,
}
_CONTAINERS = {
    "Array": "array", "ReadonlyArray": "array", "Iterable": "array", "ArrayLike": "array", "Set": "set",
    "ReadonlySet": "set", "Map": "map", "ReadonlyMap": "map", "Record": "record", "Object": "record",
}  # fmt: skip
_SAME = frozenset({"Readonly", "Required", "NonNullable", "Promise"})

Types = Mapping[str, "tree_sitter.Node"]
"""The interfaces, aliases, enums and classes of a module by name."""


def kind_of_type(node: tree_sitter.Node, types: Types, depth: int = 0) -> ValueKind:
    """The kind that a type's node denotes; ANY if not understood."""
    if depth > _DEEPEST:
        return ANY
    text = text_of(node)
    inner = [each for each in node.named_children if each.type != "comment"]
    if node.type in ("type_annotation", "parenthesized_type", "readonly_type", "opting_type_annotation"):
        return kind_of_type(inner[-1], types, depth) if inner else ANY
    if node.type == "literal_type":
        return _PLAIN.get(text, ValueKind("literal", text=text))
    if node.type == "array_type":
        return ValueKind("array", (kind_of_type(inner[0], types, depth + 1),))
    if node.type == "tuple_type":
        return ValueKind("tuple", tuple(kind_of_type(each, types, depth + 1) for each in inner))
    if node.type == "union_type":
        return union(kind_of_type(each, types, depth) for each in inner)
    if node.type == "intersection_type":
        parts = [kind_of_type(each, types, depth) for each in inner]
        return ValueKind("object", fields=tuple(field for part in parts for field in part.fields))
    if node.type in ("object_type", "interface_body"):
        return _object(inner, types, depth)
    if node.type in ("function_type", "constructor_type"):
        return _function_type(node, types, depth)
    if node.type == "generic_type":
        return _generic(inner, types, depth)
    if node.type in ("predefined_type", "type_identifier"):
        return _PLAIN[text] if text in _PLAIN else _named(text, types, depth)
    return ANY


def _function_type(node: tree_sitter.Node, types: Types, depth: int) -> ValueKind:
    """A function that gives what its type says, if it is given nothing or gives an object or a promise."""
    result, given = node.child_by_field_name("return_type"), node.child_by_field_name("parameters")
    if result is None:
        return FUNCTION
    kind = kind_of_type(result, types, depth + 1)
    is_later = "Promise<" in text_of(result)
    is_plain = kind.name in ("boolean", "number", "string", "any", "undefined")
    if kind.name == "any" or (not is_later and is_plain and given is not None and given.named_children):
        return FUNCTION
    return ValueKind("returning", items=(kind,), text="async" if is_later else "")


def kind_of_jsdoc(text: str, types: Types) -> ValueKind:
    """The kind in the braces of a JSDoc tag: `number`, `?string`, `Array.<number>`, `string[]=`."""
    text = text.strip().removesuffix("=").removeprefix("...").removeprefix("!").replace(".<", "<")
    text = text.replace("*", "any") if text != "*" else "any"
    if text.startswith("?"):
        text = f"({text[1:]}) | null"
    parsed = tree_of(Source(f"type T = {text};"), "typescript")
    if parsed is None or parsed.root.has_error:
        return ANY
    value = part_of(next(iter(parsed.root.named_children), None), "value")
    return kind_of_type(value, types) if value is not None else ANY


def documented(doc: str, types: Types) -> dict[str, ValueKind]:
    """The kinds of the parameters that a doc comment states."""
    found = {}
    for match in re.finditer(r"@(?:param|arg|argument)\s*\{((?:[^{}]|\{[^{}]*\})*)\}\s*(\[)?([\w$.]+)", doc):
        kind = kind_of_jsdoc(match[1], types)
        found[match[3]] = union((kind, UNDEFINED)) if match[2] or match[1].strip().endswith("=") else kind
    for name in [each for each in found if "." in each]:
        owner, _, field = name.partition(".")
        if found.get(owner, ANY).name in ("any", "record", "object"):
            known = found[owner].fields if owner in found else ()
            kind = found.pop(name)
            found[owner] = ValueKind("object", fields=(*known, (field, kind, UNDEFINED in kind.items)))
    return found


def union(kinds: Iterator[ValueKind] | tuple[ValueKind, ...]) -> ValueKind:
    """Any of several kinds; nested unions are flattened."""
    flat: list[ValueKind] = []
    for kind in kinds:
        flat += kind.items if kind.name == "union" else (kind,)
    distinct = tuple(dict.fromkeys(flat))
    return distinct[0] if len(distinct) == 1 else ValueKind("union", distinct) if distinct else ANY


def descendants(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The node and all named nodes in it, the last child first."""
    pending = [node]
    while pending:
        each = pending.pop()
        yield each
        pending += each.named_children


def text_of(node: tree_sitter.Node | None) -> str:
    """A node's source; "" for none."""
    return "" if node is None else (node.text or b"").decode("utf-8", "replace")


def part_of(node: tree_sitter.Node | None, *fields: str) -> tree_sitter.Node | None:
    """The part of a node in the first of the fields that it has."""
    return None if node is None else next(filter(None, map(node.child_by_field_name, fields)), None)


def arguments_of(call: tree_sitter.Node | None) -> list[tree_sitter.Node]:
    """The arguments of a call; none of anything else."""
    given = part_of(call, "arguments")
    return [] if given is None else given.named_children


def _object(members: list[tree_sitter.Node], types: Types, depth: int) -> ValueKind:
    fields: list[tuple[str, ValueKind, bool]] = []
    for each in members:
        name, annotation = each.child_by_field_name("name"), each.child_by_field_name("type")
        optional = any(child.type == "?" for child in each.children)
        if each.type == "index_signature" and annotation is not None:
            return ValueKind("record", (STRING, kind_of_type(annotation, types, depth + 1)))
        if each.type == "method_signature" and name is not None:
            fields.append((text_of(name), _function_type(each, types, depth), optional))
        elif name is not None and annotation is not None:
            fields.append((text_of(name), kind_of_type(annotation, types, depth + 1), optional))
    return ValueKind("object", fields=tuple(fields))


def _generic(inner: list[tree_sitter.Node], types: Types, depth: int) -> ValueKind:
    name = text_of(inner[0])
    arguments = [kind_of_type(each, types, depth + 1) for each in inner[1].named_children] if len(inner) > 1 else []
    if name in _SAME and arguments:
        return arguments[0]
    if name == "Partial" and arguments:
        return ValueKind("object", fields=tuple((field, kind, True) for field, kind, _ in arguments[0].fields))
    if name in _CONTAINERS and arguments:
        return ValueKind(_CONTAINERS[name], tuple(arguments))
    return _named(name, types, depth)


def _named(name: str, types: Types, depth: int) -> ValueKind:
    node = types.get(name)
    if node is None:
        return ANY
    if node.type == "class_declaration":
        return ValueKind("class", text=name)
    if node.type == "enum_declaration":
        body = node.child_by_field_name("body")
        members = [part_of(each, "name") or each for each in body.named_children] if body is not None else []
        return union(tuple(ValueKind("literal", text=f"{name}.{text_of(each)}") for each in members))
    value = part_of(node, "value", "body")
    return kind_of_type(value, types, depth + 1) if value is not None else ANY
