"""How code from a reply lands in a document. `«` and `»` mark the target, `¦` a position, `⟦⟧` a `stet:` comment."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.corpora.sections import read

from stet_ls.engine.api.request import Target, TargetKind
from stet_ls.engine.reply.fitting.fit import Fitted, fit_code
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure import units

FITS = sorted((Path(__file__).parent / "fits").glob("*.txt"))
MARKS = re.compile("[«»¦⟦⟧]")


def place(marked: str, language: str, name: str, kind: TargetKind | None) -> tuple[Source, Target, Span | None]:
    """The document without its marks, the target and the comment."""
    at: dict[str, int] = {}
    plain = ""
    for piece in re.split(f"({MARKS.pattern})", marked):
        if MARKS.fullmatch(piece):
            at[piece] = len(plain.encode())
        else:
            plain += piece
    source = Source(plain)
    replaces = Span(at["⟦"], at["⟧"]) if "⟦" in at else None
    if "¦" in at:
        line = source.line_text(source.line_of(at["¦"]))
        target = Target(TargetKind.INSERTION, Span(at["¦"], at["¦"]), indent=re.match(r"[ \t]*", line)[0])  # type: ignore[index]
    elif "«" in at:
        span = Span(at["«"], at["»"])
        indent = re.match(r"[ \t]*", source.slice(span))[0]  # type: ignore[index]
        target = Target(kind or TargetKind.UNIT, span, name, indent)
    elif name:
        unit = next(unit for unit in units(source, language) if unit.qualified == name)
        indent = re.match(r"[ \t]*", source.slice(unit.span))[0]  # type: ignore[index]
        target = Target(TargetKind.UNIT, unit.span, name, indent)
    else:
        target = Target(TargetKind.DOCUMENT, source.whole)
    return source, target, replaces


def fitted(
    marked: str, code: str, language: str = "python", name: str = "", kind: TargetKind | None = None
) -> tuple[str, Fitted]:
    source, target, replaces = place(marked, language, name, kind)
    result = fit_code(code, source=source, target=target, language=language, replaces=replaces)
    return source.splice(result.splices).text, result


def check(before: str, code: str, after: str, language: str = "python", name: str = "", **more: TargetKind) -> None:
    text, result = fitted(dedent(before), dedent(code), language, name, **more)
    assert result.problem is None
    assert text == dedent(after)


BASKET = """\
    import os


    class Basket:
        def add(self, price):
            self.prices.append(price)

        def total(self):
            return 0


    def main():
        pass
    """


def test_a_method_gets_the_indentation_of_its_class() -> None:
    check(
        BASKET,
        """\
        def total(self):
            if not self.prices:
                return 0
            return sum(self.prices)
        """,
        BASKET.replace(
            "            return 0\n",
            "            if not self.prices:\n                return 0\n            return sum(self.prices)\n",
        ),
        name="Basket.total",
    )


def test_a_whole_file_is_reduced_to_the_unit() -> None:
    reply = BASKET.replace("return 0", "return sum(self.prices)").replace("pass", "print('other change')")
    check(BASKET, reply, BASKET.replace("return 0", "return sum(self.prices)"), name="Basket.total")


def test_a_whole_class_is_reduced_to_the_method_and_the_new_one_it_calls() -> None:
    check(
        BASKET,
        """\
        class Basket:
            def add(self, price):
                raise ValueError

            def _whole(self):
                return [p for p in self.prices if p]

            def _unused(self):
                return 1

            def total(self):
                return sum(self._whole())
        """,
        BASKET.replace(
            "        def total(self):\n            return 0\n",
            "        def _whole(self):\n            return [p for p in self.prices if p]\n\n"
            "        def total(self):\n            return sum(self._whole())\n",
        ),
        name="Basket.total",
    )


def test_new_helpers_are_placed_above_the_unit_and_usage_is_dropped() -> None:
    check(
        """\
        x = 1


        def total(prices):
            return 0
        """,
        """\
        RATE = 2


        def _clean(prices):
            return [p * RATE for p in prices]


        def _unused():
            return 1


        def total(prices):
            return sum(_clean(prices))


        print(total([1]))
        """,
        """\
        x = 1


        RATE = 2


        def _clean(prices):
            return [p * RATE for p in prices]


        def total(prices):
            return sum(_clean(prices))
        """,
        name="total",
    )


def test_a_helper_of_a_method_is_placed_above_its_class() -> None:
    check(
        BASKET,
        """\
        def clean(prices):
            return [p for p in prices if p]

        def total(self):
            return sum(clean(self.prices))
        """,
        BASKET.replace("return 0", "return sum(clean(self.prices))").replace(
            "    class Basket", "    def clean(prices):\n        return [p for p in prices if p]\n\n\n    class Basket"
        ),
        name="Basket.total",
    )


def test_one_differently_named_unit_is_accepted_and_several_are_refused() -> None:
    assert fitted("def total():\n    return 0\n", "def add():\n    return 1", name="total")[0].startswith("def add()")
    text, result = fitted("def total():\n    return 0\n", "def a():\n    pass\n\ndef b():\n    pass", name="total")
    assert result == Fitted(problem='The reply does not define "total".')
    assert text == "def total():\n    return 0\n"


PROPERTY = """\
    class A:
        @property
        def x(self):
            return 1

    «    @x.setter
        def x(self, value):
            pass»
    """


def test_a_setter_is_not_replaced_by_the_getter_of_the_same_name() -> None:
    document = dedent(PROPERTY)
    reply = re.sub(MARKS, "", document).replace("return 1", "return 2").replace("pass", "self.y = value")
    assert fitted(document, reply, name="A.x")[0] == re.sub(MARKS, "", document).replace("pass", "self.y = value")


# -- indentation


def steps(*margins: str) -> str:
    """A method whose lines have these margins."""
    return "\n".join(
        margin + line for margin, line in zip(margins, ("def f(self):", "if 1:", "return 1"), strict=False)
    )


TABS = "class A:\n\tdef f(self):\n\t\treturn 0\n"
TWO = "class A:\n  def f(self):\n    return 0\n"
FOUR = "class A:\n    def f(self):\n        return 0\n"
INDENTED = {
    "to tabs": (TABS, steps("", " " * 4, " " * 8), steps("\t", "\t\t", "\t\t\t")),
    "to two": (TWO, steps("", " " * 4, " " * 8), steps("  ", " " * 4, " " * 6)),
    "to four": (FOUR, steps("", " " * 2, " " * 4), steps(" " * 4, " " * 8, " " * 12)),
    "from tabs": (FOUR, steps("", "\t", "\t\t"), steps(" " * 4, " " * 8, " " * 12)),
    "kept": (FOUR, steps(" " * 4, " " * 8, " " * 12), steps(" " * 4, " " * 8, " " * 12)),
    "doubled": (FOUR, steps(" " * 8, " " * 12, " " * 16), steps(" " * 4, " " * 8, " " * 12)),
    "first line lost": (FOUR, steps("", " " * 8, " " * 12), steps(" " * 4, " " * 8, " " * 12)),
    "first line lost, flat": (FOUR, "def f(self):\n        return 1", "    def f(self):\n        return 1"),
}


@pytest.mark.parametrize(("document", "code", "expected"), INDENTED.values(), ids=INDENTED)
def test_a_reply_is_indented_like_its_target(document: str, code: str, expected: str) -> None:
    _, result = fitted(document, code, name="A.f")
    assert result.code == expected


def test_docstrings_are_reindented_and_other_strings_are_not() -> None:
    code = 'def f(self):\n    """Says.\n\n    More.\n    """\n    return """\n  a\n      b\n"""'
    _, result = fitted("class A:\n    def f(self):\n        return 0\n", code, name="A.f")
    assert result.code == (
        '    def f(self):\n        """Says.\n\n        More.\n        """\n        return """\n  a\n      b\n"""'
    )


def test_template_strings_and_heredocs_are_not_reindented() -> None:
    _, script = fitted(
        "class A {\n\tf() {\n\t\treturn 1;\n\t}\n}\n", "f() {\n  return `\n  a\n    b`;\n}", "javascript", "A.f"
    )
    assert script.code == "\tf() {\n\t\treturn `\n  a\n    b`;\n\t}"
    _, shell = fitted(
        "if true; then\n  «  f() {\n    :\n  }»\nfi\n", "f() {\n  cat <<END\nx\n  y\nEND\n}", "shellscript"
    )
    assert "\nx\n  y\nEND\n" in shell.code


def test_a_method_without_its_class_is_fitted() -> None:
    check(
        """\
        public class Shop {
            public int total() {
                return 0;
            }
        }
        """,
        """\
        import java.util.List;

        public class Shop {
          private int rate() {
            return 2;
          }

          public int total() {
            List<Integer> all = prices();
            return rate() * all.size();
          }
        }
        """,
        """\
        import java.util.List;

        public class Shop {
            private int rate() {
                return 2;
            }

            public int total() {
                List<Integer> all = prices();
                return rate() * all.size();
            }
        }
        """,
        "java",
        "Shop.total",
    )


# -- line ends, edges


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_are_those_of_the_document(end: str) -> None:
    before = "import os\n\n\ndef f():\n    return 0\n\n\nx = 1\n".replace("\n", end)
    text, _ = fitted(before, "import re\ndef f():\n    a = re\n    return a", name="f")
    assert text == "import os\nimport re\n\n\ndef f():\n    a = re\n    return a\n\n\nx = 1\n".replace("\n", end)


def test_mixed_line_ends_become_those_of_the_target() -> None:
    before = "a = 1\nb = 2\nc = 3\nd = 4\ndef f():\r\n    return 0\r\n"
    text, _ = fitted(before, "def f():\n    x = 1\n    return x", name="f")
    assert text == "a = 1\nb = 2\nc = 3\nd = 4\ndef f():\r\n    x = 1\r\n    return x\r\n"


@pytest.mark.parametrize("tail", ["", "\n", "\n\n", "\r\n"])
def test_the_last_line_end_is_kept(tail: str) -> None:
    assert fitted(f"x = 1{tail}", "x = 2\n\n\n")[0] == f"x = 2{tail}"


def test_an_empty_document_gets_a_last_line_end_and_keeps_its_bom() -> None:
    assert fitted("", "import os\nx = os")[0] == "import os\nx = os\n"
    assert fitted("\ufeffx = 1\n", "x = 2")[0] == "\ufeffx = 2\n"
    assert (
        fitted("\ufeffdef f():\n    return 0\n", "import re\ndef f():\n    return re", name="f")[0].count("\ufeff") == 1
    )


def test_form_feeds_and_unicode_separators_are_not_line_ends() -> None:
    before = "a = '\u2028'\n\x0c\ndef f():\n    return 0\n"
    assert fitted(before, "def f():\n    return '\u2028\x0c'", name="f")[0] == before.replace("0", "'\u2028\x0c'")


# -- imports


@pytest.mark.parametrize(
    ("before", "code", "after"),
    [
        ("import os\nimport sys\n\nimport rich\n", "import re", "import os\nimport re\nimport sys\n\nimport rich\n"),
        ("import rich\n", "import re", "import re\n\nimport rich\n"),
        ("import os\n", "import rich as re", "import os\n\nimport rich as re\n"),
        ("from os import path\n", "from os import path, sep as re", "from os import path\nfrom os import sep as re\n"),
        ("import re\n", "import re", "import re\n"),
        ("import os\n", "import json", "import os\n"),
        ('"""Doc."""\n', "import re", '"""Doc."""\n\nimport re\n'),
        ("# Licence\n# of many lines\n", "import re", "# Licence\n# of many lines\n\nimport re\n"),
        ("#!/usr/bin/env python\n", "import re", "#!/usr/bin/env python\n\nimport re\n"),
        ("from __future__ import annotations\n", "import re", "from __future__ import annotations\n\nimport re\n"),
        ("import os\n", "from __future__ import annotations", "from __future__ import annotations\n\nimport os\n"),
        ("", "import re", "import re\n"),
    ],
    ids=[
        "sorted in", "new section above", "new section below", "only what is missing", "known", "unused", "docstring",
        "licence", "shebang", "after future", "future first", "no imports",
    ],
)  # fmt: skip
def test_new_python_imports_are_placed_at_the_top(before: str, code: str, after: str) -> None:
    gap = "\n\n" if before else ""
    document = f"{before}{gap}def f():\n    return 0\n"
    text, _ = fitted(document, f"{code}\n\ndef f():\n    return re\n", name="f")
    assert text == f"{after}\n{'' if not before else chr(10)}def f():\n    return re\n"


@pytest.mark.parametrize("path", FITS, ids=lambda path: path.stem)
def test_each_shape_of_reply_is_fitted(path: Path) -> None:
    case = read(path)
    text, result = fitted(case.sections["document"], case.sections["reply"], case.keys["language"], case.keys["unit"])
    assert result.problem is None
    assert text == case.sections["becomes"]


def test_imports_inside_the_target_are_not_moved() -> None:
    text, _ = fitted("«import os\nx = 1»\ny = 2\n", "import re\nx = re", kind=TargetKind.STATEMENTS)
    assert text == "import re\nx = re\ny = 2\n"


# -- insertions and comments


def test_an_insertion_at_top_level_has_two_blank_lines() -> None:
    check(
        "import os\n\nx = 1\n¦\ndef g():\n    pass\n",
        "import re\ndef f():\n    return re\n",
        "import os\nimport re\n\nx = 1\n\n\ndef f():\n    return re\n\n\ndef g():\n    pass\n",
    )


def test_an_insertion_at_the_end_without_a_line_end() -> None:
    assert fitted("x = 1¦", "def f():\n    pass")[0] == "x = 1\n\n\ndef f():\n    pass"
    assert fitted("x = 1\n¦", "def f():\n    pass")[0] == "x = 1\n\n\ndef f():\n    pass\n"
    assert fitted("¦", "def f():\n    pass")[0] == "def f():\n    pass\n"


def test_an_insertion_in_a_block_has_one_blank_line_and_none_at_its_edges() -> None:
    assert fitted("class A {\n¦  a() {}\n}\n", "b() {}", "javascript")[0] == "class A {\n  b() {}\n\n  a() {}\n}\n"
    assert (
        fitted("class A {\n  a() {}\n¦  \n}\n", "b() {}", "javascript")[0] == "class A {\n  a() {}\n\n  b() {}\n  \n}\n"
    )


def test_a_comment_is_replaced_by_what_it_asked_for() -> None:
    check(
        "x = 1\n\n\n¦⟦# stet: a function f⟧\n\n\ny = 2\n",
        "# stet: a function f\ndef f():\n    pass\n",
        "x = 1\n\n\ndef f():\n    pass\n\n\ny = 2\n",
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("⟦# stet: faster⟧\n«def f():\n    return 0»\n", "def f():\n    return 1\n"),
        ("«⟦# stet: faster⟧\ndef f():\n    return 0»\n", "def f():\n    return 1\n"),
        ("«def f():\n    ⟦# stet: faster⟧\n    return 0»\n", "def f():\n    return 1\n"),
        ("a = 1\n\n⟦# stet: faster⟧\n\n«def f():\n    return 0»\n", "a = 1\n\ndef f():\n    return 1\n"),
        ("«def f():\n    return 0»\na = 1  ⟦# stet: faster⟧\n", "def f():\n    return 1\na = 1\n"),
        ("«def f():\n    return 0»\n⟦# stet: faster⟧", "def f():\n    return 1\n"),
    ],
    ids=["above", "in front of the unit", "inside", "between blank lines", "behind a statement", "last line"],
)
def test_the_comment_goes_with_its_line(before: str, after: str) -> None:
    assert fitted(before, "def f():\n    # stet: faster\n    return 1", name="f")[0] == after


def test_a_reply_without_code_is_a_problem_without_an_edit() -> None:
    assert fitted("def f():\n    return 0\n", " \n\u200b\n", name="f")[1] == Fitted(
        problem="The reply contains no code."
    )


@settings(max_examples=200, deadline=None)
@given(
    st.text(alphabet="ab=(){}\"'#:\n\r\t .é\u2028\x0c", max_size=60),
    st.text(alphabet="ab=(){}\"'#:\n\r\t .é\u2028\u201c", max_size=60),
    st.sampled_from(["python", "javascript", "go", "rust", "java", "cpp", "csharp", "yaml", "cobol", "php"]),
    st.sampled_from(list(TargetKind)),
    st.data(),
)
def test_fitting_never_raises_and_changes_only_the_target(
    before: str, code: str, language: str, kind: TargetKind, data: st.DataObject
) -> None:
    source = Source(before)
    first = data.draw(st.integers(0, source.line_count - 1))
    last = data.draw(st.integers(first, source.line_count - 1))
    start, end = source.line_span(first).start, source.line_span(last).end
    span = Span(start, start) if kind is TargetKind.INSERTION else Span(start, end)
    target = Target(kind, source.whole if kind is TargetKind.DOCUMENT else span, "a")
    result = fit_code(code, source=source, target=target, language=language)
    after = source.splice(result.splices).data
    assert after.startswith(source.data[: target.span.start].rstrip(b"\r\n"))
    assert after.rstrip(b"\r\n").endswith(source.data[target.span.end :].rstrip(b"\r\n"))
