"""What grammars take and languages forbid: told by checks of our own, and never of what is right."""

from __future__ import annotations

import time

import pytest

from stet_ls.validators import syntax
from stet_ls.validators.findings import Severity, Status, SyntaxResult
from stet_ls.validators.source import Source
from stet_ls.validators.syntax import broken_by, check_fast

WRONG = [
    ("java", "class A { private private int a; }\n", 1, "'private' is repeated"),
    ("java", "class A { static final static int A = 1; }\n", 1, "'static' is repeated"),
    ("java", "class A {\n    go() { }\n}\n", 2, "expected a type before 'go': a constructor would be called 'A'"),
    ("java", "int a = 1;\nreturn a;\n", 2, "unexpected 'return': a statement outside of all functions"),
    ("csharp", "public public class A { }\n", 1, "'public' is repeated"),
    ("csharp", "using using System;\n", 1, "'using' is repeated"),
    ("csharp", "class A { void F(Repeat = 1) { } }\n", 1, "expected a type and a name, found only 'Repeat'"),
    ("csharp", "class A { static F() { } }\n", 1, "expected a type before 'F': a constructor would be called 'A'"),
    ("csharp", "class A { void F() { sum first[i]; } }\n", 1, "unexpected '[' behind the name of a variable"),
    ("csharp", "#region a\n", 1, "line 1: '#region' is never closed; expected '#endregion' before end of file"),
    ("csharp", "class A { }\n#endregion\n", 2, "unexpected '#endregion': nothing opened it"),
    ("csharp", "#if A\n#region b\n#endif\n#endregion\n", 3,
     "line 2: '#region' is not closed; expected '#endregion' before '#endif'"),
    ("go", "func f() {}\n", 1, "expected 'package' before 'func'"),
    ("go", "package p\n\nx := 1\n", 3, "unexpected 'x': a statement outside of all functions"),
    ("go", "package p\n\nfunc () {}\n", 3, "unexpected 'func': a statement outside of all functions"),
    ("rust", "fn f() { let mut mut a = 1; }\n", 1, "'mut' is repeated"),
    ("rust", "let a = 1;\nfn f() {}\n", 1, "unexpected 'let': a statement outside of all functions"),
    ("cpp", "struct struct A { int a; };\n", 1, "'struct' is repeated"),
]  # fmt: skip

RIGHT = [
    ("java", "class A { /* private private */ String s = \"static static\"; A() {} enum B { X; B() {} } }\n"),
    ("java", "record R(int a) { R {} R() { this(1); } }\n"),
    ("java", "class A { private static class B { private static int b; } }\n"),
    ("csharp", "class A { A() {} static A() {} ~A() {} void F() { G((a, b) => 1); H(delegate (int x) { }); } }\n"),
    ("csharp", "unsafe struct A { fixed int a[4]; public static readonly int B = 1; public static int C; }\n"),
    ("csharp", "class A { string s = \"#region\"; string t = @\"\n#endif\n\"; /*\n#if\n*/ }\n"),
    ("csharp", "#if A\n#elif B\n#else\n#endif\n#region a\n#region b\n#endregion\n#endregion\nclass A { }\n"),
    ("csharp", "\ufeff#region a\r\n#endregion\r\nclass A { }\r\n"),
    ("csharp", "var a = 1;\nSystem.Console.WriteLine(a);\n"),
    ("go", "// Package p.\n\n/* more */\npackage p\n\nimport \"a\"\n\nconst x = 1\n\nvar y = func() {}\ntype T int\n"),
    ("go", ""),
    ("rust", "#![allow(x)]\nthread_local! { static A: u8 = 1; }\n"),
    ("rust", "macro_rules! m { (mut mut) => { for for }; }\nm!(pub pub);\n"),
    ("cpp", "struct A { unsigned long long a; };\n#define B struct struct\nint c;\n"),
    ("c", "long long f(void) { return 1; }\n"),
]  # fmt: skip


def verdict(text: str, language: str) -> SyntaxResult:
    return check_fast(Source(text), language, deadline=20)


@pytest.mark.parametrize(("language", "text", "line", "message"), WRONG)
def test_code_that_only_the_grammar_accepts_is_an_error(language: str, text: str, line: int, message: str) -> None:
    seen = verdict(text, language)
    assert (line - 1, message) in [(one.line, one.message) for one in seen.findings]
    assert seen.status is Status.ERROR


@pytest.mark.parametrize(("language", "text"), RIGHT)
def test_similar_valid_code_has_no_findings(language: str, text: str) -> None:
    assert verdict(text, language).findings == ()


@pytest.mark.parametrize(("language", "text", "line", "message"), WRONG)
def test_such_findings_stay_the_same_when_the_text_moves(language: str, text: str, line: int, message: str) -> None:
    moved = verdict(f"\n// {line}\n" + text, language)
    assert [one.message.partition(" ")[0] for one in moved.findings]
    assert broken_by(verdict(text, language), moved) == ()


