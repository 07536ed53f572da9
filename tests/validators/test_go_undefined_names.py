"""Go's undefined names: what a compiler would refuse, and no false alarm on the standard library."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from stet_ls.validators import go_undefined_names
from stet_ls.validators.source import Source

HEAD = 'package shop\n\nimport (\n\t"fmt"\n\tyml "gopkg.in/yaml.v3"\n\t"math/rand/v2"\n)\n\n'


def names(text: str, path: Path, **buffers: str) -> list[str] | None:
    """The undefined names of a text at that path; `buffers` by the stem of their file."""
    texts = {path.with_name(f"{stem}.go"): buffer for stem, buffer in buffers.items()}
    found = go_undefined_names.undefined(Source(text), path, texts)
    return None if found is None else [each.message.removeprefix("undefined: ") for each in found]


@pytest.mark.parametrize(
    ("code", "undefined"),
    [
        ("func f(a, b int) int { return a + b }", []),
        ("func f(a, b int) int { return a + c }", ["c"]),
        ("func f() { if x := 1; x > 0 { y := x; _ = y }; _ = y }", ["y"]),
        ("func f(xs []int) { for i, x := range xs { fmt.Println(i, x) }; fmt.Println(i) }", ["i"]),
        ("func f(v any) { switch w := v.(type) { case int: _ = w; default: _ = u } }", ["u"]),
        ("func f(c chan int) { select { case v, ok := <-c: _, _ = v, ok; case c <- 1: } }", []),
        ("func f() { g := func(n int) int { return n }; _ = g(m) }", ["m"]),
        ("type Pair[K comparable, V any] struct { key K; value V; next *Pear[K, V] }", ["Pear"]),
        ("type L[T any] []T\n\nfunc (l *L[E]) First() E { return (*l)[0] }", []),
        ("type T struct{ A int }\n\nvar t = T{A: 1, B: one}", ["one"]),
        ("func f() { yml.Marshal(rand.N(3)); fmt.Printn(1) }", []),
        ("func f() { yaml.Marshal(1) }", ["yaml"]),
        ("func f() { fmtt.Println(1); var w fmt.Stringer; var v fmtt.Stringer }", ["fmtt", "fmtt"]),
        ("func f() { L: for { continue L } }", []),
        ("func f(a, b, c, d, e, f, g, h, i, j, k int) int { return a + b + k }", []),
        ("const (\n\tone = iota\n\ttwo\n)\n\nvar x, y = one, three", ["three"]),
        ("func f() (n int, err error) { n, err = len(os), nil; return }", ["os"]),
        ("func f() { _ = min(1, 2); clear(map[string]any{}) }", []),
    ],
)
def test_names_of_a_file(code: str, undefined: list[str], tmp_path: Path) -> None:
    assert names(HEAD + code + "\n", tmp_path / "a.go") == undefined


def test_the_package_is_all_its_files_and_buffers(tmp_path: Path) -> None:
    (tmp_path / "b.go").write_text(
        "package shop\n\nvar (\n\tprice = 1\n\ttax, fee int\n)\n\nfunc total() int { return 1 }\n"
    )
    (tmp_path / "c.go").write_text("package other\n\nfunc foreign() {}\n")
    (tmp_path / "a.go").write_text("package shop\n\nfunc old() {}\n")
    code = "package shop\n\nfunc f() { _, _, _ = price, tax, fee; total(); foreign(); old(); unsaved() }\n"

    assert names(code, tmp_path / "a.go") == ["foreign", "old", "unsaved"]
    assert names(code, tmp_path / "a.go", d="package shop\n\nfunc unsaved() {}\n") == ["foreign", "old"]
    gone = "package shop\n\nvar price, tax, fee int\n"
    assert names(code, tmp_path / "a.go", b=gone) == ["total", "foreign", "old", "unsaved"]


def test_a_package_may_have_another_name_than_its_folder(tmp_path: Path) -> None:
    text = 'package a\n\nimport "example.com/go-toolbox"\n\nfunc f() { kit.Do(); kti() }\n'
    assert names(text, tmp_path / "a.go") == ["kti"]


@pytest.mark.parametrize(
    "text", ['package a\n\nimport . "math"\n\nvar x = Pi\n', "package a\n\nfunc f( {\n", "var x = y\n"],
    ids=["dot import", "broken", "no clause"],
)  # fmt: skip
def test_undecidable_files_have_no_answer(text: str, tmp_path: Path) -> None:
    assert names(text, tmp_path / "a.go") is None
    assert go_undefined_names.undefined(Source("package a\n"), None) is None


KEYWORDS = {"func", "return", "switch", "select", "interface", "map", "chan", "range", "case", "struct", "var"}
FILES = 150
NOT_IN_THE_TREE = {"gccgo.go"}  # uses what another compiler's build writes


def test_the_standard_library() -> None:
    """No false alarm, and of a hundred names that are mistyped at least 95 are found."""
    alarms, tried, missed, rng = [], 0, [], random.Random(5)
    for path in _library(rng):
        source = Source(path.read_text(errors="replace"))
        found = go_undefined_names.undefined(source, path)
        if found is None:
            continue
        alarms += [f"{path}:{each.line + 1}: {each.message}" for each in found]
        mistyped = _mistyped(source.text, rng)
        if mistyped is None or (after := go_undefined_names.undefined(Source(mistyped[0]), path)) is None:
            continue
        tried += 1
        missed += [] if after else [mistyped[1]]
    assert alarms == []
    assert tried > FILES / 3
    assert len(missed) <= 0.05 * tried, missed


def _library(rng: random.Random) -> Iterator[Path]:
    go = shutil.which("go")
    if go is None:
        pytest.skip("go is not installed: its library is what is read")
    root = Path(subprocess.run([go, "env", "GOROOT"], capture_output=True, text=True, check=True).stdout.strip())
    files = sorted(path for path in (root / "src").rglob("*.go") if not {"testdata", "builtin"} & {*path.parts})
    if not files:
        pytest.skip("go came without its library")
    yield from (path for path in rng.sample(files, FILES) if path.name not in NOT_IN_THE_TREE)


_USE = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|`[^`]*`|'[^']+'"
    r"|(?:(?<=[=(!&*+/|:<>] )|(?<=[(!&*\[]))([A-Za-z]\w{2,})(?=[.(\[)])",
    re.DOTALL,
)
"""Comments, literals, and names that are used: after an operator or bracket, before a dot or bracket."""


def _mistyped(text: str, rng: random.Random) -> tuple[str, str] | None:
    """The text with a letter doubled in one of the names that it uses."""
    body = text.find("func ")
    uses = [match for match in _USE.finditer(text, body) if match[1] and match[1] not in KEYWORDS] if body >= 0 else []
    if not uses:
        return None
    use = rng.choice(uses)
    name = use[1] + use[1][-1]
    if re.search(rf"\b{name}\b", text):
        return None
    return text[: use.start(1)] + name + text[use.end(1) :], name
