"""What is named nowhere else, and what is never reached; and all that only looks like it."""

from __future__ import annotations

import pytest

from stet_ls.validators.metrics.dead_code import dead_code
from stet_ls.validators.source import Source


def findings(text: str, language: str = "python", *elsewhere: bytes) -> list[str]:
    return [finding.message for finding in dead_code(Source(text), language, elsewhere=elsewhere) or ()]


UNUSED = {
    "python": ("def _gone():\n    return 1\n", "the private function `_gone` is used nowhere"),
    "javascript": ("import a from 'a';\nfunction gone() { return a; }\n", "the private function `gone`"),
    "typescript": ("export class A {\n  private gone(): number { return 1; }\n}\n", "the private method `gone`"),
    "go": ("package a\n\nfunc gone() int { return 1 }\n", "the private function `gone`"),
    "rust": ("fn gone() -> i32 { 1 }\n", "the private function `gone`"),
    "java": ("class A {\n  private int gone() { return 1; }\n}\n", "the private method `gone`"),
    "cpp": ("static int gone() { return 1; }\n", "the private function `gone`"),
    "csharp": ("class A {\n  private int gone() { return 1; }\n}\n", "the private method `gone`"),
    "kotlin": ("private fun gone(): Int { return 1 }\n", "the private function `gone`"),
    "php": ("<?php class A {\n  private function gone() { return 1; }\n}\n", "the private method `gone`"),
    "lua": ("local function gone()\n  return 1\nend\n", "the private function `gone`"),
}


@pytest.mark.parametrize("language", UNUSED)
def test_a_private_thing_that_is_named_once(language: str) -> None:
    text, message = UNUSED[language]
    (only,) = findings(text, language)
    assert only.startswith(message)
    remark = {"python": "# _gone\n", "lua": "-- gone\n"}.get(language, "// gone\n")
    assert findings(text + remark, language) == [], "named again: used"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "def gone():\n    return 1\n"),
        ("python", "@route('/')\ndef _gone():\n    return 1\n"),
        ("python", "class A(Base):\n    def _hook(self):\n        return 1\n"),
        ("python", "class A:\n    def __len__(self):\n        return 1\n"),
        ("javascript", "function gone() { return 1; }\n"),
        ("javascript", "import a from 'a';\nexport function kept() { return a; }\n"),
        ("go", "package main\n\nfunc main() {}\nfunc init() {}\nfunc Kept() {}\n"),
        ("rust", "fn main() {}\n#[test]\nfn works() {}\npub fn kept() {}\n"),
        ("java", "class A {\n  @Inject private void wire() {}\n  private A() {}\n  private void readObject() {}\n}\n"),
        ("csharp", "partial class A {\n  private int gone() { return 1; }\n}\n"),
        ("csharp", "class A {\n  [Test] private int Runs() { return 1; }\n}\n"),
        ("c", "int kept(void) { return 1; }\n"),
    ],
)
def test_names_that_others_may_use_are_not_reported(language: str, text: str) -> None:
    assert findings(text, language) == []


def test_unparsed_text_is_not_measured() -> None:
    assert dead_code(Source("def _broken(:\n    return 1\n"), "python") is None
    assert dead_code(Source("gone = 1\n"), "haskell") is None


def test_a_private_method_of_javascript() -> None:
    text = "class A {\n  #gone() { return 1; }\n}\n"
    assert findings(text, "javascript") == ["the private method `gone` is used nowhere"]
    assert findings(text.replace("return 1", "return this.#gone()"), "javascript") == []


def test_a_private_variable_and_the_other_files_of_the_project() -> None:
    text = "_LIMIT = 3\n_USED: int = 4\nprint(_USED)\n"
    assert findings(text) == ["the private variable `_LIMIT` is used nowhere"]
    assert findings(text, "python", b"from a import _LIMIT\n") == []


UNREACHED = {
    "python": "def f():\n    return 1\n    print(2)\n",
    "javascript": "function f() {\n  throw new Error();\n  g();\n}\n",
    "go": "package a\nfunc F() int {\n\treturn 1\n\tg()\n}\n",
    "rust": "pub fn f() -> i32 {\n    return 1;\n    g();\n}\n",
    "java": "class A { int f() {\n  return 1;\n  g();\n} }\n",
    "cpp": "int f() {\n  return 1;\n  g();\n}\n",
    "csharp": "class A { int f() {\n  return 1;\n  g();\n} }\n",
}


@pytest.mark.parametrize("language", UNREACHED)
def test_a_statement_behind_a_return(language: str) -> None:
    assert findings(UNREACHED[language], language) == ["this is never reached"]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "def f():\n    return\n    yield\n"),
        ("python", "def f(a):\n    if a:\n        return 1\n    return 2\n"),
        ("python", "def f():\n    return 1\n    # nothing behind it\n"),
        ("javascript", "function f() {\n  return g();\n  function g() { return 1; }\n}\n"),
        ("cpp", "int f(int a) {\n  goto end;\n  return 1;\nend:\n  return 2;\n}\n"),
        ("cpp", "int f(int a) {\n  switch (a) { case 1: return 1; break; default: return 2; }\n}\n"),
        ("go", "package a\nfunc F() {\n\tgoto end\nend:\n\tg()\n}\n"),
    ],
)
def test_reachable_code_is_not_reported(language: str, text: str) -> None:
    assert findings(text, language) == []
