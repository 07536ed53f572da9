"""Tests of our own beside the project's, in the same process and by the same machinery: some of them have to fail.

One has to pass and one has to fail. Copies of the project's tests compare with a value that nothing equals, drawn
anew for each run: where such a comparison holds, what is compared says yes to everything, or knows what is expected.
"""

from __future__ import annotations

import ast
import random
import types
from typing import Any, Callable  # noqa: UP035 - for Python 3.8

_MOST_COPIES = 8
_MOST_SECONDS = 0.5
_Test = Callable[[], None]
_drawn = random.SystemRandom()


class Control:
    """`words` are the names and the messages that the reader of the report knows: good, bad, copy, message."""

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

    def copies(self, tests: list[Passed]) -> list[Copy]:
        """Copies of tests that passed quickly and compare something."""
        found: list[Copy] = []
        trees: dict[str, Any] = {}
        for test in tests:
            if len(found) == _MOST_COPIES:
                break
            function = _copied(test.function, trees, self._words) if test.seconds <= _MOST_SECONDS else None
            if function is not None:
                name = f"{self._words['copy']}_{len(found)}"
                found.append(Copy(name, _named(function, name), test))
        return found


class Passed:
    """A test that passed: its function, how long that took, and what the runner knows it by."""

    def __init__(self, function: Any, seconds: float, item: Any) -> None:
        self.function, self.seconds, self.item = function, seconds, item


class Copy:
    """The copy of a test."""

    def __init__(self, name: str, function: Any, test: Passed) -> None:
        self.name, self.function, self.test = name, function, test


def debugged(case: Any, copy: Copy) -> Callable[[], None]:
    """The call of a copy that is a method of unittest's: with its set-up and clean-up, and raising what it raises."""

    def test() -> None:
        type(case.__name__, (case,), {copy.name: copy.function})(copy.name).debug()

    return test


def _named(function: _Test, name: str) -> _Test:
    function.__name__ = function.__qualname__ = name
    return function


def _copied(function: Any, trees: dict[str, Any], words: dict[str, str]) -> Any | None:
    """The same function with comparisons that cannot hold; None if it has none, or cannot be made again."""
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
    change = _Unequal(words)
    module = ast.fix_missing_locations(ast.Module([change.visit(fresh)], []))
    if not change.changed:
        return None
    space: dict[str, Any] = {}
    exec(compile(module, path, "exec"), function.__globals__, space)  # noqa: S102 - the tests' own text
    made: Any = space[fresh.name]
    again = types.FunctionType(made.__code__, function.__globals__, made.__name__, function.__defaults__)
    again.__kwdefaults__ = function.__kwdefaults__
    return again


class _Unequal(ast.NodeTransformer):
    """Exchanges one side of each comparison, and raises after it, where it held."""

    def __init__(self, words: dict[str, str]) -> None:
        self._words, self.changed = words, False

    def visit_Assert(self, node: ast.Assert) -> Any:
        test = node.test
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
            return node
        left, right = self._sides(test.left, test.comparators[0])
        compared = ast.Compare(left, [ast.Eq()], [right])
        return [ast.Assert(compared, ast.Constant(self._words["message"])), self._held()]

    def visit_Expr(self, node: ast.Expr) -> Any:
        call = node.value
        if not isinstance(call, ast.Call) or len(call.args) < 2 or not isinstance(call.func, ast.Attribute):
            return node
        if call.func.attr not in ("assertEqual", "assertEquals"):
            return node
        left, right = self._sides(call.args[0], call.args[1])
        call.args[:2] = [left, right]
        return [node, self._held()]

    def _sides(self, left: Any, right: Any) -> Any:
        self.changed = True
        plain = isinstance(left, ast.Constant) and not isinstance(right, ast.Constant)
        return (_other(left), right) if plain else (left, _other(right))

    def _held(self) -> ast.Raise:
        error = ast.Call(ast.Name("RuntimeError", ast.Load()), [ast.Constant(self._words["held"])], [])
        return ast.Raise(error, None)


def _other(node: Any) -> Any:
    """A value of the same kind that nobody could have meant."""
    number = _drawn.randrange(10**9, 10**10)
    if isinstance(node, ast.Constant) and isinstance(node.value, float):
        return ast.Constant(number + 0.5)
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return ast.Constant(number)
    if isinstance(node, ast.Constant) and isinstance(node.value, bytes):
        return ast.Constant(str(number).encode())
    if isinstance(node, (ast.List, ast.Tuple)):
        return type(node)([ast.Constant(number)], ast.Load())
    if isinstance(node, ast.Set):
        return ast.Set([ast.Constant(number)])
    if isinstance(node, ast.Dict):
        return ast.Dict([ast.Constant(str(number))], [ast.Constant(number)])
    return ast.Constant(str(number))
