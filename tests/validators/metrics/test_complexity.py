"""Each number against another counter: ruff for Python, lizard for the others, the paper for the cognitive one."""

from __future__ import annotations

import json
import re
import subprocess
import sysconfig
from pathlib import Path

import lizard
import pytest

from stet_ls.validators.checkers.tools import ruff
from stet_ls.validators.languages import NODE_KINDS
from stet_ls.validators.metrics import complexity, lizard_complexity
from stet_ls.validators.metrics.language_table import language_row
from stet_ls.validators.source import Source, Span

STDLIB = Path(sysconfig.get_path("stdlib"))
MODULES = ("argparse", "ast", "dataclasses", "inspect", "pdb", "shlex", "statistics", "subprocess", "tarfile", "typing")


def measured(text: str, language: str) -> dict[str, complexity.Complexity]:
    found = complexity.measure(Source(text), language)
    assert found is not None
    return {one.unit.name: one for one in found}


@pytest.mark.parametrize("module", MODULES)
def test_python_counts_paths_as_ruff_does(module: str) -> None:
    file = STDLIB / f"{module}.py"
    question = ruff.RuleSelection(
        ("--select", "C901", "--config", "lint.mccabe.max-complexity=0", "--ignore-noqa"), "lint"
    )
    argv = ruff.command(question, ())
    assert argv is not None
    output = json.loads(subprocess.run([*argv, str(file)], capture_output=True).stdout)
    theirs = {item["location"]["row"]: int(re.search(r"\((\d+) > 0\)", item["message"])[1]) for item in output}  # type: ignore[index]
    ours = complexity.measure(Source(file.read_text("utf-8")), "python")
    assert ours is not None
    assert {one.line + 1: one.cyclomatic for one in ours} == theirs
    assert len(theirs) > 10


MATCHED = """\
def kind(value):
    match value:
        case 1 | 2:
            return "small"
        case [first, *_] if first:
            return "list"
        case None:
            return "none"
        case other:
            return other


def tried(path):
    try:
        file = open(path)
    except OSError:
        return None
    except (ValueError, TypeError):
        raise
    else:
        return [line for line in file if line and not line.isspace()]
    finally:
        print("done") if path else None


def outer(values):
    def inner(value):
        return value if value else 0

    for value in values:
        inner(value)
    else:
        return 1
"""


