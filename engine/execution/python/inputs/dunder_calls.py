"""Implicit uses of an object: comparing, printing, entering, calling it.

Only for classes and functions that define them: what a class inherits from `object` is not its behavior.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from dataclasses import replace

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.python.inputs.subject import (
    ClassShape,
    Function,
    Module,
    Parameter,
    Subject,
    decorators,
    known_module,
    parameters,
    subject_of,
)

_OBJECTS = 24
_ONE_RESULT = re.compile(r"__out__\((.*)\)")
_MADE = re.compile(r"(?m)^obj = (.*)$")
_ENTERED = ("with {}:\n    raise RuntimeError('in it')\n__out__('no error')", "with {} as held:\n    __out__(held)")
_DUNDERS = {
    "__eq__": ("__out__(obj == same)", "__out__(obj == other)", "__out__(obj != other)", "__out__(obj == 'a')"),
    "__hash__": ("__out__(hash(obj) == hash(same))",),
    "__repr__": ("__out__(repr(obj))",),
    "__str__": ("__out__(str(obj))",),
    "__lt__": ("__out__(obj < other)",),
    "__le__": ("__out__(obj <= same)",),
    "__add__": ("__out__(obj + other)",),
    "__sub__": ("__out__(obj - other)",),
    "__mul__": ("__out__(obj * 2)",),
    "__len__": ("__out__(len(obj))",),
    "__bool__": ("__out__(bool(obj))",),
    "__iter__": ("__out__(list(__import__('itertools').islice(obj, 50)))",),
    "__contains__": ("__out__(1 in obj)", "__out__('a' in obj)"),
    "__getitem__": ("__out__(obj[0])", "__out__(obj['a'])", "__out__(obj[1:])"),
    "__call__": ("__out__(obj())", "__out__(obj(1))"),
    "__enter__": (
        *(each.format("obj") for each in _ENTERED),
        "with obj:\n    with obj:\n        pass\n"
        "    __out__([each for each in vars(obj).items() if each[0][0] != '_'])",
    ),
}
_NESTED = "with obj:\n    with obj:"
"""Entering an object twice hides what leaving it once does: that is a group of its own."""
_OF_DATACLASSES = ("__eq__", "__hash__", "__repr__")
_SET = {"int": ("0", "-1000", "5"), "float": ("0.0", "-1000.0", "1.5"), "str": ("''", "'a'"), "bool": ("True", "False")}
_GIVEN = (("1", "2", "3"), ("1", "2", "4"), ("1", "3", "3"), ("5", "0", "1"), ("'a'", "'b'", "'c'"))
_METADATA = ("__out__((made.__wrapped__ is not None, made.__name__, made.__doc__))",)
"""What `functools.wraps` copies. Without it, the name of a nested function is no one's business."""
_WORK = """\
failures = [{1}]
{0} work(*given, **named):
    'Works.'
    print('called', given, sorted(named.items()))
    if failures[0]:
        failures[0] -= 1
        raise KeyError('in it')
    return {2}"""
_RESULTS = ("[*given, *sorted(named)]", "None", "0", "given[0]", "len(given)")
_MAKINGS = 3


def with_protocol(calls: tuple[Call, ...], text: str, unit: str) -> tuple[Call, ...]:
    """The calls of a unit followed by implicit uses of it, or of its return value."""
    module = known_module(text)
    subject = subject_of(module, unit) if module else None
    if module is None or subject is None:
        return calls
    if subject.how == "class":
        return (*_lives(calls, module, module.shapes[subject.name]), *calls)
    if "contextmanager" in decorators(subject.node):
        return tuple(_entered(call, number) for number, call in enumerate(calls))
    inner = _returned(subject.node)
    if inner is None or not calls:
        return calls
    return (*_decorated(calls, subject, inner), *(_called(call, inner) for call in calls))


def _lives(calls: tuple[Call, ...], module: Module, shape: ClassShape) -> Iterator[Call]:
    done = list(dict.fromkeys(_done(module, shape)))
    made = {found[1]: call for call in calls if (found := _MADE.search(call.body))}
    # A default repr contains the object's address, which differs each time: such calls are left out.
    shown = [each for each in done if each.startswith(("__out__(repr(", "__out__(str("))]
    nested = [each for each in done if each.startswith(_NESTED)]
    once = [each for each in done if each not in shown and each not in nested]
    groups = [each for each in (once, shown, nested) if each]
    lives = list(made.items())[:_OBJECTS]
    for number, (making, call) in enumerate(lives):
        head = call.body[: call.body.index(f"obj = {making}")]
        other, before = lives[number - 1][0], lives[number - 1][1].body
        # The object's arguments are bound again: the other object was made from values under the same names.
        before = before[: before.index(f"obj = {other}")]
        lines = (*head.splitlines(), f"obj = {making}", f"same = {making}")
        for group in groups:
            yield replace(call, body="\n".join([f"{before}other = {other}", *lines, *map(_quiet, group)]))


