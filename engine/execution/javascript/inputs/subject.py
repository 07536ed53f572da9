"""The callable parts of a JavaScript or TypeScript text, and what they accept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from stet_ls.engine.execution.inputs.qualified_names import QualifiedName
from stet_ls.engine.execution.javascript.inputs.values.conversion import kind_of, row_text
from stet_ls.engine.execution.javascript.inputs.values.value_kinds import (
    ANY,
    FUNCTION,
    UNDEFINED,
    Types,
    ValueKind,
    documented,
    kind_of_type,
    text_of,
    union,
)
from stet_ls.validators.source import Source
from stet_ls.validators.structure.units import UnitNode, captures, find, tree_of

if TYPE_CHECKING:
    import tree_sitter

    from stet_ls.validators.parsing.tree import Parsed

_TYPES = frozenset({"interface_declaration", "type_alias_declaration", "enum_declaration", "class_declaration"})
_FUNCTIONS = frozenset({
    "function_declaration", "generator_function_declaration", "arrow_function", "function_expression", "function",
    "generator_function", "method_definition",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. `kind` is ANY if nothing was stated; `rest` for `...args`; `optional` may be omitted."""

    name: str
    kind: ValueKind = ANY
    optional: bool = False
    rest: bool = False


@dataclass(frozen=True, slots=True)
class Subject(QualifiedName):
    """Something to call: `how` is function, method, static, getter or class. `owner` is a method's class."""

    name: str
    how: str
    node: tree_sitter.Node
    parameters: tuple[Parameter, ...] = ()
    owner: str = ""
    doc: str = ""


@dataclass(frozen=True, slots=True)
class ClassShape:
    """A class: how it is created and what can be called on its objects."""

    init: Subject
    methods: tuple[Subject, ...]


@dataclass(frozen=True, slots=True)
class Module:
    """A parsed text with its callables and types by name."""

    parsed: Parsed
    found: Mapping[str, UnitNode]
    types: Types = field(default_factory=dict)

    @property
    def classes(self) -> frozenset[str]:
        """The names of its classes."""
        return frozenset(name for name, each in self.found.items() if each.node.type in _CLASSES)


_CLASSES = frozenset({"class_declaration", "class", "abstract_class_declaration"})


@lru_cache(maxsize=8)
def read_module(text: str, language: str) -> Module | None:
    """The module of a text; None if it cannot be parsed. JavaScript is read as TypeScript, its superset."""
    parsed = tree_of(Source(text), "typescript" if language == "typescript" else "typescriptreact")
    if parsed is None:
        return None
    types = {}
    for node in captures(parsed, _TYPES):
        name = node.child_by_field_name("name")
        if name is not None:
            types[text_of(name)] = node
    found: dict[str, UnitNode] = {}
    for each in find(parsed):
        if each.node.type in _FUNCTIONS | _CLASSES:
            found.setdefault(each.unit.qualified, each)
    return Module(parsed, found, types)


def subject_of(module: Module, qualified: str) -> Subject | None:
    """What a qualified name refers to; a nested function is called through the outer one."""
    parts = qualified.split(".")
    outer = module.found.get(parts[0])
    if outer is None or not _at_top(outer.node):
        return None
    if outer.node.type not in _CLASSES:
        return _function(module, outer, "function", parts[0])
    name = ".".join(parts[:2])
    if len(parts) > 1 and name in module.found and parts[1] != "constructor":
        node = module.found[name].node
        return _function(module, module.found[name], _how(node), name, parts[0])
    return Subject(parts[0], "class", outer.node, owner=parts[0], doc=outer.unit.doc)


def parameters_of(module: Module, node: tree_sitter.Node) -> tuple[Parameter, ...]:
    """The parameters of any function in a text, as their types say."""
    return tuple(_parameters(node, module.types, {}))


def shape_of(module: Module, name: str) -> ClassShape:
    """A class with its constructor, or else its base's, and its public methods."""
    outer = module.found[name]
    base = _base(module, outer.node)
    inherited = shape_of(module, base) if base else None
    maker = module.found.get(f"{name}.constructor")
    if maker is not None:
        init = _function(module, maker, "class", name)
    else:
        init = inherited.init if inherited else Subject(name, "class", outer.node, doc=outer.unit.doc)
    methods = {each.callee: each for each in (inherited.methods if inherited else ())}
    for qualified, each in module.found.items():
        owner, _, own = qualified.rpartition(".")
        if owner == name and own != "constructor" and each.node.type == "method_definition":
            how = _how(each.node)
            if how in ("method", "getter") and own[:1] not in "_#[\"'":
                methods[own] = _function(module, each, how, qualified, name)
    return ClassShape(init, tuple(methods.values()))


def subclasses(module: Module, name: str) -> list[str]:
    """The classes of a module that extend one."""
    return [each for each in sorted(module.classes) if _base(module, module.found[each].node) == name]


