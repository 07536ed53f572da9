"""The callable parts of a text: a function, a method with the object it needs, or a class by sequences of calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from stet_ls.engine.execution.inputs.qualified_names import QualifiedName
from stet_ls.engine.execution.python.inputs.docstrings.documented_types import documented_types
from stet_ls.validators.ast_text import dump, try_parse, unparse

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter, `self` aside. `keyword`: it can only be given by name. `likely` are kinds that the code after the
    change uses it as: they count where the code before leaves it open.
    """

    name: str
    annotation: ast.expr | None = None
    default: ast.expr | None = None
    keyword: bool = False
    likely: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClassShape:
    """A class: how it is created, and what can be called on its objects. `members` are the names of an Enum's."""

    name: str
    node: ast.ClassDef
    init: tuple[Parameter, ...] = ()
    methods: tuple[Subject, ...] = ()
    members: tuple[str, ...] = ()

    @property
    def abstract(self) -> bool:
        """True if it cannot be instantiated."""
        return any("abstractmethod" in decorators(node) for node in self.node.body if isinstance(node, Function))


@dataclass(frozen=True, slots=True)
class Subject(QualifiedName):
    """Something to call. `owner` is the class of a method; `how` is function, method, static (on the class), property.

    With `how` class, a lifetime is called: the creation of an object and then its methods.
    """

    name: str
    how: str
    node: Function | ast.ClassDef
    parameters: tuple[Parameter, ...] = ()
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Module:
    """A text with its classes and aliases by name."""

    tree: ast.Module
    shapes: dict[str, ClassShape] = field(default_factory=dict)
    values: dict[str, ast.expr] = field(default_factory=dict)


@lru_cache(maxsize=2)
def known_module(text: str) -> Module | None:
    """Like read_module, cached: the texts before and after are requested several times.

    The result must not be modified.
    """
    return read_module(text)


def read_module(text: str) -> Module | None:
    """The module of a text; None if it is not valid Python."""
    tree = try_parse(text)
    if tree is None:
        return None
    module = Module(tree)
    for node in _top(tree.body):
        if isinstance(node, ast.ClassDef):
            module.shapes[node.name] = _shape(node, module.shapes)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            module.values[node.targets[0].id] = node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            module.values[node.target.id] = node.value
    return module


def subject_of(module: Module, qualified: str) -> Subject | None:
    """What a qualified name refers to; a nested function is called through the outer one."""
    parts = qualified.split(".")
    for node in _top(module.tree.body):
        if getattr(node, "name", "") != parts[0]:
            continue
        if isinstance(node, Function):
            return Subject(parts[0], "function", node, parameters(node))
        if isinstance(node, ast.ClassDef):
            shape = module.shapes[node.name]
            methods = {each.callee: each for each in _methods(node)}
            if len(parts) > 1 and parts[1] in methods and parts[1] != "__init__":
                return methods[parts[1]]
            return Subject(parts[0], "class", node, shape.init, parts[0])
    return None


def subclasses(module: Module, name: str) -> list[str]:
    """The classes of a module that inherit directly from one and can be created."""
    return [shape.name for shape in module.shapes.values() if not shape.abstract
            and any(getattr(base, "id", "") == name for base in shape.node.bases)]  # fmt: skip


def changed_units(before: Module, after: Module, besides: str = "") -> list[str]:
    """The functions and classes of both texts that are not written alike, in the order of the first.

    For a method `besides` ("Class.method"), its class is replaced by the class' other methods.
    """
    return list(_changed(list(_top(before.tree.body)), list(_top(after.tree.body)), besides.split(".")))


def _changed(before: Sequence[ast.stmt], after: Sequence[ast.stmt], besides: Sequence[str]) -> Iterator[str]:
    new = {node.name: node for node in after if isinstance(node, Function | ast.ClassDef)}
    for node in before:
        now = new.get(node.name) if isinstance(node, Function | ast.ClassDef) else None
        if now is None or not isinstance(node, Function | ast.ClassDef) or dump(node) == dump(now):
            continue
        if len(besides) > 1 and node.name == besides[0] and isinstance(node, ast.ClassDef):
            yield from (f"{node.name}.{each}" for each in _changed(node.body, now.body, besides[1:]))
        elif [node.name] != [*besides]:
            yield node.name


