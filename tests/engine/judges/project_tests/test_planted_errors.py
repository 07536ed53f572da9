"""Errors at the start of changed functions, and what a run with them tells of the tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.processes.tools import needs

from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.project_tests.judge import judge
from stet_ls.engine.judges.project_tests.planted_errors import plant_errors, with_errors
from stet_ls.validators.source import Source

CASES = {
    "javascript": (
        "export const sum = (a) => a + 1;\nclass A { m() { return 1; } }\n",
        'export const sum = (a) => { throw new Error("w-0-"); };\n'
        'class A { m() { throw new Error("w-1-"); return 2; } }\n',
    ),
    "go": ("package a\n\nfunc F() int { return 1 }\n", 'package a\n\nfunc F() int { panic("w-0-"); return 2 }\n'),
    "rust": ("pub fn f() -> i32 { 1 }\n", 'pub fn f() -> i32 { panic!("w-0-"); 2 }\n'),
    "java": (
        "class A { A() { super(); } int m() { return 1; } }\n",
        'class A { A() { super(); } int m() { if (true) throw new RuntimeException("w-0-"); return 2; } }\n',
    ),
    "csharp": ("class A { int N() => 1; }\n", 'class A { int N() => throw new System.Exception("w-0-"); }\n'),
    "cpp": ("int f(int a) { return 1; }\n", "int f(int a) { __builtin_trap(); return 2; }\n"),
}


@pytest.mark.parametrize("language", CASES)
def test_each_changed_function_gets_a_planted_error(language: str) -> None:
    old, expected = CASES[language]
    before, after = Source(old), Source(old.replace("1;", "2;").replace("1 }", "2 }"))
    found = plant_errors(before, after, language)
    assert all(each.text for each in found)
    assert with_errors(after, found, "w").text == expected


@pytest.mark.parametrize(
    ("language", "text", "error"),
    [
        ("javascript", "function f(a) { if (a) { return 0; } return 1; }", 'throw new Error("w-0-");'),
        ("typescript", "const f = (a: number) => { g(() => { return 0; }); };", 'throw new Error("w-0-");'),
        ("go", "package a\n\nfunc F(a int) int { if a > 1 { return 0 }; return 1 }", 'panic("w-0-");'),
        ("rust", "fn f(a: i32) -> i32 { if a > 1 { return 0; } 1 }", 'panic!("w-0-");'),
        (
            "java",
            "class A { int m(int a) { for (;;) { return 0; } } }",
            'if (true) throw new RuntimeException("w-0-");',
        ),
        ("c", "int f(int a) { while (a) { return 0; } return 1; }", "__builtin_trap();"),
    ],
)
def test_the_planted_error_is_in_the_changed_block(language: str, text: str, error: str) -> None:
    after = Source(text.replace("return 0", "return 7"))
    found = plant_errors(Source(text), after, language)
    assert with_errors(after, found, "w").text == text.replace("{ return 0", f"{{ {error} return 7")


def test_changes_in_two_blocks_are_covered_by_running_the_function() -> None:
    text = "function f(a) { if (a) { return 0; } else { return 1; } }"
    after = Source(text.replace("0", "7").replace("1", "8"))
    planted = with_errors(after, plant_errors(Source(text), after, "javascript"), "w").text
    assert planted.startswith('function f(a) { throw new Error("w-0-"); if')


@pytest.mark.parametrize(
    ("language", "old", "new"),
    [
        ("java", "class A { A() { super(); } }\n", "class A { A() { super(); int b; } }\n"),
        ("csharp", "class A { int P { get => 1; } }\n", "class A { int P { get => 2; } }\n"),
        ("javascript", "const RATE = 1;\n", "const RATE = 2;\n"),
    ],
)
def test_no_error_is_planted_where_none_is_possible(language: str, old: str, new: str) -> None:
    (found,) = plant_errors(Source(old), Source(new), language)
    assert found.text == ""


@pytest.mark.parametrize("language", ["javascript", "go", "java", "rust", "cpp"])
def test_comments_and_layout_are_no_change(language: str) -> None:
    text = CASES[language][0]
    assert plant_errors(Source(text), Source(f"// one\n\n{text.replace(' {', '  { /* two */')}"), language) == ()


GO = "package shop\n\nfunc Sum(a, b int) int {\n\tif a > 9 {\n\t\treturn 9\n\t}\n\treturn a + b\n}\n"
GO_TEST = """\
package shop

import "testing"

// Lost is named here.
func TestSum(t *testing.T) {
	if Sum(1, 2) != 3 {
		t.Fatal("wrong")
	}
}
"""


@needs("go")
@pytest.mark.parametrize(
    ("after", "verdict", "detail"),
    [
        (GO.replace("a + b", "b + a"), Ruling.PASS, "1 test passes"),
        (
            f"{GO}\nfunc Lost() int {{\n\treturn 7\n}}\n",
            Ruling.UNKNOWN,
            "1 test passes, but it does not execute `Lost`",
        ),
        (GO.replace("return 9", "return 8"), Ruling.UNKNOWN, "1 test passes, but it does not execute `Sum`"),
    ],
    ids=["run", "not run", "a branch that is not run"],
)
async def test_the_units_that_a_go_test_runs_are_found(
    runtime: Runtime, tmp_path: Path, after: str, verdict: Ruling, detail: str
) -> None:  # fmt: skip
    for name, text in {"go.mod": "module shop\n", "sum.go": GO, "sum_test.go": GO_TEST}.items():
        (tmp_path / name).write_text(text)
    here = replace(runtime, workspace=Workspace((tmp_path,)))
    evidence = await judge(Case("generate", "go", tmp_path / "sum.go", Source(GO), Source(after), "Sum", runtime=here))
    assert (evidence.verdict, evidence.detail) == (verdict, detail)
