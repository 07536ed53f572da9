"""Texts of all languages with units, and the units in them."""

from __future__ import annotations

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