class TestCodeThatIsSwitchedOff:
    def test_an_error_in_it_is_a_warning(self) -> None:
        seen = verdict("class A {\n#if NEVER\n    int a = ;\n#else\n    int a = 1;\n#endif\n}\n", "csharp")
        assert seen.status is Status.OK
        assert [(one.line, one.severity) for one in seen.findings] == [(2, Severity.WARNING)]
        assert seen.findings[0].message.endswith("(in code that is switched off)")

    @pytest.mark.parametrize(
        "condition",
        ["true", "ON", "!OFF", "ON && true", "OFF || ON", "(ON)", "ON == true", "OFF != ON", "!(OFF && ON)"],
    )
    def test_a_true_condition_switches_nothing_off(self, condition: str) -> None:
        text = f"#define ON\nclass A {{\n#if {condition}\n    int a = ;\n#endif\n}}\n"
        assert verdict(text, "csharp").status is Status.ERROR

    @pytest.mark.parametrize("condition", ["false", "OFF", "!ON", "ON && OFF", "OFF || false", "", "((", "ON == OFF"])
    def test_a_false_condition_switches_code_off(self, condition: str) -> None:
        text = f"#define ON\nclass A {{\n#if {condition}\n    int a = ;\n#endif\n}}\n"
        assert verdict(text, "csharp").status is Status.OK

    def test_an_undefined_symbol_is_off(self) -> None:
        for head in ("#define A\n#undef A\n", "#if B\n#define A\n#endif\n"):
            assert verdict(head + "#if A\nint a = ;\n#endif\nclass A { }\n", "csharp").status is Status.OK

    @pytest.mark.parametrize("language", ["csharp", "cpp", "c"])
    def test_a_brace_that_both_branches_open_is_one(self, language: str) -> None:
        call = "void F()" if language == "csharp" else "int f()"
        text = f"#if A\n{call} {{\n#else\n{call} {{ ;\n#endif\n  ;\n}}\n"
        text = f"class A {{\n{text}}}\n" if language == "csharp" else text
        assert verdict(text, language).status is Status.OK

    def test_the_error_next_to_it_is_one(self) -> None:
        seen = verdict("#if 0\nfoo(\n#endif\nint f( { return 1; }\n", "cpp")
        assert [one.line for one in seen.findings if one.severity is Severity.ERROR] == [3]

    def test_conditions_without_an_end_are_read_in_time(self) -> None:
        started = time.process_time()
        check_fast(Source("#if " + "(" * 100_000 + "\nint a = ;\n" + "#if A\n" * 20_000), "csharp", deadline=1)
        assert time.process_time() - started < 10


class TestMacros:
    """C and C++: what only the preprocessor understands breaks trees, and blames no one."""

    BEFORE = "class EXPORT A : public B {\n  Q_OBJECT\n public:\n  int f();\n};\n\nint g() {\n  return 1;\n}\n"

    def test_an_edit_next_to_one_cannot_be_blocked(self) -> None:
        before, after = verdict(self.BEFORE, "cpp"), verdict(self.BEFORE.replace("int f();", "int f(int a);"), "cpp")
        assert before.status is Status.ERROR
        assert not after.may_block

    def test_an_edit_elsewhere_adds_nothing(self) -> None:
        before, after = verdict(self.BEFORE, "cpp"), verdict(self.BEFORE.replace("return 1", "return 2 + 3"), "cpp")
        assert broken_by(before, after) == ()


def test_kotlins_grammar_only_advises() -> None:
    """It rejects what Kotlin takes: an annotated constructor, among others."""
    seen = verdict("expect open class A\ninternal constructor(\n  b: Int,\n) {\n  fun f() {}\n", "kotlin")
    assert seen.status is Status.ERROR
    assert not seen.may_block


@pytest.mark.parametrize("language", ["python", "typescript", "java", "cpp", "csharp"])
@pytest.mark.parametrize(
    "text",
    ["(\n" * 15_000, "(" * 15_000 + "}" * 15_000, "{" + "(" * 15_000 + "\n}" * 15_000, "private " * 15_000,
     "#if A\n" * 15_000, "```\n" * 15_000, "Here is the code: " * 20_000, "\0" * 100_000, "x = [" + "1, " * 300_000],
    ids=["deep lines", "strays", "both", "words", "directives", "fences", "prose", "binary", "one line"],
)  # fmt: skip
def test_rubbish_is_judged_within_the_deadline(language: str, text: str) -> None:
    started = time.process_time()
    check_fast(Source(text), language, deadline=1)
    assert time.process_time() - started < 8


def test_while_one_types_a_large_text_is_not_read_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand lines of C# cost 0.1 s at each keystroke; the check that follows a rest tells the same in full."""
    methods = "".join(f"    public int F{n}() {{ return {n}; }}\n" for n in range(2_000))
    source = Source(f"class A\n{{\n{methods}    public public int x;\n}}\n")

    monkeypatch.setattr(syntax, "_ENOUGH_SECONDS", 60.0)  # what takes a twentieth of it takes a busy machine longer
    assert check_fast(source, "csharp", deadline=50).status is Status.OK
    assert [finding.message for finding in check_fast(source, "csharp", deadline=70).findings] == [
        "'public' is repeated"
    ]
