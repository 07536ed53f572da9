"""Units, and the smallest whole thing around a place. `⟦…⟧` marks a selection, `$0` a cursor."""

from __future__ import annotations

import re
import time

import pytest

from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure import unit_at, units, widen

SAMPLES: dict[str, tuple[str, list[str]]] = {
    "python": (
        """
import os

# a remark that is not the function's
@cache
@retry(3)
def fetch(url: str, *, tries=3) -> bytes:
    '''Gets it.

    Twice.
    '''
    def once(): return 1
    return once()

class Parser(Base):
    '''Parses.'''
    @property
    def name(self): return 1
    async def parse_date(self, text): pass
""",
        [
            "function fetch 'def fetch(url: str, *, tries=3) -> bytes' 'Gets it.\\n\\nTwice.' @9",
            "function fetch.once 'def once()' '' @1",
            "class Parser 'class Parser(Base)' 'Parses.' @5",
            "method Parser.name 'def name(self)' '' @2",
            "method Parser.parse_date 'async def parse_date(self, text)' '' @1",
        ],
    ),
    "typescript": (
        """
import x from 'y';
/** Doc */
@Dec()
export class A<T> extends B {
  // a remark
  @HostListener('x')
  foo(a: number): void { this.bar(a); }
  /** Arrow. */
  arrow = (e) => { g(); };
}
export const f = async (x) => h(x);
export default function () { }
const o = {
  a() {},
  b: () => 1,
};
module.exports.q = function (z) {};
interface I { m(): void }
/**
 * Two
 * lines
 */
function* gen<T>(a: T) {
  const inner = function (q) {};
  items.map(x => x);
}
""",
        [
            "class A 'export class A<T> extends B' 'Doc' @9",
            "method A.foo 'foo(a: number): void' '' @2",
            "method A.arrow 'arrow = (e) =>' 'Arrow.' @2",
            "function f 'export const f = async (x) =>' '' @1",
            "function default 'export default function ()' '' @1",
            "function a 'a()' '' @1",
            "function b 'b: () =>' '' @1",
            "function q 'module.exports.q = function (z)' '' @1",
            "class I 'interface I' '' @1",
            "function gen 'function* gen<T>(a: T)' 'Two\\nlines' @8",
            "function gen.inner 'const inner = function (q)' '' @1",
        ],
    ),
    "go": (
        """
package p

// Push adds.
// It grows.
func (s *Stack[T]) Push(x T) error { return nil }

type A struct {
	x int
}

var f = func() {}

func g() {
	h := func(x int) {}
	h(1)
}
""",
        [
            "method Stack.Push 'func (s *Stack[T]) Push(x T) error' 'Push adds.\\nIt grows.' @3",
            "class A 'type A' '' @3",
            "function f 'var f = func()' '' @1",
            "function g 'func g()' '' @4",
            "function g.h 'h := func(x int)' '' @1",
        ],
    ),
    "rust": (
        """
use std::io;
/// A point.
#[derive(Debug)]
pub struct P { a: i32 }

impl<T> Show for P {
    /// Shows.
    #[inline]
    pub fn show(&self) -> i32 { 1 }
}
trait T { fn declared(&self); fn given(&self) {} }
fn main() {}
""",
        [
            "class P 'pub struct P' 'A point.' @3",
            "class P 'impl<T> Show for P' '' @5",
            "method P.show 'pub fn show(&self) -> i32' 'Shows.' @3",
            "class T 'trait T' '' @1",
            "method T.given 'fn given(&self)' '' @1",
            "function main 'fn main()' '' @1",
        ],
    ),
    "java": (
        """
package a;
/** Doc. */
@Foo
public class A {
    /** X. */
    @Override
    public int f(int a) throws E { return 1; }
    A() {}
    enum K { X }
    interface I { void m(); }
}
""",
        [
            "class A '@Foo public class A' 'Doc.' @10",
            "method A.f '@Override public int f(int a) throws E' 'X.' @3",
            "method A.A 'A()' '' @1",
            "class A.K 'enum K' '' @1",
            "class A.I 'interface I' '' @1",
            "method A.I.m 'void m()' '' @1",
        ],
    ),
    "cpp": (
        """
#include <a>
namespace n {
template <class T>
class Q : public P {
 public:
  int f() const { return g(1); }
  int operator+(int a) { return a; }
};
}
/// Runs.
void Q<T>::run(int a) { a.b(); }
typedef struct { int a; } S;
static int *p(void) { return 0; }
struct used x;
""",
        [
            "class Q 'template <class T> class Q : public P' '' @6",
            "method Q.f 'int f() const' '' @1",
            "method Q.operator+ 'int operator+(int a)' '' @1",
            "method Q.run 'void Q<T>::run(int a)' 'Runs.' @2",
            "class S 'typedef struct' '' @1",
            "function p 'static int *p(void)' '' @1",
        ],
    ),
    "csharp": (
        """
using System;
namespace N {
/// <summary>Doc.</summary>
[Attr]
public class A : B {
    public int P { get { return 1; } }
    public A() : base() {}
    public int F(int a) => G(a);
    void H() {
        int L(int z) { return z; }
    }
}
record R(int A);
}
""",
        [
            "class A 'public class A : B' '<summary>Doc.</summary>' @10",
            "method A.P 'public int P' '' @1",
            "method A.A 'public A() : base()' '' @1",
            "method A.F 'public int F(int a)' '' @1",
            "method A.H 'void H()' '' @3",
            "function A.H.L 'int L(int z)' '' @1",
            "class R 'record R(int A)' '' @1",
        ],
    ),
    "ruby": (
        "# Doc.\nclass A < B\n  # Does f.\n  def f(a)\n    g(a)\n  end\n  def self.z; end\nend\n",
        ["class A 'class A < B' 'Doc.' @8", "method A.f 'def f(a)' 'Does f.' @4", "method A.z 'def self.z; end' '' @1"],
    ),
    "php": (
        "<?php\n/** Doc. */\n#[Attr]\nclass A {\n  public function f($a) { }\n}\nfunction k() {}\n",
        ["class A 'class A' 'Doc.' @5", "method A.f 'public function f($a)' '' @1", "function k 'function k()' '' @1"],
    ),
    "kotlin": (
        "class A(val x: Int) {\n  fun f(a: Int): Int { return 1 }\n}\nobject O { }\nfun String.ext() = 1\n",
        [
            "class A 'class A(val x: Int)' '' @3",
            "method A.f 'fun f(a: Int): Int' '' @1",
            "class O 'object O' '' @1",
            "function ext 'fun String.ext()' '' @1",
        ],
    ),
    "swift": (
        "/// Doc.\nclass A: B {\n  func f(a: Int) -> Int { return 1 }\n  init(x: Int) {}\n}\n",
        [
            "class A 'class A: B' 'Doc.' @5",
            "method A.f 'func f(a: Int) -> Int' '' @1",
            "method A.init 'init(x: Int)' '' @1",
        ],
    ),
    "lua": (
        "-- Doc.\nfunction M.f(a)\n  g(a)\nend\nlocal z = function() end\nfunction M:meth() end\n",
        [
            "method M.f 'function M.f(a)' 'Doc.' @4",
            "function z 'local z = function() end' '' @1",
            "method M.meth 'function M:meth() end' '' @1",
        ],
    ),
    "shellscript": ("#!/bin/sh\n# Doc.\nf() {\n  g a\n}\n", ["function f 'f()' 'Doc.' @4"]),
    "json": ('{"a": 1}\n', []),
    "markdown": ("# def f(): pass\n", []),
}


