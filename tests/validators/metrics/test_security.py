"""Calls to look at, in the languages without a security linter; and the same calls where they are harmless."""

from __future__ import annotations

import pytest

from stet_ls.validators.metrics.security import hazards
from stet_ls.validators.source import Source

CASES = {
    "javascript": ("eval(input);", "eval('1');", "text-as-code"),
    "typescript": ("exec(`ls ${name}`);", "exec('ls');", "shell"),
    "c": ("void f(char *a) { strcpy(b, a); }", "void f(char *a) { strncpy(b, a, 3); }", "buffer-overflow"),
    "cpp": ("void f(char *a) { printf(a); }", 'void f(char *a) { printf("%s", a); }', "format-string"),
    "go": (
        'package a\nfunc f(c string) { exec.Command("sh", "-c", c).Run() }',
        'package a\nfunc f(c string) { exec.Command("ls", c) }',
        "shell",
    ),
    "rust": ("fn f() { unsafe { std::mem::transmute::<u8, i8>(1) }; }", "fn f() { u8::from(1) ; }", "unchecked"),
    "java": (
        'class A { void f(String c) { MessageDigest.getInstance("MD5"); } }',
        'class A { void f(String c) { MessageDigest.getInstance("SHA-256"); } }',
        "weak-hash",
    ),
    "csharp": (
        'class A { void F(string n) { var c = new SqlCommand($"select {n}"); } }',
        'class A { void F(string n) { var c = new SqlCommand("select 1"); } }',
        "sql",
    ),
    "php": ("<?php system($command);", "<?php system('ls');", "shell"),
    "ruby": ("eval(params[:code])\n", "eval('1')\n", "text-as-code"),
    "shellscript": ('eval "$1"\n', "echo eval\n", "text-as-code"),
}


@pytest.mark.parametrize("language", CASES)
def test_a_hazard_is_reported_and_its_harmless_form_is_not(language: str) -> None:
    bad, good, code = CASES[language]
    (finding,) = hazards(Source(bad), language) or ()
    assert finding.code == code
    assert bad[finding.span.start : finding.span.end].split("(")[0]
    assert hazards(Source(good), language) == ()


def test_a_language_without_a_row_is_not_measured() -> None:
    assert hazards(Source("x"), "haskell") is None
    assert hazards(Source("x = 1"), "python") is None, "ruff does it"


def test_a_string_or_a_comment_is_not_a_call() -> None:
    assert hazards(Source("// eval(input)\nconst a = 'eval(input)';\n"), "javascript") == ()
