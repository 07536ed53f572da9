"""Arguments that are long or deep where code calls itself."""

from __future__ import annotations

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.python.inputs.values.sizes import with_sizes


def _sized(before: str, after: str, unit: str, *setups: str) -> list[Call]:
    names = tuple(line.partition(" = ")[0] for line in setups[0].splitlines())
    calls = tuple(Call(each, f"__out__({unit}({', '.join(names)}))", names, "guessed") for each in setups)
    return [each for each in with_sizes(calls, (before, after), unit) if each not in calls]


def test_a_recursion_gets_a_long_argument_with_each_combination_of_kinds() -> None:
    recursive = "def f(a, b):\n    def g(n):\n        return g(n + 1)\n    return g(0)\n"
    wrong, right = "a = [1]\nb = 3", "a = ['x']\nb = ','"
    found = _sized("def f(a, b):\n    return 1\n", recursive, "f", *[wrong] * 70, right)
    assert any("['x'] * 2501" in each.setup and "b = ','" in each.setup for each in found)


def test_a_recursion_over_links_gets_a_long_chain_and_its_first_key() -> None:
    recursive = "def f(parents, name):\n    return f(parents, parents[name]) if name in parents else name\n"
    found = _sized(recursive, recursive, "f", "parents = {'a': 'b'}\nname = 'c'")
    assert any("str(n): str(n + 1)" in each.setup and "name = '0'" in each.setup for each in found)


def test_a_method_that_calls_itself_gets_a_long_chain_of_objects() -> None:
    text = "class A:\n    def __init__(self, name, up=None):\n        self.up = up\n\n"
    text += "    def f(self):\n        return self.up.f()\n"
    found = with_sizes((), (text, text), "A.f")
    assert any("obj = A(name='a', up=obj)" in each.setup for each in found)
