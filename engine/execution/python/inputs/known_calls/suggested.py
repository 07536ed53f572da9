"""Reads example calls that a model wrote: only calls of the unit, with arguments that nothing but data can be.

The reply is text of a stranger. Nothing of it is evaluated here; what does not consist of literals, containers of them,
and constructors of a few library classes or of the file's own classes is dropped.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from textwrap import dedent

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.coverage_guided import MOST_GUIDED, coverage_guided_calls
from stet_ls.engine.execution.inputs.mutations import mutated_rows
from stet_ls.engine.execution.inputs.rows import GUESSED, SUGGESTED, ArgumentRow
from stet_ls.engine.execution.inputs.secret_calls import secret_calls_marked
from stet_ls.engine.execution.python.inputs.calls import call_of, call_on, life_of, step_of
from stet_ls.engine.execution.python.inputs.examples import literals, row_of
from stet_ls.engine.execution.python.inputs.guided_changes import changed_call
from stet_ls.engine.execution.python.inputs.subject import ClassShape, Module, Subject, known_module, subject_of
from stet_ls.validators.ast_text import parse_expression, try_parse, unparse

MOST = 12
"""Calls of one reply that are read."""
_NEAR = 16
"""Near misses of each call."""
MOST_NEAR = MOST * _NEAR + MOST_GUIDED
_LONGEST = 20_000
"""Characters of a reply that are read."""
_BUILT_IN = frozenset(
    {
        "bool",
        "bytearray",
        "bytes",
        "complex",
        "dict",
        "float",
        "frozenset",
        "int",
        "list",
        "range",
        "set",
        "str",
        "tuple",
    }
)
_LIBRARY = {
    **dict.fromkeys(("date", "datetime", "time", "timedelta"), "datetime"),
    **dict.fromkeys(("Counter", "OrderedDict", "deque"), "collections"),
    "Decimal": "decimal", "Fraction": "fractions", "Path": "pathlib", "SimpleNamespace": "types", "UUID": "uuid",
}  # fmt: skip
"""Classes of data, and the module that has each; a file's own class of such a name comes first."""
_AROUND = frozenset({"asyncio.run", "dict", "len", "list", "next", "print", "repr", "sorted", "str", "tuple"})
"""What is put around a call to show its result."""
_MARK = re.compile(r"^\s*(?:(?:[-*]|\d+[.)]|>>>)\s+)*`?|`\s*$")
"""What stands around a call in a list, in an example or as code."""
_RESULT = re.compile(r"\s*(?:->|=>|→|\breturns\b).*$")
_FENCE = re.compile(r"^\s*(?:```|~~~)")


def suggested_calls(reply: str, text: str, unit: str) -> tuple[Call, ...]:
    """The calls of a unit of a text that a reply holds, at most `MOST`; apparent secrets in them are not shown."""
    module = known_module(text)
    subject = subject_of(module, unit) if module else None
    if module is None or subject is None:
        return ()
    made = _Reader(module, subject).calls(reply[:_LONGEST])
    return secret_calls_marked(tuple(itertools.islice(dict.fromkeys(made), MOST)))


def near(calls: Sequence[Call], texts: tuple[str, str], unit: str) -> tuple[Call, ...]:
    """Near misses of calls, as guesses: each with one to three literals changed, and with several of the unit's own.

    `texts` are the old and the new one: a limit may be in either.
    """
    modules = (known_module(text) for text in texts)
    subjects = (subject_of(module, unit) for module in modules if module)
    own = list(dict.fromkeys(each for subject in subjects if subject for each in literals(subject.node)))
    rows = ((call, mutated_rows([call.bindings()], own, seed)) for seed, call in enumerate(calls) if not call.shown)
    changed = [call.with_bindings(row, GUESSED) for call, made in rows for row in itertools.islice(made, _NEAR)]
    guided = (replace(call, origin=GUESSED) for call in coverage_guided_calls(calls, own, changed_call))
    return tuple(dict.fromkeys([*changed, *guided]))


class _UnsafeError(ValueError):
    """An expression that is more than data."""


@dataclass(slots=True)
class _Object:
    """An object that the reply creates, as text, and the calls made on it so far."""

    making: str
    steps: list[str] = field(default_factory=list)


