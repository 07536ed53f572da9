"""No text makes a search take the square of its length: searches hold the interpreter, and with it the server."""

from __future__ import annotations

import time

import pytest

from stet_ls.validators import structure, syntax
from stet_ls.validators.source import Source

TEXTS = {
    "blank lines before an import": ("javascript", "let a = 1\n" + "    \n" * 40_000 + "let b = 2\n"),
    "blanks in a comment": ("c", "/* " + " " * 100_000 + "x */\nint f(void) { return 1; }\n"),
    "blank lines in a comment": ("c", "/*\n" + "    \n" * 40_000 + "x */\nint f(void) { return 1; }\n"),
    "a long name": ("python", "def f():\n    " + "a" * 100_000 + "[0](1)\n"),
    "types without an end": ("typescript", "function f() {\n  a" + "<a " * 30_000 + "()\n}\n"),
}


@pytest.mark.parametrize(("language", "text"), TEXTS.values(), ids=TEXTS)
def test_a_hostile_text_is_read_in_time(language: str, text: str) -> None:
    source = Source(text)
    started = time.process_time()  # the tools' own processes do not count
    syntax.check(source, language)
    for unit in structure.units(source, language):
        structure.calls(source, language, unit)
    structure.uses(source, language)
    assert time.process_time() - started < 3


FUNCTIONS = {
    "python": "def f{}(a):\n    return g(a)\n\n\n",
    "javascript": "function f{}(a) {{\n  return g(a);\n}}\n",
    "cpp": "int f{}(int a) {{\n  return g(a);\n}}\n",
    "elixir": "def f{}(a) do\n  g(a)\nend\n",
}


@pytest.mark.parametrize("broken", ["", "x = (\n"], ids=["whole", "broken"])
@pytest.mark.parametrize("language", FUNCTIONS)
def test_many_functions_are_read_in_time(language: str, broken: str) -> None:
    """The whole file selected, each of its functions looked at: what a job on a long file asks for."""
    source = Source("".join(FUNCTIONS[language].format(number) for number in range(5000)) + broken)
    started = time.process_time()
    found = structure.units(source, language)
    assert len(found) == 5000
    assert structure.widen(source, language, source.whole).contains(found[-1].span)
    assert sum(structure.is_stub(source, language, unit) for unit in found) == 0
    structure.outline(source, language)
    assert time.process_time() - started < 8