def described(text: str, language: str) -> list[str]:
    source = Source(text)
    return [
        f"{unit.kind} {unit.qualified} {unit.signature!r} {unit.doc!r} @{source.slice(unit.span).count(chr(10)) + 1}"
        for unit in units(source, language)
    ]


@pytest.mark.parametrize("language", SAMPLES)
def test_units(language: str) -> None:
    """Kind, qualified name, signature, documentation, and the number of lines of each, in the order of the text."""
    text, expected = SAMPLES[language]
    assert described(text, language) == expected


@pytest.mark.parametrize("language", SAMPLES)
def test_spans_are_whole_lines_in_order_and_bodies_lie_inside(language: str) -> None:
    source = Source(SAMPLES[language][0])
    found = units(source, language)
    assert [unit.span.start for unit in found] == sorted(unit.span.start for unit in found)
    for unit in found:
        assert unit.span.start in source.starts
        assert unit.span.end == source.line_span(source.line_of(unit.span.end)).end
        assert unit.body is None or unit.span.contains(unit.body)
        assert unit.qualified.endswith(unit.name)


@pytest.mark.parametrize("line_end", ["\r\n", "\r"])
@pytest.mark.parametrize("language", ["python", "typescript", "go", "rust", "java", "csharp", "ruby"])
def test_line_ends_make_no_difference(language: str, line_end: str) -> None:
    text, expected = SAMPLES[language]
    changed = described(text.replace("\n", line_end), language)
    assert [re.sub(r" @\d+$", "", line) for line in changed] == [re.sub(r" @\d+$", "", line) for line in expected]