_NONE = ast.Constant(None)
"""A default, for what may be omitted."""


def parameters(node: Function, *, bound: bool = False) -> tuple[Parameter, ...]:
    """The parameters that a caller gives; `bound` leaves out the first. `**kwargs` may be given.

    One without a hint has the type that the docstring gives.
    """
    arguments = node.args
    said = documented_types(ast.get_docstring(node) or "")
    positional = [*arguments.posonlyargs, *arguments.args]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    rows = [
        Parameter(each.arg, each.annotation or said.get(each.arg), default)
        for each, default in zip(positional, [*missing, *arguments.defaults], strict=True)
    ][1 if bound else 0 :]
    if arguments.vararg:
        rows.append(Parameter("*" + arguments.vararg.arg, arguments.vararg.annotation))
    rows += [
        Parameter(each.arg, each.annotation or said.get(each.arg), default, keyword=True)
        for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    if arguments.kwarg:
        rows.append(Parameter("**" + arguments.kwarg.arg, arguments.kwarg.annotation, _NONE, keyword=True))
    return tuple(rows)


def _top(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, including those within `if` and `try`."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try):
            yield from _top(node.body)
            yield from _top(node.orelse)


def _shape(node: ast.ClassDef, known: dict[str, ClassShape]) -> ClassShape:
    bases = [known[base.id] for base in node.bases if isinstance(base, ast.Name) and base.id in known]
    inits = [each for each in node.body if isinstance(each, Function) and each.name == "__init__"]
    methods = {each.name: each for base in bases for each in base.methods}
    methods |= {each.name: each for each in _methods(node) if not each.callee.startswith("__")}
    names = [base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in node.bases]
    members = (
        tuple(
            target.id
            for each in node.body
            if isinstance(each, ast.Assign)
            for target in each.targets
            if isinstance(target, ast.Name) and not target.id.startswith("_")
        )
        if any("Enum" in name or "Flag" in name for name in names)
        else ()
    )
    if inits:
        init = parameters(inits[0], bound=True)
    elif "dataclass" in decorators(node) or {"NamedTuple", "BaseModel", "TypedDict"} & set(names):
        init = (*(each for base in bases for each in base.init), *_fields(node))
        if "TypedDict" in names:
            init = tuple(map(_as_key, init))
    else:
        init = bases[0].init if bases else ()
    return ClassShape(node.name, node, init, tuple(methods.values()), members)


def _fields(node: ast.ClassDef) -> Iterator[Parameter]:
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            if "ClassVar" in unparse(each.annotation):
                continue
            yield Parameter(each.target.id, each.annotation, each.value)


def _as_key(field: Parameter) -> Parameter:
    """A field of a TypedDict: given by name, and sometimes omitted if optional."""
    hint = unparse(field.annotation) if field.annotation is not None else ""
    return replace(field, keyword=True, default=_NONE if "NotRequired" in hint else None)


def _methods(node: ast.ClassDef) -> Iterator[Subject]:
    for each in node.body:
        if isinstance(each, Function):
            marks = decorators(each)
            if {"property", "cached_property"} & marks:
                yield Subject(f"{node.name}.{each.name}", "property", each, (), node.name)
            elif "setter" not in marks and "deleter" not in marks:
                how = "static" if {"staticmethod", "classmethod"} & marks else "method"
                given = parameters(each, bound="staticmethod" not in marks)
                yield Subject(f"{node.name}.{each.name}", how, each, given, node.name)


_OF_CONTAINERS = {"__contains__", "__getitem__", "__setitem__", "__delitem__", "__len__", "__iter__", "__call__"}


def container_methods(shape: ClassShape) -> list[Subject]:
    """The methods that make a class a container or a function: steps in the life of objects, as public ones."""
    return [each for each in _methods(shape.node) if each.callee in _OF_CONTAINERS]


def decorators(node: Function | ast.ClassDef) -> set[str]:
    """The last names of the decorators."""
    found = set()
    for each in node.decorator_list:
        called = each.func if isinstance(each, ast.Call) else each
        found.add(called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", ""))
    return found