def _done(module: Module, shape: ClassShape) -> Iterator[str]:
    """Statements for what a class defines itself, or inherits from a class of the module."""
    if shape.members:
        yield "__out__(obj.value)"
    nodes = [shape.node, *(module.shapes[base.id].node for base in shape.node.bases
                           if isinstance(base, ast.Name) and base.id in module.shapes)]  # fmt: skip
    for node in nodes:
        functions = [each for each in node.body if isinstance(each, Function)]
        names = {each.name for each in functions}
        if "dataclass" in decorators(node):
            names.update(_OF_DATACLASSES)
            if shape.init:
                yield f"obj.{shape.init[0].name} = obj.{shape.init[0].name}"
        for name in _DUNDERS:
            if name in names:
                yield from _DUNDERS[name]
        for each in functions:
            if "setter" in decorators(each):
                hint = getattr(each.args.args[-1].annotation, "id", "")
                for value in _SET.get(hint, ("0", "'a'")):
                    yield f"obj.{each.name} = {value}\n__out__(obj.{each.name})"


def _quiet(statement: str) -> str:
    inner = statement.replace("\n", "\n    ")
    return f"try:\n    {inner}\nexcept Exception as error:\n    __out__(error)"


def _entered(call: Call, number: int) -> Call:
    result = _ONE_RESULT.fullmatch(call.body)
    return call if result is None else replace(call, body=_ENTERED[number % 2].format(result[1]))


def _returned(node: ast.AST) -> Function | None:
    """The nested function that a function returns."""
    if not isinstance(node, ast.FunctionDef):
        return None
    own = {each.name: each for each in node.body if isinstance(each, Function)}
    ends = [each.value for each in node.body if isinstance(each, ast.Return)]
    return next((own[each.id] for each in ends if isinstance(each, ast.Name) and each.id in own), None)


def _called(call: Call, inner: Function) -> Call:
    result = _ONE_RESULT.fullmatch(call.body)
    if result is None:
        return call
    count = min(len(inner.args.args) or (2 if inner.args.vararg else 0), len(_GIVEN[0]))
    rows = dict.fromkeys(f"__out__(made({', '.join(row[:count])}))" for row in _GIVEN)
    lines = [*rows, next(iter(rows)), *_METADATA]
    return replace(call, body="\n".join([f"made = {result[1]}", *map(_quiet, lines)]))


def _decorated(calls: tuple[Call, ...], subject: Subject, inner: Function) -> Iterator[Call]:
    """Calls of what a decorator makes of functions that say when they are called, and of some that fail.

    A decorator is a function with one parameter that the function it returns calls, or a function that returns one.
    """
    given: tuple[Parameter, ...] = parameters(inner)
    made = _returned(inner)
    if made is None:
        made, given = inner, subject.parameters
    called = {getattr(each.func, "id", "") for each in ast.walk(made) if isinstance(each, ast.Call)}
    if len(given) != 1 or given[0].name not in called:
        return
    is_async = isinstance(made, ast.AsyncFunctionDef)
    named = ["made(1, b=2)", "made(a=1)", "made(1, b=3)"] if made.args.kwarg else []
    rows = ["made()", "made(1)", "made(1, 2)", "made(1, 3)", "made(2, 2)", "made(1, 2)", "made('')", *named]
    lines = [*(f"__out__({row})" for row in rows), *_METADATA]
    makings = {result[1]: call for call in calls if (result := _ONE_RESULT.fullmatch(call.body))}
    chosen = [("", calls[0])] if made is inner else list(makings.items())[:_MAKINGS]
    for making, call in chosen:
        for failures, returned in itertools.product((0, 1, 2, 99), _RESULTS):
            work = _WORK.format("async def" if is_async else "def", failures, returned)
            setup = f"{call.setup}\n{work}" if made is not inner else work
            whole = f"{subject.name}(work)" if made is inner else f"{making}(work)"
            yield Call(setup, "\n".join([f"made = {whole}", *map(_quiet, lines)]), (), "drawn")
