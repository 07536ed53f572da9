"""What is reported about a broken text: what was expected, and where, the most helpful first."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from stet_ls.validators.findings import Finding
from stet_ls.validators.parsing.parse import parse
from stet_ls.validators.source import Source
from stet_ls.validators.syntax import brackets, messages
from stet_ls.validators.syntax.parse_failure import END_OF_FILE, END_OF_LINE, first_failure


def explain(text: str, language: str, seconds: float = 10) -> tuple[Finding, ...]:
    return messages.explain(parse(Source(text), language), end=time.monotonic() + seconds)


@pytest.mark.parametrize(
    ("language", "text", "message"),
    [
        ("python", "def f(a, b:\n    return a\n", "line 1: '(' is never closed; expected ')' before 'return' (line 2)"),
        ("python", "x = [1, 2\ny = 3\n", "line 1: '[' is never closed; expected ']' before 'y' (line 2)"),
        ("python", "def f(a, b)\n    return a\n", "expected ':' before end of line"),
        ("python", "if x = 3:\n    pass\n", "unexpected '='"),
        ("python", "d = {'a': 1 'b': 2}\n", "expected ',' or '}' before a string"),
        ("python", "x = 'abc\ny = 2\n", "line 1: unterminated string"),
        ("python", 'def f():\n    """abc\n', "line 2: unterminated string"),
        ("python", "a)\n", "unexpected ')': nothing opened it"),
        ("javascript", "if (x { y() }\n", "line 1: '(' is never closed; expected ')' before '{'"),
        ("javascript", "function f() {\n  return 1;\n", "line 1: '{' is never closed; expected '}' before end of file"),
        ("javascript", "const s = 'abc;\nfoo();\n", "line 1: unterminated string"),
        ("javascript", "const o = {a: 1 b: 2}\n", "expected ',' or '}' before 'b'"),
        ("javascript", "`abc\n", "line 1: unterminated string"),
        ("typescript", "Here is the function:\nfunction f() {}\n", "unexpected 'is': this line is prose and no code"),
        ("java", "class A { int f() { return 1 } }\n", "expected ';' before '}'"),
        ("java", 'class A { String s = "abc; }\n', "line 1: unterminated string"),
        (
            "go",
            "package p\nfunc f() {\n x := g(1\n}\n",
            "line 3: '(' is never closed; expected ')' before '}' (line 4)",
        ),
        ("go", "package p\nfunc f() {\n x := \n}\n", "expected a name before end of line"),
        ("rust", "fn f() { let x = ; }\n", "expected an expression before ';'"),
        ("rust", "fn f() {\n let x = 1\n let y = 2;\n}\n", "expected ';' before end of line"),
        ("cpp", "int f() {\n g(1;\n}\n", "line 2: '(' is never closed; expected ')' before ';'"),
        ("csharp", "class A { int F() { return 1 } }\n", "expected ';' before '}'"),
        ("ruby", "def f\n  g(1\nend\n", "line 2: '(' is never closed; expected ')' before 'end' (line 3)"),
        ("json", '{"a": [1, 2}', "line 1: '[' is never closed; expected ']' before '}'"),
        ("shellscript", "if true; then\n echo\n", "expected 'fi' before end of file"),
    ],
)
def test_the_first_message(language: str, text: str, message: str) -> None:
    assert explain(text, language)[0].message == message


def test_a_bracket_is_reported_once() -> None:
    assert len(explain("if (x { y() }\n", "javascript")) == 1
    assert len(explain('{"a": [1, 2}', "json")) == 1


def test_the_place_of_a_bracket_is_the_opener_and_of_a_failure_the_token() -> None:
    (finding,) = explain("x = 1\nd = {'a': 1 'b': 2}\n", "python")
    assert finding.line == 1
    assert finding.span.start == len("x = 1\nd = {'a': 1 ")
    (finding,) = explain("é = [1, 2\ny = 3\n", "python")
    assert finding.span.start == len("é = ".encode())


def test_brackets_in_strings_and_comments_do_not_count() -> None:
    text = "a = ')(' # ]\nb = f'{a[0]}('\nc = (1\n"
    (finding,) = (one for one in explain(text, "python") if one.code == messages.UNCLOSED)
    assert finding.line == 2


def test_each_error_of_a_text_is_found() -> None:
    text = "def f(:\n    pass\n\n\nx = 1\n\n\ndef g():\n    return 1 +\n\n\ny = * 2\n"
    assert {0, 8} <= {finding.line for finding in explain(text, "python")}


def test_something_hidden_that_is_missing_is_an_error_too() -> None:
    """The grammar has no node for it: only the root says that there is an error."""
    text = "class A:\n    x: Optional[int]  None\n"
    parsed = parse(Source(text), "python")
    assert parsed.root.has_error
    assert not [node for node in messages.errors(parsed.root) if node.is_error or node.is_missing]
    (finding,) = explain(text, "python")
    assert finding.message == "unexpected 'None'"
    assert finding.line == 1


