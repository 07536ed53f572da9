"""Control tests that run with the project's, in the same process and by the same machinery: some have to fail.

One has to pass and one has to fail. Copies of the project's tests also compare with values other than the expected one,
some random for each run, some close to it: if such a comparison holds, the compared object equals everything, knows the
expected value, or does not compare all that it should.
"""

from __future__ import annotations

import ast
import copy
import functools
import itertools
import os
import random
import re
import sys
import types
from typing import Any, Callable, Iterator  # noqa: UP035 - for Python 3.8

_MOST_COPIES = 8
_MOST_SECONDS = 0.5
_Test = Callable[[], None]
_drawn = random.SystemRandom()


class ControlTests:
    """`words` are the names and messages known to the reader of the report: good, bad, copy, message."""

    def __init__(self, words: dict[str, str]) -> None:
        self._words = words

    def good(self) -> Callable[[], None]:
        """A test that has to pass."""
        left = str(_drawn.random())
        right = "".join(list(left))

        def test() -> None:
            assert left == right, "equal texts"

        return _named(test, self._words["good"])

    def bad(self) -> Callable[[], None]:
        """A test that has to fail, with its message."""
        left, right, message = _drawn.randrange(10**6), _drawn.randrange(10**6, 10**7), self._words["message"]

        def test() -> None:
            assert left == right, message

        return _named(test, self._words["bad"])

    def copies(self, tests: list[PassedTest]) -> list[TestCopy]:
        """Copies of tests that passed quickly and compare something."""
        found: list[TestCopy] = []
        trees: dict[str, Any] = {}
        for test in tests:
            if len(found) == _MOST_COPIES:
                break
            function = _copied(test.function, trees, self._words) if test.seconds <= _MOST_SECONDS else None
            if function is not None:
                name = f"{self._words['copy']}_{len(found)}"
                found.append(TestCopy(name, _named(function, name), test))
        return found


class PassedTest:
    """A test that passed: its function, its duration, and the runner's item for it."""

    def __init__(self, function: Any, seconds: float, item: Any) -> None:
        self.function, self.seconds, self.item = function, seconds, item


class TestCopy:
    """The copy of a test."""

    def __init__(self, name: str, function: Any, test: PassedTest) -> None:
        self.name, self.function, self.test = name, function, test


def debugged(case: Any, copy: TestCopy) -> Callable[[], None]:
    """The call of a copy that is a unittest method: with its set-up and clean-up, and raising its exceptions."""

    def test() -> None:
        type(case.__name__, (case,), {copy.name: copy.function})(copy.name).debug()

    return test


def _named(function: _Test, name: str) -> _Test:
    function.__name__ = function.__qualname__ = name
    return function


def _copied(function: Any, trees: dict[str, Any], words: dict[str, str]) -> Any | None:
    """The function with comparisons that cannot hold; None if it has no comparison, or cannot be compiled again."""
    code = function.__code__
    if code.co_freevars:
        return None
    path = code.co_filename
    try:
        if path not in trees:
            with open(path, encoding="utf-8") as file:
                trees[path] = ast.parse(file.read())
        lines = {code.co_firstlineno}
        node = next(
            each
            for each in ast.walk(trees[path])
            if isinstance(each, ast.FunctionDef)
            and each.name == code.co_name
            and lines & {each.lineno, *(one.lineno for one in each.decorator_list)}
        )
        fresh = ast.parse(ast.unparse(node)).body[0]  # Python 3.9; before, there are no copies
    except (OSError, ValueError, SyntaxError, StopIteration, AttributeError, RecursionError):
        return None
    assert isinstance(fresh, ast.FunctionDef)
    fresh.decorator_list = []
    change = _LooseComparisonCheck(words["copy"])
    module = ast.fix_missing_locations(ast.Module([change.visit(fresh)], []))
    if not change.changed:
        return None
    space: dict[str, Any] = {}
    exec(compile(module, path, "exec"), function.__globals__, space)  # noqa: S102 - the tests' own text
    made: Any = space[fresh.name]
    again = types.FunctionType(made.__code__, function.__globals__, made.__name__, function.__defaults__)
    again.__kwdefaults__ = function.__kwdefaults__
    held = words["held"]
    function.__globals__[words["copy"]] = lambda holds, value, near=True: _check_comparison(holds, value, near, held)
    return again


_OPPOSITE: dict[type, type] = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}
_EXACT = re.compile("assert(List|Tuple|Dict|Set|Sequence|Count|MultiLine)?Equals?")
_CLOSE = re.compile("isclose|allclose|assert(Not)?AlmostEquals?")