def test_python_statements_that_the_modules_seldom_have(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(MATCHED)
    question = ruff.RuleSelection(("--select", "C901", "--config", "lint.mccabe.max-complexity=0"), "lint")
    argv = ruff.command(question, ("--target-version", "py311"))
    assert argv is not None
    output = json.loads(subprocess.run([*argv, str(file)], capture_output=True).stdout)
    theirs = {item["location"]["row"]: int(re.search(r"\((\d+) > 0\)", item["message"])[1]) for item in output}  # type: ignore[index]
    assert {one.line + 1: one.cyclomatic for one in measured(MATCHED, "python").values()} == theirs
    assert theirs == {1: 4, 13: 4, 26: 3, 27: 1}


# lizard counts keywords: it misses C#'s `foreach` and Rust's arms, so the samples have neither.
SAMPLES = {
    "javascript": (
        "a.js",
        "function f(a, b) {\n  if (a && b) { x(); } else if (a || b) { y(); } else { z(); }\n  switch (a) {\n"
        "    case 1: break;\n    case 2: break;\n    default: q();\n  }\n  for (const i of b) { while (i) { a(); } }\n"
        "  try { a(); } catch (e) { b(); }\n  return a ? b : 1;\n}\nfunction g() { return 1; }\n",
    ),
    "typescript": (
        "a.ts",
        "export function f(a: number, b: string): number {\n  if (a > 0 && b) { return 1; }\n  do { a--; } while (a);\n"
        "  return a ?? 2;\n}\nclass A {\n  m(x: number) { for (;;) { if (x) { break; } } }\n}\n",
    ),
    "go": (
        "a.go",
        'package a\n\nfunc F(a, b int, c string) int {\n\tif a > 0 && b > 0 {\n\t\treturn 1\n\t} else if c == "" {\n'
        "\t\treturn 2\n\t}\n\tfor i := range c {\n\t\tswitch i {\n\t\tcase 1:\n\t\tcase 2:\n\t\tdefault:\n\t\t}\n\t}\n"
        "\treturn 0\n}\n",
    ),
    "rust": (
        "a.rs",
        "fn f(a: i32, b: i32) -> i32 {\n    if a > 0 && b > 0 {\n        return 1;\n    } else if a < 0 {\n"
        "        return 2;\n    }\n    for i in 0..b {\n        while i > a {}\n    }\n    0\n}\n",
    ),
    "java": (
        "A.java",
        "class A {\n  int f(int a, String b) {\n    if (a > 0 && b != null || a < -5) { return 1; }\n"
        "    for (int i : new int[0]) { while (i > 0) { i--; } }\n    switch (a) { case 1: break; default: }\n"
        "    try { g(); } catch (RuntimeException e) { return 2; }\n    return a > 0 ? 1 : 0;\n  }\n  void g() {}\n}\n",
    ),
    "cpp": (
        "a.cpp",
        "int f(int a, const char* b) {\n  if (a && b) { return 1; } else if (a) { return 2; }\n"
        "  for (int i = 0; i < a; i++) { do { a--; } while (a); }\n  switch (a) { case 1: break; default: break; }\n"
        "  try { g(); } catch (...) { return 3; }\n  return a ? 1 : 0;\n}\nint g() { return 1; }\n",
    ),
    "csharp": (
        "A.cs",
        "class A {\n  int F(int a, string b) {\n    if (a > 0 && b != null) { return 1; }\n"
        "    for (;;) { while (a > 0) { a--; } }\n    switch (a) { case 1: break; case 2: break; default: break; }\n"
        "    try { G(); } catch (Exception e) { return 2; }\n    return a > 0 ? 1 : 0;\n  }\n  void G() {}\n}\n",
    ),
    "php": (
        "a.php",
        "<?php\nfunction f($a) {\n  if ($a && g()) { return 1; } elseif ($a) { return 2; }\n"
        "  foreach ($a as $i) { while ($i) { $i--; } }\n  switch ($a) { case 1: break; default: break; }\n"
        "  return $a ? 1 : 0;\n}\n",
    ),
    "lua": (
        "a.lua",
        "local function f(a, b)\n  if a and b then\n    return 1\n  elseif a then\n    return 2\n  end\n"
        "  for i = 1, 2 do\n    while a do\n      a = nil\n    end\n  end\n  return 0\nend\n",
    ),
    "kotlin": (
        "a.kt",
        "fun f(a: Int, b: String): Int {\n    if (a > 0 && b.isEmpty()) {\n        return 1\n    }\n"
        "    for (i in 1..a) {\n        while (i > 0) {\n        }\n    }\n    return 0\n}\n",
    ),
    "swift": (
        "a.swift",
        "func f(a: Int, b: Int) -> Int {\n    if a > 0 && b > 0 {\n        return 1\n    }\n    for i in 0..<a {\n"
        "        while i > 0 {\n        }\n    }\n    return a > 0 ? 1 : 0\n}\n",
    ),
}


@pytest.mark.parametrize("language", SAMPLES)
def test_other_languages_count_as_lizard_does(language: str) -> None:
    name, text = SAMPLES[language]
    theirs = {
        re.split(r"::|\.", one.name)[-1]: (one.cyclomatic_complexity, one.parameter_count, one.start_line, one.length)
        for one in lizard.analyze_file.analyze_source_code(name, text).function_list
    }
    ours = {
        one.unit.name: (one.cyclomatic, one.parameters, one.line + 1, one.length)
        for one in measured(text, language).values()
    }
    assert ours == theirs
    assert max(paths for paths, *_ in ours.values()) > 3


# The two examples of G. A. Campbell, "Cognitive Complexity" (2018): the same paths, not the same trouble.
SUM_OF_PRIMES = """\
class A {
  int sumOfPrimes(int max) {
    int total = 0;
    for (int i = 1; i <= max; ++i) {
      for (int j = 2; j < i; ++j) {
        if (i % j == 0) {
          break;
        }
      }
      total += i;
    }
    return total;
  }
  String getWords(int number) {
    switch (number) {
      case 1: return "one";
      case 2: return "a couple";
      case 3: return "a few";
      default: return "lots";
    }
  }
}
"""


def test_the_cognitive_measure_tells_apart_what_the_paths_do_not() -> None:
    found = measured(SUM_OF_PRIMES, "java")
    # The paper's 7 counts a `continue` to a label, which this text has no need of.
    assert (found["sumOfPrimes"].cyclomatic, found["sumOfPrimes"].cognitive, found["sumOfPrimes"].nesting) == (4, 6, 3)
    assert (found["getWords"].cyclomatic, found["getWords"].cognitive, found["getWords"].nesting) == (4, 1, 1)


def test_a_chain_of_else_is_as_deep_as_its_first_if_in_every_language() -> None:
    chains = {
        "python": "def f(a):\n    if a:\n        x()\n    elif b:\n        y()\n    else:\n        z()\n",
        "javascript": "function f(a) { if (a) { x(); } else if (b) { y(); } else { z(); } }",
        "go": "package a\nfunc f(a bool) { if a { x() } else if b { y() } else { z() } }\n",
        "rust": "fn f(a: bool) { if a { x() } else if b { y() } else { z() } }",
        "java": "class A { void f(int a) { if (a > 0) { x(); } else if (a < 0) { y(); } else { z(); } } }",
        "csharp": "class A { void f(int a) { if (a > 0) { x(); } else if (a < 0) { y(); } else { z(); } } }",
        "cpp": "void f(int a) { if (a) { x(); } else if (b) { y(); } else { z(); } }",
        "php": "<?php function f($a) { if ($a) { x(); } elseif ($b) { y(); } else { z(); } }",
        "ruby": "def f(a)\n  if a\n    x\n  elsif b\n    y\n  else\n    z\n  end\nend\n",
        "lua": "function f(a) if a then x() elseif b then y() else z() end end",
        "shellscript": "f() {\n  if a; then x; elif b; then y; else z; fi\n}\n",
        "kotlin": "fun f(a: Boolean) { if (a) { x() } else if (b) { y() } else { z() } }",
        "swift": "func f(a: Bool) { if a { x() } else if b { y() } else { z() } }",
    }
    output = {language: measured(text, language)["f"] for language, text in chains.items()}
    assert {name: (one.cyclomatic, one.cognitive, one.nesting) for name, one in output.items()} == dict.fromkeys(
        chains, (3, 3, 1)
    )


def test_every_grammar_with_functions_has_a_row() -> None:
    assert all(map(language_row, NODE_KINDS))


@pytest.mark.parametrize("text", ["", "\n", "def f(:\n  if x\n", "\0\1\2", "((((" * 5000, "prose, and no code at all."])
def test_broken_texts_have_fewer_functions_and_raise_nothing(text: str) -> None:
    for language in ("python", "javascript", "go"):
        assert complexity.measure(Source(text), language) is not None


def test_a_language_without_a_tree_is_not_measured() -> None:
    assert complexity.measure(Source("x = 1"), "haskell") is None
    assert lizard_complexity.measure(Source("x = 1"), "haskell") is None


def test_lizard_counts_where_there_is_no_row() -> None:
    scala = "object A {\n  def f(a: Int, b: Int): Int = {\n    if (a > 0 && b > 0) 1 else 2\n  }\n}\n"
    (one,) = lizard_complexity.measure(Source(scala), "scala") or ()
    assert (one.unit.name, one.line, one.cyclomatic, one.parameters) == ("f", 1, 3, 2)


def test_a_position_belongs_to_the_innermost_function() -> None:
    text = "def a():\n    def b():\n        return 1\n    return b\n\n\ndef c():\n    return 2\n"
    found = complexity.measure(Source(text), "python") or ()
    at = text.index("return 1")
    assert [one.unit.name for one in complexity.functions_in(found, Span(at, at + 3))] == ["b"]
    assert [one.unit.name for one in complexity.functions_in(found, Span(0, len(text)))] == ["a", "b", "c"]
