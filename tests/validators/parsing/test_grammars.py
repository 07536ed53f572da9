"""Every grammar that comes along parses its language, alone and late."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import metadata

import pytest

from stet_ls.validators import syntax
from stet_ls.validators.findings import Status
from stet_ls.validators.languages import LANGUAGES
from stet_ls.validators.parsing.parse import parse
from stet_ls.validators.source import Source

# A text that is right, and one that is not: the grammar has to be that of the language, not merely to load.
SAMPLES = {
    "python": ("async def f(a: int) -> str:\n    return f'{a!r}'\n", "def f(:\n"),
    "javascript": ("export const f = async (a) => a?.b ?? 1;\n", "const f = (;\n"),
    "javascriptreact": ("const a = <A b={c}>d</A>;\n", "const a = <A>;\n"),
    "typescript": ("type A<T> = { readonly [K in keyof T]?: T[K] };\n", "type A = ;\n"),
    "typescriptreact": ("const a = <A<number> b={c as any} />;\n", "const a = <A>;\n"),
    "go": ("package a\n\nfunc F[T any](t T) (int, error) { return 1, nil }\n", "package a\nfunc F( {}\n"),
    "rust": ("pub async fn f<'a>(s: &'a str) -> Result<(), E> { g(s).await? }\n", "fn f( {}\n"),
    "java": ("record A(int b) { sealed interface C permits D {} }\n", "class A { int b( }\n"),
    "c": ("int main(int argc, char **argv) { return argc > 1 ? 0 : 1; }\n", "int main( {\n"),
    "cpp": (
        "template <typename T> auto f(T&& t) -> decltype(t) { return [&] { return t; }(); }\n",
        "class A { int ;;\n",
    ),
    "csharp": ('namespace A;\npublic record B(int C) { public string? D => $"{C}"; }\n', "class A { int B( }\n"),
    "shellscript": ('for a in "$@"; do\n  [[ -f $a ]] && cat <"$a"\ndone\n', "for a in b; do\n"),
    "json": ('{"a": [1, true, null]}\n', '{"a": }\n'),
    "yaml": ("a: &b\n  - c: [1, 2]\n  - *b\n", "a: [1, 2\nb: }\n"),
    "toml": ('[a.b]\nc = 1979-05-27\nd = """\ne\n"""\n', "[a\n"),
    "html": ("<!doctype html><p class=a>b<br></p>\n", "<p <\n"),
    "css": ("@media print { a:hover > b { color: #fff } }\n", "a { color: \n"),
    "ruby": ("class A < B\n  def c(d:) = d&.e { |f| f }\nend\n", "class A\n  def c(\nend\n"),
    "php": (
        "<?php\nfunction f(?int ...$a): string { return match(true) { default => 'b' }; }\n",
        "<?php\nfunction f( {\n",
    ),
    "kotlin": ("data class A(val b: Int?) {\n  fun c() = b?.let { it + 1 }\n}\n", "class A { fun ( }\n"),
    "swift": ("struct A { let b: Int?\n  func c() async throws -> [Int] { [b!] } }\n", "struct A { func ( }\n"),
    "lua": ("local a <const> = function(...) return ... end\n", "local = 1\n"),
}


def test_there_are_samples_of_all_languages_and_twenty_wheels_for_them() -> None:
    assert set(SAMPLES) == {row.id for row in LANGUAGES if row.grammar}
    modules = {row.grammar.module for row in LANGUAGES if row.grammar}
    assert len(modules) == 20
    wanted = {re.split("[<>=!~; ]", each)[0] for each in metadata.requires("stet-ls") or () if "extra" not in each}
    assert {module.replace("_", "-") for module in modules} <= wanted


@pytest.mark.parametrize("language", SAMPLES)
def test_a_grammar_accepts_valid_code_and_rejects_invalid_code(language: str) -> None:
    right, wrong = SAMPLES[language]
    assert not parse(Source(right), language).root.has_error, "what its language allows"
    verdict = syntax.check_fast(Source(wrong), language, deadline=10)
    assert verdict.status is Status.ERROR
    assert verdict.findings


def test_one_language_loads_one_grammar() -> None:
    code = """
import sys
from stet_ls.validators import syntax
from stet_ls.validators.source import Source
def loaded(): return sorted(name for name in sys.modules if name.startswith("tree_sitter") and "." not in name)
assert loaded() == []
assert syntax.check_fast(Source("a: 1"), "yaml", deadline=60).status == "ok"
print(*loaded())
"""
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.split() == ["tree_sitter", "tree_sitter_yaml"]