class _Reader:
    """Reads one reply for one subject."""

    def __init__(self, module: Module, subject: Subject) -> None:
        self._shapes, self._subject = module.shapes, subject
        self._named: dict[str, _Object] = {}
        self._made: list[_Object] = []

    def calls(self, reply: str) -> Iterator[Call]:
        """The calls in order; of a class, the lives of the objects."""
        for statement in _statements(reply):
            try:
                if (call := self._read(statement)) is not None:
                    yield call
            except (_UnsafeError, RecursionError):
                continue
        if self._subject.how == "class":
            yield from (life_of(each.making, each.steps, SUGGESTED) for each in self._made if each.steps)

    def _read(self, statement: ast.stmt) -> Call | None:
        value = _called(statement)
        if self._subject.how in ("function", "static"):
            row = self._row(value, self._subject) if _calls(value, self._subject.name) else None
            return call_of(self._subject, row, SUGGESTED) if row is not None else None
        if _calls(value, self._subject.owner):
            self._object(value, _target(statement))
            return None
        return self._used(value)

    def _used(self, value: ast.expr | None) -> Call | None:
        """What a use of an object is: a call of the subject, or a step in the life of the object."""
        used = value.func if isinstance(value, ast.Call) else value
        if not isinstance(used, ast.Attribute):
            return None
        method = self._method(used.attr, "method" if isinstance(value, ast.Call) else "property")
        row = self._row(value, method) if method is not None else None
        owner = self._object(used.value) if row is not None else None
        if method is None or row is None or owner is None:
            return None
        call = call_on(method, row, owner.making, owner.steps, SUGGESTED)
        owner.steps.append(step_of(method, row))
        return call if method.name == self._subject.name else None

    def _method(self, name: str, how: str) -> Subject | None:
        methods = (self._subject, *self._shapes[self._subject.owner].methods)
        return next((each for each in methods if each.callee == name and each.how == how), None)

    def _object(self, value: ast.expr | None, name: str = "") -> _Object | None:
        """The object that an expression names or creates. A created one gets the `name`, if any."""
        if isinstance(value, ast.Name):
            return self._named.get(value.id)
        if value is None or not _calls(value, self._subject.owner):
            return None
        made = _Object(unparse(_safe(value, self._shapes)))
        self._made.append(made)
        if name:
            self._named[name] = made
        return made

    def _row(self, value: ast.expr | None, subject: Subject) -> ArgumentRow | None:
        """The arguments of a call by parameter, all of them safe; those of the use of a property are none."""
        if not isinstance(value, ast.Call):
            return {}
        given = [_safe(each, self._shapes) for each in value.args]
        named = [_safe_keyword(each, self._shapes) for each in value.keywords]
        return row_of(ast.Call(value.func, given, named), subject, lambda _: True)


def _calls(value: ast.expr | None, name: str) -> bool:
    """Whether an expression is a call of what has this name."""
    return isinstance(value, ast.Call) and unparse(value.func) == name


def _statements(reply: str) -> list[ast.stmt]:
    """The statements of a reply: all of it as one text if that parses, otherwise line by line."""
    code = dedent("\n".join(line for line in reply.splitlines() if not _FENCE.match(line)))
    lines = [_MARK.sub("", line) for line in code.splitlines()]
    whole = try_parse(code) or try_parse("\n".join(lines))
    if whole is not None:
        return whole.body
    read = (try_parse(line) or try_parse(_RESULT.sub("", line)) for line in lines)
    return [statement for tree in read if tree is not None for statement in tree.body]


def _called(statement: ast.stmt) -> ast.expr | None:
    """The expression that a statement is about: what it prints, stores, awaits, enters, or compares with a result."""
    value = _expression(statement)
    while value is not None:
        if isinstance(value, ast.Compare):
            value = value.left
        elif isinstance(value, ast.Await):
            value = value.value
        elif isinstance(value, ast.Call) and value.args and unparse(value.func) in _AROUND:
            value = value.args[0]
        else:
            break
    return value


def _expression(statement: ast.stmt) -> ast.expr | None:
    match statement:
        case ast.Expr(value=value) | ast.Assign(value=value) | ast.Assert(test=value) | ast.For(iter=value):
            return value
        case ast.With(items=[item]) | ast.AsyncWith(items=[item]):
            return item.context_expr
        case _:
            return None


def _target(statement: ast.stmt) -> str:
    """The name that a statement binds, "" for none."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""


def _safe(value: ast.expr, shapes: Mapping[str, ClassShape]) -> ast.expr:
    """The expression, with library classes taken from their modules. _UnsafeError if it is more than data."""
    match value:
        case ast.Constant() | ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=ast.Constant()):
            return value
        case ast.List() | ast.Tuple() | ast.Set():
            return type(value)([_safe(each, shapes) for each in value.elts])
        case ast.Dict():
            keys = (_safe(each, shapes) if each is not None else _refused(value) for each in value.keys)
            return ast.Dict([*keys], [_safe(each, shapes) for each in value.values])
        case ast.Attribute(value=ast.Name(id=owner), attr=member) if (
            owner in shapes and member in shapes[owner].members
        ):
            return value
        case ast.Call(func=func):
            given = [_safe(each, shapes) for each in value.args]
            return ast.Call(_maker(func, shapes), given, [_safe_keyword(each, shapes) for each in value.keywords])
        case _:
            return _refused(value)


def _safe_keyword(keyword: ast.keyword, shapes: Mapping[str, ClassShape]) -> ast.keyword:
    if keyword.arg is None:
        raise _UnsafeError("**")
    return ast.keyword(keyword.arg, _safe(keyword.value, shapes))


def _maker(func: ast.expr, shapes: Mapping[str, ClassShape]) -> ast.expr:
    """The constructor that a call names, if it makes data."""
    named = unparse(func)
    module, _, name = named.rpartition(".")
    if named in shapes or named in _BUILT_IN:
        return func
    if name in _LIBRARY and module in ("", _LIBRARY[name]):
        return parse_expression(f"__import__({_LIBRARY[name]!r}).{name}").body
    return _refused(func)


def _refused(value: ast.expr) -> ast.expr:
    raise _UnsafeError(type(value).__name__)