def marked(text: str) -> tuple[Source, Span]:
    if "$0" in text:
        at = len(text[: text.index("$0")].encode())
        return Source(text.replace("$0", "")), Span(at, at)
    start = len(text[: text.index("⟦")].encode())
    end = len(text[: text.index("⟧")].replace("⟦", "").encode())
    return Source(text.replace("⟦", "").replace("⟧", "")), Span(start, end)


PARSER = """import re

@dataclass
class Parser:
    x: int = 1

    @cached
    def parse_date(self, text):
        for a in text:
            INSIDE
        return a

    def other(self):
        pass

TABLE = {
    'a': 1,
}
"""


@pytest.mark.parametrize(
    ("at", "mark", "name"),
    [
        ("INSIDE", "$0INSIDE", "Parser.parse_date"),
        ("INSIDE", "⟦INSIDE⟧", "Parser.parse_date"),
        ("    @cached", "$0    @cached", "Parser.parse_date"),
        ("    @cached", "    @ca$0ched", "Parser.parse_date"),
        ("return a\n", "return a$0\n", "Parser.parse_date"),
        ("x: int = 1", "x$0: int = 1", "Parser"),
        ("class Parser", "class $0Parser", "Parser"),
        ("@dataclass", "$0@dataclass", "Parser"),
        ("TABLE", "$0TABLE", None),
        ("import re", "import$0 re", None),
    ],
)
def test_the_smallest_unit_around_a_place(at: str, mark: str, name: str | None) -> None:
    source, span = marked(PARSER.replace(at, mark, 1))
    unit = unit_at(source, "python", span)
    assert (unit.qualified if unit else None) == name


def test_a_selection_of_whole_lines_ends_at_the_next_ones_start() -> None:
    source, span = marked("def f():\n⟦    return 1\n⟧\n\ndef g():\n    return 2\n")
    unit = unit_at(source, "python", span)
    assert unit is not None
    assert unit.name == "f"


def test_two_methods_are_held_by_their_class() -> None:
    source, span = marked(PARSER.replace("INSIDE", "⟦INSIDE").replace("        pass", "        pass⟧"))
    unit = unit_at(source, "python", span)
    assert unit is not None
    assert unit.qualified == "Parser"


def test_a_unit_in_the_middle_of_a_line_is_not_a_target() -> None:
    source, span = marked("class A { foo() { $0 } bar() {} }\n")
    unit = unit_at(source, "javascript", span)
    assert unit is not None
    assert unit.qualified == "A"