def test_signatures_stay_when_another_error_appears_or_disappears() -> None:
    """A fix of the first of two errors must not look like a new error, however the other's message changes."""
    second = "\n\nd = {'a': 1 'b': 2}\n"
    both, one = explain("x = = 1\n" + second, "python"), explain("x = 1\n" + second, "python")
    assert len(both) == 2
    assert [finding.signature for finding in one] == [both[1].signature]


def test_so_do_they_when_the_other_error_hid_an_open_quote() -> None:
    second = "\n\nconst s = 'abc;\nfoo();\n"
    both = explain("const x = = 1;\n" + second, "javascript")
    (one,) = explain("const x = 1;\n" + second, "javascript")
    assert one.code == messages.UNTERMINATED
    assert one.signature in {finding.signature for finding in both}


def test_an_error_behind_much_intact_code_is_reported_too() -> None:
    """The parser's log is read only from shortly before it."""
    whole = "def f(a):\n    return [a, {'b': (1, 2)}]\n\n\n" * 500
    (finding,) = explain(whole + "d = {'a': 1 'b': 2}\n", "python")
    assert finding.message == "expected ',' or '}' before a string"
    assert finding.line == 2000


def test_without_time_there_is_still_a_finding() -> None:
    for text in ("def f(a, b:\n    return a\n", "x = = 2\n"):
        assert explain(text, "python", seconds=-1)


def test_many_errors_are_cut() -> None:
    assert 50 < len(explain("x = = 1\n\n" * 200, "python")) <= 100


@pytest.mark.parametrize("language", ["python", "typescript", "go", "cpp"])
def test_deep_nesting_is_explained_in_time(language: str) -> None:
    started = time.process_time()
    assert explain("(" * 50_000, language, seconds=1)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("java", "class A { int x = " + "<a>" * 20_000),
        ("csharp", "class A { int x = " + "<a>" * 20_000),
        ("cpp", "int x = " + "<a>" * 20_000),
        ("kotlin", "[" * 50_000 + "]" * 50_000),
    ],
)
def test_a_deeply_nested_error_is_explained_without_a_crash(language: str, text: str) -> None:
    """In a process of its own: the recursion that this is about ends the process that does it."""
    code = (
        "import sys; from stet_ls.validators import syntax; from stet_ls.validators.source import Source\n"
        "verdict = syntax.check_fast(Source(sys.stdin.read()), sys.argv[1], deadline=20)\n"
        "print(verdict.status.value, len(verdict.findings) > 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, language], input=text, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout.strip()) == (0, "error True"), done.stderr


def test_blank_characters_of_all_kinds_are_not_words() -> None:
    """For Python U+2028 and U+0085 are blank, for a grammar they are characters."""
    assert explain("\u2028\u2029\x85\f\v" * 2000 + "\n", "kotlin")


def test_closers_are_looked_for_nearby_only() -> None:
    started = time.process_time()
    assert explain("<?php " + "<a>" * 20_000, "php", seconds=2)
    assert time.process_time() - started < 15


class TestFailure:
    def fail(self, text: str, language: str = "python") -> tuple[str, int]:
        failure = first_failure(parse(Source(text), language), end=time.monotonic() + 10)
        assert failure is not None
        return failure.token, failure.span.start

    def test_is_the_first_token_that_fits_nothing(self) -> None:
        assert self.fail("if x = 3:\n    pass\n") == ("=", 5)
        assert self.fail("def f(a)\n    pass\n") == (END_OF_LINE, 8)
        assert self.fail("function f() {\n", "javascript") == (END_OF_FILE, 15)

    def test_a_dead_end_that_another_reading_survives_is_none(self) -> None:
        """`(a, b)` may begin a tuple or an arrow function's parameters; one reading dies at `=>`."""
        assert self.fail("f((a, b) => a);\nlet x = ;\n", "javascript") == (";", 24)

    def test_is_not_sought_in_big_texts(self) -> None:
        parsed = parse(Source("x = 1\n" * 50_000 + "x = = 1\n"), "python", deadline=20)
        assert first_failure(parsed, end=time.monotonic() + 10) is None

    def test_leaves_the_parser_clean(self) -> None:
        self.fail("if x = 3:\n    pass\n")
        parsed = parse(Source("y = 1 # after a failure\n"), "python")
        assert not parsed.root.has_error


class TestBrackets:
    def unmatched(self, text: str) -> list[tuple[str, int]]:
        found = brackets.unmatched(parse(Source(text), "javascript").root, end=time.monotonic() + 10)
        return [
            ("stray", each.node.start_byte) if isinstance(each, brackets.Stray) else ("open", each.opener.start_byte)
            for each in found
        ]

    def test_none_in_whole_texts(self) -> None:
        assert self.unmatched("f({a: [1, `${b}`]});") == []

    def test_a_closer_of_an_outer_bracket_tells_that_the_inner_is_open(self) -> None:
        assert self.unmatched("f([1, (2]);") == [("open", 6)]

    def test_strays_and_opens(self) -> None:
        assert self.unmatched("f(1));\ng([\n") == [("stray", 4), ("open", 9), ("open", 8)]
