"""What is inside of units and above them: stubs, calls, imports."""

from __future__ import annotations

import pytest

from stet_ls.validators.source import Source
from stet_ls.validators.structure import calls, imports, is_stub, units


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "def f(a):\n    pass\n"),
        ("python", "def f(a): ...\n"),
        ("python", "def f(a):\n    '''Adds one.'''\n"),
        ("python", "def f(a):\n    '''Adds one.'''\n    # to be written\n    raise NotImplementedError('later')\n"),
        ("python", "def f(a):\n\n\ndef g(): return 1\n"),
        ("javascript", "function f() {}\n"),
        ("javascript", "function f() { throw new Error('Not implemented'); }\n"),
        ("javascript", "const f = () => { /* soon */ };\n"),
        ("typescript", "class A {\n  f(): void {}\n}\n"),
        ("go", 'package p\nfunc f() int { panic("not implemented") }\n'),
        ("go", "package p\nfunc f() {\n}\n"),
        ("rust", "fn f() -> i32 { todo!() }\n"),
        ("rust", 'fn f() -> i32 {\n    unimplemented!("later");\n}\n'),
        ("java", "class A { void f() { throw new UnsupportedOperationException(\"x\"); } }\n"),
        ("csharp", "class A { void F() { throw new NotImplementedException(); } }\n"),
        ("csharp", "class A { int F() => throw new NotImplementedException(); }\n"),
        ("cpp", "int f() {}\n"),
        ("ruby", "def f\nend\n"),
        ("lua", "function f() end\n"),
        ("kotlin", "fun f() { TODO() }\n"),
        ("swift", "func f() { fatalError(\"later\") }\n"),
    ],
)  # fmt: skip
def test_a_stub_is_recognized_by_its_missing_effects(language: str, text: str) -> None:
    source = Source(text)
    function = next(unit for unit in units(source, language) if unit.kind != "class")
    assert is_stub(source, language, function)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "def f(a):\n    return a\n"),
        ("python", "def f(a):\n    'doc'\n    'not a doc'\n    g()\n"),
        ("python", "def f(a):\n    raise ValueError(a)\n"),
        ("python", "def f(a):\n    pass\n    return g(a)\n"),
        ("python", "class EmptyError(Exception):\n    pass\n"),
        ("javascript", "const f = (x) => x;\n"),
        ("rust", "fn f() -> i32 { 1 }\n"),
        ("java", "interface I { void f(); }\n"),
        ("go", 'package p\nfunc f() { panic("out of range") }\n'),
    ],
)
def test_complete_code_is_not_a_stub(language: str, text: str) -> None:
    source = Source(text)
    assert not any(is_stub(source, language, unit) for unit in units(source, language))


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("python", "def f(a):\n    self.cache.get(g(a))\n    return g(h)(1)\n", ("get", "g")),
        ("javascript", "function f() { a.b(c()); new Thing(); a?.d(); }\n", ("b", "c", "Thing", "d")),
        ("typescript", "function f() { g<number>(1); }\n", ("g",)),
        ("go", "package p\nfunc f() { fmt.Println(g(1)); h(2) }\n", ("Println", "g", "h")),
        ("rust", "fn f() { a.b(); C::d(); e::<i32>(); println!(\"x\") }\n", ("b", "d", "e", "println")),
        ("java", "class A { void f() { this.g(h()); new B<C>(); } }\n", ("g", "h", "B")),
        ("cpp", "void f() { a.b(); c->d(); n::e<int>(1); }\n", ("b", "d", "e")),
        ("csharp", "class A { void F() { this.G(H()); new X(); } }\n", ("G", "H", "X")),
        ("ruby", "def f\n  g(1)\n  x.h\nend\n", ("g", "h")),
        ("php", "<?php function f() { g(); $a->h(); B::s(); new Z(); }\n", ("g", "h", "s", "Z")),
        ("kotlin", "fun f() { g(1); x.h() }\n", ("g", "h")),
        ("swift", "func f() { g(1); x.h() }\n", ("g", "h")),
        ("lua", "function f() g(1) x:h() end\n", ("g", "h")),
        ("shellscript", "f() {\n  g a\n}\n", ("g",)),
    ],
)  # fmt: skip
def test_calls_are_listed_by_their_last_name_once_each(language: str, text: str, expected: tuple[str, ...]) -> None:
    source = Source(text)
    unit = next(unit for unit in units(source, language) if unit.name.lower() == "f")
    assert calls(source, language, unit) == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "python",
            "'doc'\nfrom __future__ import annotations\nimport a\nfrom b import (\n    c,\n)\ndef f():\n    import d\n",
            ["from __future__ import annotations", "import a", "from b import (\n    c,\n)"],
        ),
        (
            "javascript",
            "import a from 'b';\nconst c = require('d');\nconst e = f();\n",
            ["import a from 'b';", "const c = require('d');"],
        ),
        ("typescript", "import type { A } from './a';\r\nlet x = 1;\r\n", ["import type { A } from './a';"]),
        ("go", 'package p\n\nimport (\n\t"a"\n)\n', ['import (\n\t"a"\n)']),
        ("rust", "use a::b;\nextern crate c;\nfn f() {}\n", ["use a::b;", "extern crate c;"]),
        ("java", "package p;\nimport a.B;\nclass C {}\n", ["import a.B;"]),
        ("c", '#ifndef A\n#define A\n#include "x.h"\n#include <y.h>\n#endif\n', ['#include "x.h"', "#include <y.h>"]),
        ("csharp", "using System;\nnamespace N {\n  using X;\n}\n", ["using System;", "using X;"]),
        ("ruby", "require 'a'\nrequire_relative 'b'\nputs 1\n", ["require 'a'", "require_relative 'b'"]),
        ("php", "<?php\nuse A\\B;\n", ["use A\\B;"]),
        ("kotlin", "package p\nimport a.b\n", ["import a.b"]),
        ("swift", "import Foundation\n", ["import Foundation"]),
        ("lua", 'local x = require("a")\nlocal y = 1\n', ['local x = require("a")']),
        ("shellscript", "source ./a.sh\n. b.sh\necho\n", ["source ./a.sh", ". b.sh"]),
        ("markdown", "import a\n", []),
        ("python", "", []),
    ],
)  # fmt: skip
def test_imports(language: str, text: str, expected: list[str]) -> None:
    source = Source(text)
    assert [source.slice(span) for span in imports(source, language)] == expected