def test_a_nameless_callback_belongs_to_the_function_around_it() -> None:
    source, span = marked("function outer(items) {\n  return items.map((item) => {\n    $0return item;\n  });\n}\n")
    unit = unit_at(source, "javascript", span)
    assert unit is not None
    assert unit.qualified == "outer"


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("python", "a = 1\n\nTABLE = {\n    'a': $01,\n}\nb = 2\n", "TABLE = {\n    'a': 1,\n}"),
        ("python", "a = 1\n⟦b = (\n  2)\nc⟧ = 3\nd = 4\n", "b = (\n  2)\nc = 3"),
        ("python", "a = ⟦1\n\n\n@dec\ndef f():\n    pas⟧s\nb = 2\n", "a = 1\n\n\n@dec\ndef f():\n    pass"),
        ("python", "def f():\n    pass\n\n$0\n\ndef g():\n    pass\n", ""),
        ("python", "# what\n$0# where\nx = 1\n", "# where"),
        ("go", "package p\n\n// Doc.\nfunc f() {\n\t$0x()\n}\n", "// Doc.\nfunc f() {\n\tx()\n}"),
        ("markdown", "# one\n\ntext ⟦and\nmore⟧ text\nend\n", "text and\nmore text"),
        ("python", "$0", ""),
        ("python", "x$0", "x"),
        # Broken code: the block of lines that begins at column 0.
        ("python", "def f(a, b:\n    return $0a\n\n\ndef g():\n    pass\n", "def f(a, b:\n    return a"),
        ("javascript", "let a = 1;\nfunction f( {\n  return $01;\n}\nlet b = 2;\n", "function f( {\n  return 1;\n}"),
    ],
)
def test_widen(language: str, text: str, expected: str) -> None:
    source, span = marked(text)
    assert source.slice(widen(source, language, span)) == expected


@pytest.mark.parametrize("language", list(SAMPLES))
def test_a_widened_span_is_whole_and_contains_the_selection(language: str) -> None:
    source = Source(SAMPLES[language][0])
    for offset in range(0, len(source.data), 3):
        span = Span(offset, min(offset + 5, len(source.data)))
        wide = widen(source, language, span)
        assert source.slice(span).strip() in source.slice(wide)
        assert wide.start in source.starts
        assert wide.end in {source.line_span(line).end for line in range(source.line_count)}
        assert widen(source, language, wide) == wide


def test_an_instruction_above_a_function_is_not_its_documentation() -> None:
    source = Source("package p\n\n// stet: write a reader\nfunc f() {}\n")
    (unit,) = units(source, "go")
    assert unit.doc == ""
    assert source.slice(unit.span) == "func f() {}"


def test_a_comment_behind_code_belongs_to_that_code() -> None:
    source = Source("package p\n\nvar x = 1 // one\nfunc f() {}\n")
    (unit,) = units(source, "go")
    assert source.slice(unit.span) == "func f() {}"


def test_a_blank_line_parts_a_comment_from_what_follows() -> None:
    source = Source("package p\n\n// A licence.\n\n// Doc.\nfunc f() {}\n")
    (unit,) = units(source, "go")
    assert unit.doc == "Doc."


@pytest.mark.parametrize("text", ["", "\0\0", "\ud83d", "(" * 50_000, "x" * 1_000_000, "def " * 20_000])
def test_odd_texts_have_structure_or_none_but_no_error(text: str) -> None:
    source = Source(text)
    started = time.process_time()
    assert units(source, "python") == ()
    assert widen(source, "python", Span(0, 0)).start == 0
    assert time.process_time() - started < 10


def test_many_units_take_no_square_of_time() -> None:
    source = Source("class A:\n" + "    def f(self):\n        return 1\n\n" * 5000)
    started = time.process_time()
    assert len(units(source, "python")) == 5001
    assert time.process_time() - started < 10
