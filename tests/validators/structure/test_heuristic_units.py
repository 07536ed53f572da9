"""Units and imports of languages without a grammar, by their lines."""

from __future__ import annotations

import time

import pytest

from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure import imports, outline, unit_at, units, widen

GUESSED = {
    "elixir": (
        "defmodule A.B do\n  use X\n  def f(a) do\n    a\n  end\n\n  defp g(b), do: b\nend\n",
        ["class A.B @8", "method A.B.f @3", "method A.B.g @1"],
    ),
    "haskell": (
        "import A\n\nf :: Int -> Int\nf x = x\n\ndata T = A\n  deriving Show\n",
        ["function f @1", "class T @2"],
    ),
    "zig": (
        'const std = @import("std");\npub const P = struct {\n    pub fn f() i32 {\n        return 1;\n    }\n};\n',
        ["class P @5", "method P.f @3"],
    ),
    "scala": ("object A {\n  def f(a: Int): Int = {\n    a\n  }\n}\n", ["class A @5", "method A.f @3"]),
    "dart": ("class A {\n  int f(int a) {\n    return g(a);\n  }\n}\n", ["class A @5", "method A.f @3"]),
    "perl": ("use strict;\nsub f {\n  return 1;\n}\n", ["function f @3"]),
    "r": ("f <- function(x) {\n  x\n}\n", ["function f @3"]),
    "ocaml": ("open A\nlet rec f x =\n  x\n", ["function f @2"]),
    "erlang": ("-module(a).\nf(X) ->\n  X.\n", ["class a @1", "function f @2"]),
    "julia": ("using A\nfunction f(x)\n  x\nend\n", ["function f @3"]),
    "clojure": ("(defn f [x]\n  x)\n", ["function f @2"]),
    "markdown": ("# class A\n\ndef f\n", []),
    "plaintext": ("def f():\n    import this\n", []),
}


@pytest.mark.parametrize("language", GUESSED)
def test_without_a_grammar_the_lines_tell(language: str) -> None:
    text, expected = GUESSED[language]
    source = Source(text)
    found = units(source, language)
    assert [f"{one.kind} {one.qualified} @{source.slice(one.span).count(chr(10)) + 1}" for one in found] == expected
    assert [one.name for one in outline(source, language)] == [one.name for one in found]
    for one in found:
        assert unit_at(source, language, Span(one.span.end, one.span.end)) is not None
        assert widen(source, language, one.span).contains(one.span)


def test_imports_without_a_grammar() -> None:
    source = Source("defmodule A do\nend\n")
    assert imports(source, "elixir") == ()
    for language, text in {"haskell": "import A", "perl": "use strict;", "zig": 'const a = @import("a");'}.items():
        source = Source(f"{text}\nimportant\n")
        assert [source.slice(span) for span in imports(source, language)] == [text]


@pytest.mark.parametrize(
    "text", ["def " * 100_000, "(" * 50_000, "a\n" * 200_000, " " * 500_000 + "def f", "\0" * 1000]
)
@pytest.mark.parametrize("language", ["elixir", "haskell", "dart", "sql"])
def test_hostile_lines_are_read_in_time(language: str, text: str) -> None:
    started = time.process_time()
    units(Source(text), language)
    assert time.process_time() - started < 3