def changed_units(before: Module, after: Module, besides: str = "") -> list[str]:
    """The top-level functions and classes of both texts that are not written alike, in the order of the first.

    For a method `besides` ("Class.method"), its class is replaced by the class' other methods.
    """
    owner = besides.rpartition(".")[0]
    wanted = [name for name in before.found if name.rpartition(".")[0] in ("", owner) and name not in (owner, besides)]
    return [
        name for name in wanted if name in after.found and not is_written_alike(before.found[name], after.found[name])
    ]


def is_written_alike(one: UnitNode, other: UnitNode) -> bool:
    """Whether two functions or classes have the same text, white space aside."""
    return _written(one.node) == _written(other.node)


def top_names(module: Module) -> list[str]:
    """The functions, classes and enums at the top level of a text, exported or not."""
    enums = [name for name, node in module.types.items() if node.type == "enum_declaration"]
    return [*enums, *(name for name, each in module.found.items() if "." not in name and _at_top(each.node))]


def _written(node: tree_sitter.Node) -> str:
    return re.sub(r"\s+", " ", text_of(node))


def _at_top(node: tree_sitter.Node) -> bool:
    """True for declarations by a statement of the module itself: `exports.f = …` and members of objects are not."""
    around = node.parent
    while around is not None and around.type in ("variable_declarator", "lexical_declaration", "export_statement",
                                                 "variable_declaration"):  # fmt: skip
        around = around.parent
    named = node.type in _CLASSES or "declaration" in node.type or (node.parent and "declarator" in node.parent.type)
    return bool(named) and around is not None and around.type == "program"


def _how(node: tree_sitter.Node) -> str:
    marks = {each.type for each in node.children} & {"static", "get", "set"}
    return "static" if "static" in marks else "getter" if "get" in marks else "setter" if "set" in marks else "method"


def _base(module: Module, node: tree_sitter.Node) -> str:
    heritage = next((each for each in node.named_children if each.type == "class_heritage"), None)
    match = re.match(r"extends\s+(\w+)", text_of(heritage)) if heritage is not None else None
    return match[1] if match and match[1] in module.classes and match[1] != text_of(node) else ""


def _function(module: Module, found: UnitNode, how: str, name: str, owner: str = "") -> Subject:
    hints = documented(found.unit.doc, module.types)
    given = tuple(_parameters(found.node, module.types, hints))
    return Subject(name, how, found.node, given, owner, found.unit.doc or _above(found.node))


def _above(node: tree_sitter.Node) -> str:
    """The plain comment right above a function: it documents as well as a doc comment."""
    while node.parent is not None and node.parent.type not in ("program", "class_body", "statement_block"):
        node = node.parent
    before = node.prev_named_sibling
    is_near = before is not None and node.start_point[0] - before.end_point[0] <= 1
    return text_of(before) if before is not None and before.type == "comment" and is_near else ""


def _parameters(node: tree_sitter.Node, types: Types, hints: Mapping[str, ValueKind]) -> Iterator[Parameter]:
    single = node.child_by_field_name("parameter")
    if single is not None:
        yield Parameter(text_of(single), hints.get(text_of(single), ANY))
        return
    listed = node.child_by_field_name("parameters")
    for number, each in enumerate(listed.named_children if listed is not None else ()):
        if each.type not in ("required_parameter", "optional_parameter"):
            continue
        pattern, annotation = each.child_by_field_name("pattern"), each.child_by_field_name("type")
        value = each.child_by_field_name("value")
        if pattern is None or pattern.type == "this":
            continue
        rest = pattern.type == "rest_pattern"
        name = text_of(pattern.named_children[0]) if rest else text_of(pattern)
        kind = kind_of_type(annotation, types) if annotation is not None else hints.get(name, ANY)
        if pattern.type == "object_pattern":
            kind, name = (kind if kind.name != "any" else _destructured(pattern)), f"options{number or ''}"
        elif not name.isidentifier() and "$" not in name:
            name = f"argument{number}"
        if kind.name == "any" and value is not None:
            text = row_text(value)
            kind = FUNCTION if value.type == "arrow_function" else kind_of([text]) if text else ANY
        if rest and kind.name == "any":
            kind = ValueKind("array", (ANY,))
        optional = each.type == "optional_parameter" or value is not None or UNDEFINED in kind.items
        yield Parameter(name, union((kind,)), optional, rest)


def _destructured(pattern: tree_sitter.Node) -> ValueKind:
    """The kind that `{a, b = 1}` accepts."""
    fields = []
    for each in pattern.named_children:
        left = each.child_by_field_name("left") or each.child_by_field_name("key") or each
        right = each.child_by_field_name("right")
        text = row_text(right) if right is not None else None
        if left.type != "rest_pattern":
            fields.append((text_of(left), kind_of([text]) if text else ANY, right is not None))
    return ValueKind("object", fields=tuple(fields))
