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