class _LooseComparisonCheck(ast.NodeTransformer):
    """Checks before each comparison whether it also holds for values other than the expected one."""

    def __init__(self, word: str) -> None:
        self._word, self.changed, self._count = word, False, 0

    def visit_Assert(self, node: ast.Assert) -> Any:
        test = node.test
        if isinstance(test, ast.Call):
            return self._called(node, test) or node
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return node
        left, op, right = test.left, test.ops[0], test.comparators[0]
        if isinstance(op, ast.Eq) and _name(right) == "approx" and right.args:  # type: ignore[attr-defined]
            bound, (left, right.args[0]) = self._bound(left, right.args[0])  # type: ignore[attr-defined]
            return [*bound, self._ask(test, right.args, 0, near=False), node]  # type: ignore[attr-defined]
        if type(op) in _OPPOSITE and _name(left) == "abs" and isinstance(left.args[0], ast.BinOp):  # type: ignore[attr-defined]
            gap = left.args[0]  # type: ignore[attr-defined]
            bound, (gap.left, gap.right) = self._bound(gap.left, gap.right)
            return [*bound, self._ask(test, gap, "right", near=False), node]
        bound, (test.left, test.comparators[0]) = self._bound(left, right)
        if isinstance(op, ast.Eq):
            plain = isinstance(left, ast.Constant) and not isinstance(right, ast.Constant)
            asked = self._ask(test, test, "left") if plain else self._ask(test, test.comparators, 0)
        elif isinstance(op, ast.In):
            asked = self._ask(test, test, "left", near=False)
        elif type(op) in _OPPOSITE:
            both = ast.Compare(test.left, [_OPPOSITE[type(op)]()], [test.comparators[0]])
            asked = self._asked(ast.BoolOp(ast.And(), [test, both]), ast.Constant(None), near=False)
        else:
            return node
        return [*bound, asked, node]

    def visit_Expr(self, node: ast.Expr) -> Any:
        return self._called(node, node.value) or node

    def _called(self, node: Any, call: Any) -> Any:
        name, exact = _name(call), bool(_EXACT.fullmatch(_name(call)))
        if (not exact and not _CLOSE.fullmatch(name)) or len(call.args) < 2:
            return None
        bound, call.args[:2] = self._bound(*call.args[:2])
        # A call that raises does not hold; one that returns None does.
        holds = call if isinstance(node, ast.Assert) else ast.List([call, ast.Constant(True)], ast.Load())
        return [*bound, self._ask(holds, call.args, 1, near=exact), node]

    def _bound(self, *values: Any) -> Any:
        """Binds each value to its own name, so that it is evaluated once; plain ones stay as they are."""
        bound: list[Any] = []
        names: list[Any] = []
        for value in values:
            if isinstance(value, ast.Constant):
                names.append(value)
                continue
            self._count += 1
            name = f"{self._word}_{self._count}"
            bound.append(ast.Assign([ast.Name(name, ast.Store())], value, lineno=1))
            names.append(ast.Name(name, ast.Load()))
        return bound, names

    def _ask(self, holds: Any, owner: Any, at: Any, *, near: bool = True) -> Any:
        """Checks `holds` with another value in the place `at` of its part `owner`."""
        other = ast.Name(f"{self._word}_other", ast.Load())
        wanted = owner[at] if isinstance(owner, list) else getattr(owner, at)
        put = owner.__setitem__ if isinstance(owner, list) else functools.partial(setattr, owner)
        put(at, other)
        asked = copy.deepcopy(holds)
        put(at, wanted)
        return self._asked(asked, wanted, near=near)

    def _asked(self, holds: Any, wanted: Any, *, near: bool) -> Any:
        self.changed = True
        none: list[Any] = []
        given = ast.arguments(
            posonlyargs=[], args=[ast.arg(f"{self._word}_other")], vararg=None, kwonlyargs=[], kw_defaults=none,
            kwarg=None, defaults=none,
        )  # fmt: skip
        name = ast.Name(self._word, ast.Load())
        return ast.Expr(ast.Call(name, [ast.Lambda(given, holds), wanted, ast.Constant(near)], []))


def _name(node: Any) -> str:
    """The last name of a called function; "" for anything but a call."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _check_comparison(holds: Callable[[Any], Any], value: Any, near: bool, held: str) -> None:
    """Raises an error that names `held` if the comparison holds for a wrong value."""
    for field, other in _others(value, near):
        try:
            does = bool(holds(other))
        except BaseException:  # noqa: BLE001 - any exception means that it does not hold
            does = False
        if does:
            raise RuntimeError(f"{held} {field}")


def _others(value: Any, near: bool) -> Iterator[tuple[str, Any]]:
    """Wrong values of the same kind, for control tests; for an object of the project, one per differing field."""
    number = _drawn.randrange(10**9, 10**10)
    kind = type(value)
    if kind is bool:
        yield "", not value
    elif kind is int or kind is float:
        yield "", kind(number) + (0 if kind is int else 0.5)
        if near and kind is int:
            yield "", value + 1
    elif kind is str or kind is bytes:
        yield "", kind(str(number), "ascii") if kind is bytes else str(number)
        if near:
            yield "", value + (b"~" if kind is bytes else "~")
    elif kind is list or kind is tuple:
        yield "", kind([number])
        if near and value:
            yield from (("", kind([other, *value[1:]])) for _, other in _others(value[0], near))
    elif kind is set or kind is frozenset:
        yield "", kind([*value, number])
    elif kind is dict:
        yield "", {**value, str(number): number}
        for key in list(value)[:1] if near else ():
            yield from (("", {**value, key: other}) for _, other in _others(value[key], near))
    else:
        yield "", str(number)
        if near and not isinstance(value, (type, types.ModuleType)) and not hasattr(kind, "__members__"):
            yield from _changed(value)


def _changed(value: Any) -> Iterator[tuple[str, Any]]:
    """Copies of one of the project's objects, each with another value in one field."""
    fields = getattr(value, "__dict__", None)
    home = getattr(sys.modules.get(type(value).__module__), "__file__", None) or ""
    if not fields or not os.path.abspath(home).startswith(os.getcwd() + os.sep) or "site-packages" in home:
        return
    for name, field in list(fields.items())[:_MOST_COPIES]:
        for _, other in itertools.islice(_others(field, False), 1) if type(field) in _PLAIN else ():
            try:
                made = object.__new__(type(value))
                made.__dict__.update({**fields, name: other})
            except TypeError:
                return
            yield f"{type(value).__name__}.{name}", made


_PLAIN = frozenset({bool, int, float, str, bytes})
