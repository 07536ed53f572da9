"""Which names a scope binds, and what the names of a module and of a function refer to."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from stet_ls.engine.execution.python.inputs.subject import Function

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_TYPES = frozenset({
    "bool", "bytearray", "bytes", "complex", "dict", "float", "frozenset", "int", "list", "memoryview", "object",
    "range", "set", "slice", "str", "tuple", "type",
})  # fmt: skip
_REFLECTIVE = frozenset({
    "locals", "eval", "exec", "vars", "dir", "globals", "_getframe", "currentframe", "f_locals", "f_back",
})  # fmt: skip
_STAR = "*"


@dataclass(frozen=True, slots=True)
class ModuleNames:
    """The names that a module binds: how often, and those bound once by a statement that always runs, with what.

    An import is known as "module" or "module:name".
    """

    counts: Counter[str] = field(default_factory=Counter)
    values: dict[str, ast.expr] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)
    definitions: frozenset[str] = frozenset()
    reads_documentation: bool = False
    defers_hints: bool = False

    @classmethod
    def of(cls, module: ast.Module) -> ModuleNames:
        """The names of a module."""
        counts = Counter(_bindings(module.body))
        for node in ast.walk(module):
            if isinstance(node, ast.Global):
                counts.update([*node.names, *node.names])  # bound at any time
        values: dict[str, ast.expr] = {}
        imports: dict[str, str] = {}
        definitions = set()
        for node in module.body:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    values[name] = value
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    values[name] = value
                case ast.Import() | ast.ImportFrom():
                    imports |= dict(origins(node))
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    definitions.add(node.name)
        once = {name for name, count in counts.items() if count == 1}
        if _STAR in counts:
            once.clear()
        return cls(
            counts, {name: value for name, value in values.items() if name in once},
            {name: origin for name, origin in imports.items() if name in once}, frozenset(definitions & once),
            any(isinstance(each, ast.Attribute) and each.attr in ("__doc__", "getdoc") for each in ast.walk(module)),
            "annotations" in imports and imports["annotations"] == "__future__:annotations",
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class UnitNames:
    """The names of a function: `inner` are those bound anywhere in it, `shared` those declared global or nonlocal."""

    module: ModuleNames
    inner: frozenset[str]
    shared: frozenset[str]
    is_reflective: bool

    @classmethod
    def of(cls, node: ast.AST, module: ModuleNames) -> UnitNames:
        """The names of a function of a module."""
        inner: set[str] = set()
        shared: set[str] = set()
        words = set()
        for each in ast.walk(node):
            if isinstance(each, Function | ast.Lambda | ast.ClassDef | Comprehension):
                inner |= bound_in(each)
            elif isinstance(each, ast.Global | ast.Nonlocal):
                shared.update(each.names)
            elif isinstance(each, ast.Name | ast.Attribute):
                words.add(each.id if isinstance(each, ast.Name) else each.attr)
        return cls(module, frozenset(inner), frozenset(shared), not words.isdisjoint(_REFLECTIVE))

    def is_builtin(self, name: str) -> bool:
        """Whether a name refers to what Python itself gives it."""
        counts = self.module.counts
        return hasattr(builtins, name) and name not in counts and _STAR not in counts and name not in self.inner

    def is_there(self, name: str) -> bool:
        """Whether reading a name never fails, once the module is loaded."""
        module = self.module
        known = name in module.values or name in module.imports or name in module.definitions
        return name not in self.inner and (known or (name in _TYPES and self.is_builtin(name)))

    def is_local(self, name: str) -> bool:
        """Whether a name belongs to the function, and nothing else binds it."""
        return name in self.inner and name not in self.shared

    def value(self, name: str) -> ast.expr | None:
        """What the module binds a name to."""
        return None if name in self.inner else self.module.values.get(name)

    def origin(self, name: str) -> str:
        """What the module imports under a name, "" for nothing."""
        return "" if name in self.inner else self.module.imports.get(name, "")


def bound_in(node: ast.AST) -> set[str]:
    """The names that a function, a lambda, a class or a comprehension binds in its own scope."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return {*parameter_names(node.args), *_bindings(node.body)}
        case ast.Lambda():
            return {*parameter_names(node.args), *_bindings([node.body])}
        case ast.ClassDef():
            return {*_bindings(node.body)}
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return {name for each in node.generators for name in _bindings([each.target])}
    return set()


def parameter_names(node: ast.arguments) -> Iterator[str]:
    """The names of all parameters."""
    rest = (each for each in (node.vararg, node.kwarg) if each)
    return (each.arg for each in (*node.posonlyargs, *node.args, *node.kwonlyargs, *rest))


def origins(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """The names that an import binds, each with what it refers to."""
    for each in node.names:
        if isinstance(node, ast.ImportFrom):
            yield each.asname or each.name, f"{'.' * node.level}{node.module or ''}:{each.name}"
        else:
            first = each.name.partition(".")[0]
            yield each.asname or first, each.name if each.asname or each.name == first else f"{first}+{each.name}"


def scope_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """A node and those in it that belong to the same scope: of functions and classes in it, what runs outside of them.

    A comprehension's first iterable belongs to the scope around it; so does what `:=` binds in it.
    """
    yield node
    if isinstance(node, Function | ast.Lambda):
        inner: list[ast.AST | None] = [
            *getattr(node, "decorator_list", ()),
            *node.args.defaults,
            *node.args.kw_defaults,
        ]
    elif isinstance(node, ast.ClassDef):
        inner = [*node.decorator_list, *node.bases, *node.keywords]
    elif isinstance(node, Comprehension):
        inner = [node.generators[0].iter, *_walruses(node)]
    else:
        inner = [*ast.iter_child_nodes(node)]
    for each in inner:
        if each is not None:
            yield from scope_nodes(each)


def _walruses(node: ast.AST) -> Iterator[ast.AST]:
    """The names that `:=` binds in a comprehension."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.NamedExpr):
            yield each.target
        if not isinstance(each, ast.Lambda):
            yield from _walruses(each)


def _bindings(body: list[ast.stmt] | list[ast.expr]) -> Iterator[str]:
    """The names that nodes of one scope bind, as often as they do."""
    for node in body:
        for each in scope_nodes(node):
            match each:
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                    yield name
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    yield name
                case ast.Import() | ast.ImportFrom():
                    yield from (name for name, _ in origins(each))
                case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                    yield name
                case ast.MatchMapping(rest=str(name)):
                    yield name


@dataclass(frozen=True, slots=True)
class FunctionKind:
    """What statements in a function say about it: its own names, what it declares, whether it is a generator."""

    bound: frozenset[str]
    declared: frozenset[str]
    is_generator: bool

    @classmethod
    def of(cls, node: ast.FunctionDef | ast.AsyncFunctionDef) -> FunctionKind:
        """The kind of a function."""
        own = [each for statement in node.body for each in scope_nodes(statement)]
        declared = {name for each in own if isinstance(each, ast.Global | ast.Nonlocal) for name in each.names}
        is_generator = any(isinstance(each, ast.Yield | ast.YieldFrom) for each in own)
        return cls(frozenset(bound_in(node)), frozenset(declared), is_generator)

    def is_kept(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Whether a function without some of its statements is of this kind, for the names that are still in it."""
        now = FunctionKind.of(node)
        named = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        is_same = self.declared == now.declared and self.is_generator == now.is_generator
        return is_same and not (self.bound - now.bound) & named
