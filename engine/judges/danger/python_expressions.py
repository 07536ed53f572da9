"""Python code that reaches outside its project, or into its tests: paths, variables, patches, equality methods."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator

from stet_ls.engine.judges.danger import outside_paths
from stet_ls.engine.judges.danger.risk_kinds import (
    CODE,
    DATA,
    ENVIRONMENT,
    INSIDE,
    INSTALLS,
    LINKS,
    OUTSIDE,
    PERSISTS,
    SECRETS,
    TESTS,
    Risk,
)
from stet_ls.validators.ast_text import unparse
from stet_ls.validators.test_files import is_test_file

NameResolver = Callable[[ast.expr], "str | None"]
"""Resolves an expression to its dotted name."""
TextEvaluator = Callable[[ast.expr], "str | None"]
"""Evaluates an expression of literals to its text."""

_FILES = re.compile(
    r"(?:builtins\.|io\.|os\.|codecs\.|gzip\.|lzma\.|bz2\.)?open|os\.(?:listdir|scandir|walk|makedirs|mkdir|rename|replace|stat|access"
    r"|chdir|path\.\w+)|sys\.path\.(?:insert|append|extend)|pathlib\.\w*Path|(?:shutil|glob)\.\w+|linecache\.\w+|sqlite3\.connect|tarfile\.open|zipfile\.ZipFile"
)
_SEARCHES = frozenset({"importlib.util.find_spec", "pkgutil.find_loader", "importlib.metadata.version",
                       "importlib.metadata.distribution"})  # fmt: skip
_RUNNERS = re.compile(r"_?pytest(?:\W.*)?|pluggy|unittest(?:\..*)?|hypothesis|coverage|nose2?")
_JOINS = ("joinpath", "with_name", "relative_to")
_VARIABLES = ("os.getenv", "os.environ.get", "os.environ.pop", "os.environ.setdefault", "os.environ.__getitem__")
_COPIES = frozenset({"copy", "items", "values", "keys", "__iter__"})
_PATCHED = re.compile(
    r"(?:_pytest|pytest|pluggy|unittest|doctest|builtins|operator|math|sys\.modules|linecache)(?:\..*)?"
)
_MEASURES = sys.stdlib_module_names - {"sys", "os", "logging", "warnings", "locale", "signal", "socket", "readline"}
"""Modules whose parts are replaced only for tests, or to deceive them."""
_EQUALITIES = frozenset({"__eq__", "__ne__", "__instancecheck__", "__subclasscheck__"})
_WRITES = ("write_text", "write_bytes", "touch")
_MODE = re.compile(r"[rbt]*[wax+][rbtwax+]*")
_DUNDER = r"__(?:globals|builtins|subclasses|mro|code|loader|reduce|reduce_ex)__"
_LOOKED_UP = re.compile(rf"{_DUNDER}|(?:.*[.{{])?[^{{}}]*\.(?:{_DUNDER}|__class__)(?:[.\[}}!:].*)?", re.DOTALL)
"""Literals that access an attribute of the interpreter: by a format, a lookup, a table of a class."""
_GIVEN = re.compile(r"(?:builtins\.)?getattr")
_ATTRIBUTES = re.compile(r"system|popen|spawn\w+|Popen|check_output|check_call|rmtree|__subclasses__|__globals__")
"""Forbidden for a name built at run time, on any object."""


class ExpressionRisks:
    """The risks of a tree other than those of its names. `name` and `text` resolve expressions."""

    def __init__(self, tree: ast.AST, name: NameResolver, text: TextEvaluator) -> None:
        self._tree, self._name, self._text = tree, name, text
        self._modules = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        self._prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        self._parent = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}

    def risks(self) -> Iterator[Risk]:
        """In the order of the tree."""
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Call):
                yield from self._call(node)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Assign):
                yield from self._defined(node)
            elif isinstance(node, ast.List | ast.Tuple):
                yield from self._listed(node)
            elif isinstance(node, ast.BinOp) and (part := self._joined(node)):
                yield OUTSIDE, part
            if isinstance(node, ast.expr):
                yield from self._literal(node)
                yield from self._environment(node)

    def _joined(self, node: ast.BinOp) -> str:
        """The part appended to a path by `/` that leads out of it; "" if none does."""
        part = self._text(node.right) if isinstance(node.op, ast.Div) else None
        return part if part and outside_paths.leaves_project(part) else ""

    def _literal(self, node: ast.expr) -> Iterator[Risk]:
        above = self._parent.get(id(node))
        is_joined = isinstance(above, ast.BinOp) and isinstance(above.op, ast.Div)
        is_part = isinstance(above, ast.BinOp | ast.JoinedStr | ast.FormattedValue) and not is_joined
        text = self._text(node)
        if id(node) in self._prose or text is None:
            return
        kinds = set(outside_paths.risks_named_by(text))
        if is_part:  # a known full path is reported as a whole
            whole = isinstance(above, ast.expr) and self._text(above) is not None
            kinds = kinds & {PERSISTS, SECRETS} if text.startswith(("/", "\\")) and not whole else set()
        yield from ((kind, text) for kind in sorted(kinds))
        if " " not in text and _LOOKED_UP.fullmatch(text):
            yield (DATA if "__reduce" in text else INSIDE), text[:60]

    def _environment(self, node: ast.expr) -> Iterator[Risk]:
        if not isinstance(node, ast.Attribute | ast.Name) or self._name(node) not in ("os.environ", "os.environb"):
            return
        above = self._parent.get(id(node))
        if isinstance(above, ast.Attribute):
            if above.attr in _COPIES:
                yield ENVIRONMENT, f"os.environ.{above.attr}"
        elif isinstance(above, ast.Subscript):
            yield from self._variable(above.slice)
            if isinstance(above.ctx, ast.Store):
                yield from self._steered(above.slice)
        elif isinstance(above, ast.Compare):
            yield from self._variable(above.left)
        elif not isinstance(above, ast.alias | ast.Assign | ast.Delete) or node in getattr(above, "targets", ()):
            yield ENVIRONMENT, "os.environ"

    def _variable(self, node: ast.expr) -> Iterator[Risk]:
        name = self._text(node)
        if name and (kind := outside_paths.environment_variable_kind(name)):
            yield kind, name

    def _steered(self, node: ast.expr) -> Iterator[Risk]:
        name = self._text(node)
        if name and outside_paths.controls_programs(name):
            yield PERSISTS, name

    def _written(self, node: ast.Call, name: str, method: str) -> Iterator[Risk]:
        """Files that a tool runs by itself, if the call writes them."""
        modes = [
            *node.args[0 if method == "open" and name != "os.open" else 1 :],
            *(each.value for each in node.keywords),
        ]
        opens = (name.endswith("open") or method == "open") and any(
            (text := self._text(each)) is not None and _MODE.fullmatch(text) for each in modes
        )
        if opens or method in _WRITES:
            texts = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
            yield from (
                (PERSISTS, path) for path in texts if isinstance(path, str) and outside_paths.runs_written_file(path)
            )

    def _call(self, node: ast.Call) -> Iterator[Risk]:
        name = self._name(node.func) or ""
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name in _VARIABLES and node.args:
            yield from self._variable(node.args[0])
        if name in ("os.putenv", "os.environ.setdefault", "os.environ.__setitem__") and node.args:
            yield from self._steered(node.args[0])
        if name == "logging.config.dictConfig" and any(
            isinstance(each, ast.Dict) and any(key and self._text(key) == "()" for key in each.keys)
            for each in ast.walk(self._tree)
        ):
            yield CODE, name
        yield from self._written(node, name, method)
        yield from self._looked_for(node, name, method)
        if name in ("setattr", "builtins.setattr", "delattr", "builtins.delattr") and node.args:
            yield from self._patched(node.args[0], unparse(node.func))
        if name in ("unittest.mock.patch", "mock.patch", "unittest.mock.patch.object", "mock.patch.object"):
            yield TESTS, name
        yield from ((INSIDE, "getattr") for each in node.args if _GIVEN.fullmatch(self._name(each) or ""))
        if name in ("getattr", "builtins.getattr", "operator.attrgetter", "operator.methodcaller") and node.args:
            made = self._text(
                node.args[-1 if name.startswith("operator") and len(node.args) == 1 else min(1, len(node.args) - 1)]
            )
            first = self._text(node.args[0])
            yield from ((INSIDE, f"{name} {each}") for each in {made, first} if each and _ATTRIBUTES.fullmatch(each))
        if (
            any(outside_paths.installs_packages(text) for each in node.args if (text := self._text(each)))
            and "." in name
        ):
            yield INSTALLS, name
        if method in ("symlink_to", "hardlink_to", "link_to", "chmod", "lchmod") and not name.startswith("os."):
            yield LINKS, method
        if method in ("expanduser", "home") and not name.startswith("os.path"):
            base = self._name(node.func.value) if isinstance(node.func, ast.Attribute) else ""
            if method == "expanduser" or (base or "").startswith("pathlib"):
                yield OUTSIDE, name or method

    def _looked_for(self, node: ast.Call, name: str, method: str) -> Iterator[Risk]:
        if _FILES.fullmatch(name) or method in _JOINS:
            paths = [path for each in node.args if (path := self._path(each))]
            yield from ((OUTSIDE, path) for path in paths if outside_paths.leaves_project(path))
            yield from ((TESTS, path) for path in paths if is_test_file(f"{path}/any.txt"))
        if name in _SEARCHES and node.args and _RUNNERS.fullmatch(self._text(node.args[0]) or ""):
            yield TESTS, f"{name}({unparse(node.args[0])})"

    def _path(self, node: ast.expr) -> str | None:
        """The beginning of a path."""
        if (text := self._text(node)) is not None:
            return text
        match node:
            case (
                ast.JoinedStr(values=[ast.Constant(value=str(text)), *_])
                | ast.BinOp(left=ast.Constant(value=str(text)))
            ):
                return text
        return None

    def _defined(self, node: ast.FunctionDef | ast.ClassDef | ast.Assign) -> Iterator[Risk]:
        if isinstance(node, ast.FunctionDef) and node.name in _EQUALITIES and _is_constant(node.args, node.body):
            yield TESTS, node.name
        if not isinstance(node, ast.Assign):
            return
        for target in node.targets:
            if isinstance(target, ast.Name) and target.id in _EQUALITIES:
                value = node.value
                if not isinstance(value, ast.Lambda) or _is_constant(value.args, [ast.Return(value.body)]):
                    yield TESTS, target.id
            if isinstance(target, ast.Attribute) and target.attr in _EQUALITIES:
                yield TESTS, unparse(target)
            if isinstance(target, ast.Attribute):
                yield from self._patched(target.value, unparse(target))
            elif isinstance(target, ast.Subscript):
                base = self._name(target.value) or ""
                if base == "sys.modules" or base.endswith(".__dict__"):
                    yield from self._patched(target.value, unparse(target.value))

    def _patched(self, owner: ast.expr, shown: str) -> Iterator[Risk]:
        name = self._name(owner)
        measures = name in self._modules and name in _MEASURES
        if measures or (name and _PATCHED.fullmatch(name.removesuffix(".__dict__"))):
            yield TESTS, shown

    def _listed(self, node: ast.List | ast.Tuple) -> Iterator[Risk]:
        words = [self._text(each) or "?" for each in node.elts]
        if len(words) > 1 and outside_paths.installs_packages(" ".join(words)):
            yield INSTALLS, " ".join(word for word in words if word != "?")[:60]


def _is_constant(given: ast.arguments, body: list[ast.stmt]) -> bool:
    """Whether an equality method ignores the value of its second argument: it returns without using it, or uses only
    its type.
    """
    names = [each.arg for each in (*given.posonlyargs, *given.args)]
    other = names[1] if len(names) > 1 else ""
    statements = [each for each in body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
    if any(isinstance(each, ast.Raise) for each in statements) or not statements:
        return False
    returned = [node.value for each in statements for node in ast.walk(each) if isinstance(node, ast.Return)]
    if all(isinstance(value, ast.Name) and value.id == "NotImplemented" for value in returned):
        return False
    kinds = {
        id(leaf)
        for each in statements
        for node in ast.walk(each)
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("isinstance", "type", "callable")
        )
        or (isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot))
        for leaf in ast.walk(node)
    }
    used = [
        node for value in returned if value is not None for node in ast.walk(value)
        if isinstance(node, ast.Name) and (node.id == other or not other) and id(node) not in kinds
    ]  # fmt: skip
    return not used
