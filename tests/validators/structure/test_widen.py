"""The smallest whole thing around a place. `⟦…⟧` marks a selection, `$0` a cursor."""

from __future__ import annotations

import pytest
from support.corpora.unit_samples import SAMPLES

from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure import unit_at, units, widen


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
